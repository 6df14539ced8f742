import { compileWildcard, matchesWildcard, type Wildcard } from "../../text/wildcard.ts";
import type { CommandPart } from "./command-part.ts";
import type { CommandReading } from "./split-command.ts";

/** A pattern on commands: `npm test *` and `npm test:*` also cover `npm test` alone; otherwise `*` is any text. */
export type CommandPattern = {
  readonly choices: readonly Wildcard[];
  /** How many redirections to files it spells out. */
  readonly writes: number;
  /** Its words before the first `*`. */
  readonly prefix: string;
};

/** Compiles a command pattern; runs of blanks count as one. */
export function compileCommandPattern(pattern: string): CommandPattern {
  const text = pattern.replace(/[ \t\n]+/g, " ").trim();
  const stem = /^(.*[^ ])(?: \*|:\*)$/.exec(text)?.[1];
  const choices = stem === undefined ? [text] : [stem, `${stem} *`];
  const prefix = (stem ?? text).split("*")[0] ?? "";
  return {
    choices: choices.map(compileWildcard),
    writes: text.match(/>+/g)?.length ?? 0,
    prefix: prefix.trim(),
  };
}

/** Whether an allow rule covers one part. One that writes files by redirection has to be spelled out with its `>`. */
export function allowsPart(pattern: CommandPattern, part: CommandPart): boolean {
  return part.writes <= pattern.writes && matchesAny(pattern.choices, part.text);
}

/** Whether an ask or deny rule touches some part, or the words it names turn up in a text that is not understood. */
export function touchesCommand(
  pattern: CommandPattern,
  reading: Pick<CommandReading, "parts" | "opaque">,
  command: string,
): boolean {
  for (const part of reading.parts) {
    if (matchesAny(pattern.choices, part.plain) || matchesAny(pattern.choices, part.text)) return true;
  }
  return reading.opaque && mentions(pattern, command);
}

function mentions({ prefix }: CommandPattern, command: string): boolean {
  const folded = command.replace(/\\\n/g, "").replace(/\s+/g, " ");
  return folded.includes(prefix) || folded.replace(/['"\\]/g, "").includes(prefix);
}

function matchesAny(choices: readonly Wildcard[], text: string): boolean {
  for (const choice of choices) if (matchesWildcard(choice, text)) return true;
  return false;
}
