import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { GitFault } from "@retinue/core/git/exec-git";
import type { Target } from "@retinue/core/schema/rights";
import type { Roots } from "@retinue/core/tools/tool";

/** A path target of the project. */
export type PathTarget = Extract<Target, { kind: "path" }>;

/**
 * The target of a path as git knows it. Links are not followed, because git does not follow them either: what it shows of
 * a link is where it leads, and a path through one is not in the repository.
 */
export async function gitTarget(
  path: string,
  { projectDir }: Pick<Roots, "projectDir">,
): Promise<PathTarget> {
  if (path.includes("\0")) throw new TypeError("a path must not contain a NUL character");
  const root = await realpath(projectDir);
  const named = path.replace(/^project:/, "");
  const absolute = resolve(root, isAbsolute(named) ? rebased(named, projectDir, root) : named);
  const inside = relative(root, absolute);
  const isOutside = inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return isOutside
    ? { kind: "path", path: absolute, root: "outside", relative: absolute, mode: "read" }
    : { kind: "path", path: absolute, root: "project", relative: inside.replaceAll(sep, "/"), mode: "read" };
}

/** The target of a file that git named, relative to the project. */
export function fileTarget(file: string, projectDir: string): PathTarget {
  return { kind: "path", path: join(projectDir, file), root: "project", relative: file, mode: "read" };
}

/** The name git is given for a target: relative, and `.` for the project itself. */
export function gitName(target: PathTarget): string {
  if (target.root !== "project") throw new GitFault(`${target.path} is outside the project`);
  return target.relative || ".";
}

function rebased(path: string, projectDir: string, root: string): string {
  const inside = relative(projectDir, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : join(root, inside);
}

/** What one subcommand takes. */
export type CommandGrammar = {
  /** Options without a value, spelled exactly so; separated by blanks. */
  readonly flags?: string;
  /** Options with a value, and what the value looks like. */
  readonly values?: Readonly<Record<string, ValueKind>>;
  /** What is before `--`: revisions (or also `revision:path`), paths as after it, or a pattern and then revisions. */
  readonly words?: "revisions" | "objects" | "paths" | "pattern" | "none";
  /** Whether paths may follow `--`. */
  readonly paths?: boolean;
  readonly maxWords?: number;
};

/** Shapes of values. */
type ValueKind = "number" | "text" | "format" | "range" | "revision" | "word";

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
  grammar: CommandGrammar,
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
export function selectDiffOptions(options: readonly string[]): string[] {
  return options.filter((option) =>
    /^(?:-w|-b|--ignore-all-space|--ignore-space-change|-U\d+|--unified=\d+)$/.test(option),
  );
}

/** Whether an option asks for what was changed, as the lines around a change do. */
export function isPatch(option: string): boolean {
  return /^(?:-p|-u|--patch|-U\d+|--unified=\d+)$/.test(option);
}

/** The value of an option among parsed ones. */
export function findOptionValue(options: readonly string[], name: string): string | undefined {
  return options.findLast((option) => option.startsWith(`${name}=`))?.slice(name.length + 1);
}

type Taken = { ok: true; option: string } | { ok: false; why: string };

function listFlags({ flags = "" }: CommandGrammar): string[] {
  return flags.split(" ").filter(Boolean);
}

function takeOption(grammar: CommandGrammar, arg: string, rest: string[]): Taken {
  const { values = {} } = grammar;
  if (listFlags(grammar).includes(arg)) return { ok: true, option: arg };
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

function allowedOptions(grammar: CommandGrammar): string {
  const valued = Object.entries(grammar.values ?? {}).map(([name, kind]) => `${name} <${kind}>`);
  const names = [...listFlags(grammar), ...valued];
  return names.length > 0 ? `allowed: ${names.join(", ")}` : "it takes no options";
}

function tooMany(command: string): string {
  return `git ${command}: more than 500 paths`;
}
