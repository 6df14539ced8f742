import { hasHiddenCharacter } from "../../schema/hidden-character.ts";
import { isBalanced } from "./resolve-rule.ts";

/** What a tool's patterns are about here; `base` and `words` are tools for which opencode has no patterns of their own. */
export type PatternKind = "path" | "command" | "url" | "agent" | "base" | "words" | "whole" | "custom";

/**
 * An opencode pattern in our grammar. `exact` matches what it matches and nothing more, for rules that give a right;
 * `atLeast` matches all of it and perhaps more, for rules that restrict. Absent where our grammar cannot say it.
 */
export type Translation = { exact?: string[]; atLeast?: string[] };

/** Which permission of opencode's covers a tool of ours, and what its patterns are about. */
const COVERED_BY: Readonly<Record<string, readonly (readonly [tool: string, kind: PatternKind])[]>> = {
  read: [
    ["read", "path"],
    ["overview", "base"],
    ["docs_coverage", "base"],
    ["plan_files", "base"],
  ],
  edit: [
    ["write", "path"],
    ["edit", "path"],
    ["write_local_file", "base"],
    ["save_corpus", "base"],
    ["workbench_download", "base"],
  ],
  bash: [
    ["shell", "command"],
    ["test", "words"],
    ["git", "words"],
    ["git_diff", "words"],
    ["git_commit", "words"],
  ],
  grep: [
    ["grep", "whole"],
    ["code_search", "base"],
  ],
  glob: [["glob", "whole"]],
  list: [["ls", "whole"]],
  webfetch: [
    ["web_fetch", "url"],
    ["crawl_parallel", "url"],
  ],
  websearch: [["web_search", "whole"]],
  todowrite: [["todo", "whole"]],
  todoread: [["todo", "whole"]],
  task: [["delegate", "agent"]],
};

const KINDS = new Map(Object.values(COVERED_BY).flat());

/** Our tools that do what a tool of opencode's does. */
export const COVERED_TOOLS: ReadonlySet<string> = new Set(KINDS.keys());

const NAMES = Map.groupBy(
  Object.entries(COVERED_BY).flatMap(([name, tools]) => tools.map(([tool]) => ({ tool, name }))),
  ({ tool }) => tool,
);

/** The permissions that opencode would look at for a tool of ours; a tool it does not have goes by its own name. */
export function listPermissionNames(tool: string): readonly string[] {
  return NAMES.get(tool)?.map(({ name }) => name) ?? [tool];
}

/** What patterns on a tool are about. */
export function findPatternKind(tool: string): PatternKind {
  return KINDS.get(tool) ?? "custom";
}

/** Whether an opencode pattern matches a text: `*` is any text, `?` one character, and ` *` at the end may be missing. */
export function matchesOpencode(pattern: string, text: string): boolean {
  const wanted = pattern.replaceAll("\\", "/");
  const given = text.replaceAll("\\", "/");
  if (wanted.endsWith(" *") && matchesWhole(wanted.slice(0, -2), given)) return true;
  return matchesWhole(wanted, given);
}

/** Only the latest star is ever retried, so no pattern takes long. */
function matchesWhole(pattern: string, text: string): boolean {
  let [at, from, retryAt, retryFrom] = [0, 0, -1, 0];
  while (from < text.length) {
    const char = pattern[at];
    if (char === "*") [retryAt, retryFrom] = [at++, from];
    else if (char === "?" || char === text[from]) [at, from] = [at + 1, from + 1];
    else if (retryAt >= 0) [at, from] = [retryAt + 1, ++retryFrom];
    else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/** Whether an opencode pattern matches everything. */
export function isUniversal(pattern: string): boolean {
  return /^\*+$/.test(pattern) || /^\*+ \*$/.test(pattern);
}

/** Whether everything that `inner` matches is surely matched by `outer`. */
export function coversPattern(outer: string, inner: string): boolean {
  if (isUniversal(outer) || outer === inner) return true;
  if (outer.includes("?")) return false;
  const optional = inner.endsWith(" *") ? matchesOpencode(outer, inner.slice(0, -2)) : true;
  return optional && matchesOpencode(outer, inner);
}

/** Whether two patterns may match one text: unless what is before their first wildcards differs. */
export function mayOverlap(one: string, other: string): boolean {
  const [a, b] = [literalStart(one), literalStart(other)];
  return a.startsWith(b) || b.startsWith(a);
}

function literalStart(pattern: string): string {
  return (pattern.replace(/ \*$/, "").split(/[*?]/)[0] ?? "").replaceAll("\\", "/");
}

/** Puts one pattern of opencode's into our grammar; `kind` says what it is about. */
export function translatePattern(kind: "path" | "command" | "url" | "agent", pattern: string): Translation {
  switch (kind) {
    case "path":
      return writable(translatePath(pattern));
    case "command":
      return writable(translateCommand(pattern));
    case "url":
      return writable(translateUrl(pattern));
    case "agent":
      return writable({
        ...(pattern.includes("?") ? {} : { exact: [pattern] }),
        atLeast: [pattern.replaceAll("?", "*")],
      });
  }
}

const MAX_PATTERN = 800;

/** Only what can be between the brackets of a rule, and comes back from there as it went in. */
function writable({ exact, atLeast }: Translation): Translation {
  const fits = (texts: readonly string[] | undefined): boolean =>
    texts?.every(
      (text) =>
        text !== "" &&
        text === text.trim() &&
        text.length <= MAX_PATTERN &&
        !hasHiddenCharacter(text) &&
        isBalanced(text),
    ) === true;
  return {
    ...(exact !== undefined && fits(exact) ? { exact } : {}),
    ...(atLeast !== undefined && fits(atLeast) ? { atLeast } : {}),
  };
}

/** Paths are relative to the project there, and `*` also matches `/`. */
function translatePath(written: string): Translation {
  const pattern = written.replaceAll("\\", "/");
  const loose = pattern
    .replace(/^(?:\.\/)+/, "")
    .replace(/^\$HOME(?=\/|$)/, "~")
    .replaceAll("?", "*");
  const escaped = /^(?:project|workspace):/.test(loose) ? `\\${loose}` : loose;
  const atLeast = spellGlobs(escaped) ?? [`${literalStart(escaped).match(/^.*\//)?.[0] ?? ""}**`];
  const placed = /^(?:[/~]|\$HOME|\.\.?\/|project:|workspace:)|\/\/|\/\.{0,2}(?:\/|$)|^\.{1,2}$/.test(
    pattern,
  );
  const exact = placed || pattern !== pattern.normalize("NFC") ? undefined : spellGlobs(pattern);
  const ended = exact?.map(endExactly);
  return { atLeast, ...(ended?.every((glob) => glob !== undefined) ? { exact: ended } : {}) };
}

const MAX_GLOBS = 16;

/** Our globs for a pattern whose `*` crosses folders; undefined if that takes too many. */
function spellGlobs(pattern: string): string[] | undefined {
  const [first = "", ...pieces] = pattern.split(/\*+/).map(escapeOthers);
  let globs = [first];
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1 && piece === "";
    globs = globs.flatMap((glob) => {
      const atStart = glob === "" || glob.endsWith("/");
      if (atStart) return [`${glob}**/*${piece}`];
      return isLast ? [`${glob}*/**`] : [`${glob}*${piece}`, `${glob}*/**/*${piece}`];
    });
    if (globs.length > MAX_GLOBS) return undefined;
  }
  return globs;
}

/** Brackets and braces are ordinary characters in opencode's patterns. */
function escapeOthers(text: string): string {
  return text.replace(/[[\]{}]/g, "\\$&");
}

/** A glob that names one file covers all below it here, so a letter of its last part is put in brackets. */
function endExactly(glob: string): string | undefined {
  const last = glob.slice(glob.lastIndexOf("/") + 1);
  if (/(?<!\\)[*?[]/.test(last)) return glob;
  const at = last.search(/[A-Za-z0-9_.]/);
  if (at === -1) return undefined;
  const start = glob.length - last.length + at;
  return `${glob.slice(0, start)}[${glob[start]}]${glob.slice(start + 1)}`;
}

/** `name:*` means something else here, and so do `?`, `\` and blanks in a row. */
function translateCommand(pattern: string): Translation {
  const other = /[?\\>]|:\*$|^\s|\s$|\s\s|[^\S ]/.test(pattern);
  const atLeast = pattern.replace(/[?\\]/g, "*").replace(/:\*+$/, "*");
  return { ...(other ? {} : { exact: [pattern] }), atLeast: [atLeast.trim()] };
}

/** Our rules know hosts only: a deny of one page becomes one of its host, and no page can be allowed alone. */
function translateUrl(pattern: string): Translation {
  const host = /^(?:https?|\*|http\*):\/\/([A-Za-z0-9.-]+)(?::\d+)?\//.exec(pattern)?.[1];
  return host === undefined || pattern.startsWith("*") ? {} : { atLeast: [host] };
}
