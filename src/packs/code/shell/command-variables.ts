import { readCommand } from "../../../permissions/patterns/split-command.ts";

const MAX_VARIANTS = 8;
const TEMPORARY =
  /\b([A-Za-z_]\w*)=(["']?)(?:\$\(mktemp(?:\s[^()$`|;&<>]*)?\)|`mktemp(?:\s[^()$`|;&<>]*)?`)\2/g;

/** The text with a path in the place of variables that hold a temporary file or folder: it is new, so that it may be deleted. */
export function withTemporaries(command: string): string {
  // A link may lead out of it.
  if (!command.includes("mktemp") || /\bln\b/.test(command)) return command;
  const made = [...command.matchAll(TEMPORARY)].map(([, name]) => name ?? "");
  return [...new Set(made)].reduce((text, name) => {
    const others = new RegExp(
      `\\b${name}\\+?=|\\b(?:for|read|mapfile|readarray|unset|printf -v)\\b[^;|&\\n]*\\b${name}\\b`,
      "g",
    );
    const isElse = (text.match(others) ?? []).length > made.filter((each) => each === name).length;
    return isElse
      ? text
      : text.replace(new RegExp(`\\$(?:${name}\\b|\\{${name}\\})`, "g"), `/tmp/mktemp.${name}`);
  }, command);
}

/** Variables that a command fills with the output of others. */
export function findUnknown(command: string): Set<string> {
  const filled = command.matchAll(/\b([A-Za-z_]\w*)\+?=["']?(?:[^\s"';|&]*)(?:\$\(|`)/g);
  const read = command.matchAll(/\b(?:read|mapfile|readarray|printf -v)\b([^;|&<\n]*)/g);
  return new Set([
    ...[...filled].map(([, name]) => name ?? ""),
    ...[...read].flatMap(([, words = ""]) => words.match(/\b[A-Za-z_]\w*\b/g) ?? []),
  ]);
}

/** The text, and the text with what its own variables hold put in their place. */
export function withVariables(command: string): string[] {
  const texts = [command];
  if (!command.includes("=") || !command.includes("$")) return texts;
  const values = new Map<string, string[]>();
  for (const { words, assignments } of readCommand(command).calls) {
    const declared = /^(?:export|declare|local|readonly|typeset)$/.test(words[0]?.value ?? "")
      ? words.slice(1)
      : [];
    for (const word of [...assignments, ...declared]) {
      const [, name, value] = /^(\w+)\+?=([\s\S]*)$/.exec(word.value) ?? [];
      if (name && value !== undefined && !word.dynamic)
        values.set(name, [...(values.get(name) ?? []), value]);
    }
  }
  for (let index = 0; index < texts.length && texts.length < MAX_VARIANTS; index++) {
    for (const text of filledIn(texts[index] ?? "", values)) if (!texts.includes(text)) texts.push(text);
  }
  return texts;
}

function filledIn(text: string, values: ReadonlyMap<string, readonly string[]>): string[] {
  const rounds = Math.min(MAX_VARIANTS, Math.max(0, ...[...values.values()].map((each) => each.length)));
  return Array.from({ length: rounds }, (_, round) =>
    text
      .replace(/\$(?:(\w+)|\{(\w+)\})/g, (raw, plain?: string, braced?: string) => {
        const choices = values.get(plain ?? braced ?? "");
        return choices?.[Math.min(round, choices.length - 1)] ?? raw;
      })
      .slice(0, 100_000),
  );
}
