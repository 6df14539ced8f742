/** What one subcommand takes. */
export type Grammar = {
  /** Options without a value, spelled exactly so. */
  readonly flags?: readonly string[];
  /** Options with a value, and what the value looks like. */
  readonly values?: Readonly<Record<string, ValueKind>>;
  /** What stands before `--`: revisions (or also `revision:path`), paths, or a pattern and then revisions. */
  readonly words?: "revisions" | "objects" | "paths" | "pattern" | "none";
  /** Whether paths may follow `--`. */
  readonly paths?: boolean;
  readonly maxWords?: number;
};

/** Shapes of values. */
export type ValueKind = "number" | "text" | "format" | "range" | "revision" | "word";

/** The arguments of a call, each known for what it is. */
export type Arguments = {
  readonly options: readonly string[];
  readonly words: readonly string[];
  readonly paths: readonly string[];
};

const SHAPES: Readonly<Record<ValueKind, RegExp>> = {
  number: /^\d{1,9}$/,
  text: /^[^\p{Cc}]{1,500}$/u,
  // Signatures would be checked by a program; a NUL separates commits.
  format: /^(?:oneline|short|medium|full|fuller|reference|raw|(?!.*%(?:G|x00))[^\p{Cc}]*%[^\p{Cc}]*)$/u,
  range: /^(?:\d{1,9})?(?:,[+-]?\d{1,9})?$/,
  revision: /^(?!-)[\p{L}\p{N}_./@^~{}+ ,=#!-]{1,300}$/u,
  word: /^-?[A-Za-z][A-Za-z:_-]{0,60}$/,
};

/** Whether a text can be a revision: never an option, and never `revision:path`, whose path nobody would judge. */
export function isRevision(text: string): boolean {
  return SHAPES.revision.test(text);
}

/** The two sides of `revision:path`; no path if there is no colon. */
export function splitObject(word: string): { revision: string; path?: string } {
  const colon = word.indexOf(":");
  return colon < 0 ? { revision: word } : { revision: word.slice(0, colon), path: word.slice(colon + 1) };
}

/** Sorts arguments by an allow list; the text says what is wrong and names what is allowed. */
export function parseArguments(
  command: string,
  grammar: Grammar,
  args: readonly string[],
): Arguments | string {
  const end = args.indexOf("--");
  const before = end < 0 ? [...args] : args.slice(0, end);
  const paths = end < 0 ? [] : args.slice(end + 1);
  const options: string[] = [];
  const words: string[] = [];
  while (before.length > 0) {
    const arg = before.shift() ?? "";
    if (!arg.startsWith("-") || arg === "-") words.push(arg);
    else {
      const taken = takeOption(grammar, arg, before);
      if (!taken.ok) return `git ${command}: ${taken.why}; ${allowedOptions(grammar)}`;
      options.push(taken.option);
    }
  }
  const { words: kind = "none", maxWords = 50 } = grammar;
  if (kind === "paths")
    return paths.length + words.length > 500
      ? tooMany(command)
      : { options, words: [], paths: [...words, ...paths] };
  if (words.length > (kind === "none" ? 0 : maxWords))
    return `git ${command}: '${words.at(-1)}' is one argument too many${grammar.paths ? "; paths come after --" : ""}`;
  const revisions = kind === "pattern" ? words.slice(1) : words;
  const odd = revisions.find((word) => !isRevision(kind === "objects" ? splitObject(word).revision : word));
  if (odd !== undefined)
    return `git ${command}: '${odd}' is not a revision${grammar.paths ? "; paths come after --" : ""}`;
  if (paths.length > 0 && !grammar.paths) return `git ${command}: takes no paths`;
  return paths.length > 500 ? tooMany(command) : { options, words, paths };
}

/** Those of the options that say how a diff looks. */
export function diffOptions(options: readonly string[]): string[] {
  return options.filter((option) =>
    /^(?:-w|-b|--ignore-all-space|--ignore-space-change|-U\d+|--unified=\d+)$/.test(option),
  );
}

/** Whether an option asks for what was changed, as the lines around a change do. */
export function isPatch(option: string): boolean {
  return /^(?:-p|-u|--patch|-U\d+|--unified=\d+)$/.test(option);
}

/** The value of an option among parsed ones. */
export function optionValue(options: readonly string[], name: string): string | undefined {
  return options.findLast((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
}

type Taken = { ok: true; option: string } | { ok: false; why: string };

function takeOption({ flags = [], values = {} }: Grammar, arg: string, rest: string[]): Taken {
  if (flags.includes(arg)) return { ok: true, option: arg };
  const count = /^-(\d{1,9})$/.exec(arg)?.[1];
  if (count !== undefined && "--max-count" in values) return { ok: true, option: `--max-count=${count}` };
  const [, name = arg, glued] = /^(--[^=]+)=(.*)$/s.exec(arg) ?? /^(-[A-Za-z])(.+)$/s.exec(arg) ?? [];
  const kind = Object.hasOwn(values, name) ? values[name] : undefined;
  if (!kind) return { ok: false, why: `the option '${name}' is not allowed` };
  const value = glued ?? rest.shift();
  if (value === undefined || !SHAPES[kind].test(value))
    return { ok: false, why: `'${name}' needs a ${kind}` };
  return { ok: true, option: name.startsWith("--") ? `${name}=${value}` : `${name}${value}` };
}

function allowedOptions({ flags = [], values = {} }: Grammar): string {
  const names = [...flags, ...Object.entries(values).map(([name, kind]) => `${name} <${kind}>`)];
  return names.length > 0 ? `allowed: ${names.join(", ")}` : "it takes no options";
}

function tooMany(command: string): string {
  return `git ${command}: more than 500 paths`;
}
