import type { Word } from "./shell-word.ts";

/** A redirection as written: `2`, `>`, `file`; a here-document gets its body when the reader has come to it. */
export type Redirection = {
  readonly descriptor: string;
  readonly mark: string;
  readonly target: Word;
  body?: string;
};

/** One simple command as it was read. */
export type SimpleCommand = {
  readonly words: readonly Word[];
  /** It stands behind `||`. */
  readonly isFallback: boolean;
  readonly redirections: readonly Redirection[];
};

/** Commands that share a working folder: a `cd` in a subshell, a substitution or another shell's script ends with it. */
export type CommandList = { readonly above: CommandList | null };

/** The calls of a reading, from one index up to another, whose output comes in; and what comes in to all of them. */
export type Feed = { readonly from: number; readonly to: number; readonly outer: Feed | null };

/** One program that would run, with the variables that are set in front of it. */
export type ProgramCall = {
  /** Where it stands. */
  readonly list: CommandList;
  readonly words: readonly Word[];
  readonly assignments: readonly Word[];
  readonly redirections: readonly Redirection[];
  /** It runs only if what stands before it fails. */
  readonly isFallback: boolean;
  /** What is piped into it; null if nothing is. */
  readonly feed: Feed | null;
  /** The index of the first call that stands in its own words, as in `sh <(…)`; its own one if there is none. */
  readonly first: number;
};

/** One command that would run, as rules see it. */
export type CommandPart = {
  /** Its words without quotes (a word with blanks in it keeps them) and its redirections. */
  readonly text: string;
  /** Without redirections, the program by its bare name in lower case: how asks and denies see it as well. */
  readonly plain: string;
  /** How many files its redirections write; endless if one climbs out of its folder or is known only at run time. */
  readonly writes: number;
};

const CONTROL_WORDS = new Set([
  "if",
  "then",
  "else",
  "elif",
  "fi",
  "do",
  "done",
  "while",
  "until",
  "!",
  "{",
  "}",
  "esac",
]);
const NOT_FOLLOWED = new Set(["case", "function", "coproc", "select"]);
/** Variables that change how a program writes, never which program or code runs. */
const HARMLESS = /^(CI|NODE_ENV|TZ|LANG|LC_[A-Z]+|NO_COLOR|FORCE_COLOR|CLICOLOR|TERM|COLUMNS|LINES)=/;
const ASSIGNMENT = /^[A-Za-z_]\w*(\[[^\]]*\])?\+?=/;

/**
 * The parts of one simple command, and the program it runs. An assignment in front can change
 * what runs (PATH, LD_PRELOAD), so the command with it is a part of its own, beside the one without.
 */
export function toParts(simple: SimpleCommand): {
  parts: CommandPart[];
  call: Omit<ProgramCall, "list" | "feed" | "first">;
  opaque: boolean;
} {
  let words = simple.words;
  while (words[0] && CONTROL_WORDS.has(words[0].raw)) words = words.slice(1);
  const opaque = words[0] !== undefined && NOT_FOLLOWED.has(words[0].raw);
  if (words[0]?.raw === "for") words = [];
  const count = countAssignments(words);
  const settings = words.slice(0, count);
  const assignments = settings.filter((word) => word.dynamic || !HARMLESS.test(word.raw));
  const program = words.slice(count);
  const parts: CommandPart[] = [];
  if (assignments.length > 0) parts.push(toPart([...assignments, ...program], simple.redirections));
  const files = simple.redirections.filter((redirection) => !isHarmless(redirection));
  if (program.length > 0 || (files.length > 0 && assignments.length === 0))
    parts.push(toPart(program, files));
  return {
    parts,
    call: {
      words: program,
      assignments: settings,
      redirections: simple.redirections,
      isFallback: simple.isFallback,
    },
    opaque: opaque || (program[0] !== undefined && isUnclear(program[0])),
  };
}

function countAssignments(words: readonly Word[]): number {
  const index = words.findIndex((word) => !ASSIGNMENT.test(word.raw));
  return index < 0 ? words.length : index;
}

function toPart(words: readonly Word[], redirections: readonly Redirection[]): CommandPart {
  const kept = redirections.filter((redirection) => !isHarmless(redirection));
  const text = [
    ...words.map(show),
    ...kept.map((each) => `${each.descriptor}${each.mark} ${show(each.target)}`),
  ];
  return {
    text: text.join(" "),
    plain: plainText(words),
    writes: kept.reduce((sum, each) => sum + writesOf(each), 0),
  };
}

function show(word: Word): string {
  return word.value === "" || /\s/.test(word.value) ? `"${word.value}"` : word.value;
}

function plainText(words: readonly Word[]): string {
  const program = words[0]?.value ?? "";
  const name = program.slice(program.lastIndexOf("/") + 1).toLowerCase();
  return [name, ...words.slice(1).map((word) => word.value)].join(" ").replace(/\s+/g, " ").trim();
}

/** Which program runs cannot be told from the text. */
function isUnclear(word: Word): boolean {
  if (word.dynamic || word.value === "" || /\s/.test(word.value)) return true;
  return word.odd && word.raw !== "[" && word.raw !== "[[";
}

function isHarmless({ mark, target }: Redirection): boolean {
  if (mark === ">&" || mark === "<&") return /^(\d+|-|\d+-)$/.test(target.raw);
  return target.raw === "/dev/null";
}

function writesOf({ mark, target }: Redirection): number {
  if (!mark.includes(">")) return 0;
  const unknown = target.dynamic || target.odd || target.value.startsWith("~");
  return unknown || target.value.split("/").includes("..") ? Number.POSITIVE_INFINITY : 1;
}
