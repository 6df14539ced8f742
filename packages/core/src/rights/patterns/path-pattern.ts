import type { Target } from "../../schema/rights.ts";
import {
  ANY_DEPTH,
  compileSegments,
  expandBraces,
  isLiteralSegment,
  matchesPathGlob,
  type PathGlob,
} from "./path-glob.ts";

const ROOTS = ["project", "workspace"] as const;

type PathTarget = Extract<Target, { kind: "path" }>;

/**
 * A pattern on paths, in two readings. Strict is for allowing: exact case, and wildcards reach only what they
 * name. Loose is for asking and denying: spellings that some file system takes for the same file count too.
 */
export type PathPattern = {
  /** The root it is limited to; absent for both. */
  readonly root?: "project" | "workspace";
  readonly absolute: boolean;
  readonly strict: readonly PathGlob[];
  readonly loose: readonly PathGlob[];
};

/** A path target with its two spellings worked out at most once. */
export type PathSubject = {
  readonly kind: "path";
  readonly target: PathTarget;
  exact?: Spelling;
  folded?: Spelling;
};
type Spelling = { readonly relative: readonly string[]; readonly absolute: readonly string[] };

/** Compiles a pattern: relative to a root, or absolute if it begins with `/` or `~/`. */
export function compilePathPattern(pattern: string): PathPattern {
  const root = ROOTS.find((each) => pattern.startsWith(`${each}:`));
  const body = root ? pattern.slice(root.length + 1).replace(/^\/+/, "") : pattern;
  const unresolvedHome = body === "~" || body.startsWith("~/");
  const absolute = body.startsWith("/") || unresolvedHome;
  const choices = expandBraces(unresolvedHome ? `**${body.slice(1)}` : body);
  const base = { ...(root && { root }), absolute };
  if (!choices) return { ...base, strict: [], loose: [[ANY_DEPTH]] };
  const strict = unresolvedHome ? [] : choices.flatMap(compileStrict);
  return { ...base, strict, loose: choices.map(compileLoose) };
}

/** Whether an allow rule with this pattern covers the target; a relative pattern never reaches outside the roots. */
export function allowsPath(pattern: PathPattern, subject: PathSubject): boolean {
  const { target } = subject;
  if (pattern.root && pattern.root !== target.root) return false;
  if (!pattern.absolute && target.root === "outside") return false;
  subject.exact ??= spell(target, exactSegments);
  const path = pattern.absolute ? subject.exact.absolute : subject.exact.relative;
  return !path.includes("..") && pattern.strict.some((glob) => matchesPathGlob(glob, path));
}

/** Whether an ask or deny rule with this pattern touches the target, however its name is spelled. */
export function touchesPath(pattern: PathPattern, subject: PathSubject): boolean {
  const { target } = subject;
  if (pattern.root && pattern.root !== target.root) return false;
  subject.folded ??= spell(target, foldedSegments);
  const path = pattern.absolute ? subject.folded.absolute : subject.folded.relative;
  return pattern.loose.some((glob) => matchesPathGlob(glob, path));
}

function spell(target: PathTarget, segments: (path: string) => string[]): Spelling {
  const absolute = segments(target.path);
  return { absolute, relative: target.root === "outside" ? absolute : segments(target.relative) };
}

/** A pattern that names a folder covers what is below it; one that ends in a wildcard names exactly what it matches. */
function compileStrict(pattern: string): PathGlob[] {
  const segments = withoutDots(exactSegments(pattern));
  if (segments.includes("..")) return [];
  const last = segments.at(-1) ?? "**";
  const everything = segments.length === 1 && last === "*";
  const covers = everything || pattern.endsWith("/") || isLiteralSegment(last);
  return [compileSegments(covers ? [...segments, "**"] : segments)];
}

/** A climb above the root cannot be placed, so it is read as any folder. */
function compileLoose(pattern: string): PathGlob {
  const segments = withoutDots(foldedSegments(pattern)).map((segment) => (segment === ".." ? "**" : segment));
  return compileSegments([...segments, "**"]);
}

function withoutDots(segments: readonly string[]): string[] {
  const kept: string[] = [];
  for (const segment of segments) {
    const previous = kept.at(-1);
    if (segment === ".." && previous !== undefined && previous !== ".." && previous !== "**") kept.pop();
    else kept.push(segment);
  }
  return kept;
}

function exactSegments(path: string): string[] {
  return split(path.normalize("NFC"));
}

/** The comparison form of asks and denies: case, composition, invisible characters and trailing dots and spaces do not count. */
function foldedSegments(path: string): string[] {
  return split(fold(path)).map((segment) => {
    const trimmed = segment.replace(/(?<![. ])[. ]+$/, "");
    return trimmed === "" ? segment : trimmed;
  });
}

function fold(path: string): string {
  if (/^[ -~]*$/.test(path)) return path.toLowerCase();
  return path
    .normalize("NFC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toUpperCase()
    .toLowerCase()
    .normalize("NFC");
}

function split(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "" && segment !== ".");
}
