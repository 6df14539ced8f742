import { basename, relative, sep } from "node:path";
import { compileSegments, expandBraces, matchesPathGlob } from "@retinue/core/rights/patterns/path-glob";
import { PROTECTED_DEFINITIONS } from "@retinue/core/rights/protected-layer";

/** The protected names as patterns, one for each alternative. */
export const PATTERNS = PROTECTED_DEFINITIONS.flatMap((pattern) => expandBraces(pattern) ?? [pattern]).map(
  (text) => {
    const last = text.slice(text.lastIndexOf("/") + 1);
    return {
      text,
      last,
      name: text.replace(/^\*\*\//, ""),
      glob: compileSegments(text.split("/")),
      matchesName: (name: string) =>
        last.endsWith("*") ? name.startsWith(last.slice(0, -1)) : name === last,
    };
  },
);
const LAST_NAMES = new Set(PATTERNS.map(({ last }) => last));
const BEGINNINGS = PATTERNS.filter(({ last }) => last.endsWith("*")).map(({ last }) => last.slice(0, -1));

/**
 * Names at the top of a project that are held while a command runs. Not those that an ordinary `*` would find, such as
 * opencode.json: a command that reads all JSON files must not trip over a folder.
 */
export const HELD_NAMES: readonly string[] = PATTERNS.map(({ name }) => name).filter(
  (name) => name.startsWith(".") && !name.includes("*"),
);

/** Whether a path below `root` is one of them. */
export function isProtected(path: string, root: string): boolean {
  const name = basename(path);
  if (!LAST_NAMES.has(name) && !BEGINNINGS.some((each) => name.startsWith(each))) return false;
  return PATTERNS.some(({ glob }) => matchesPathGlob(glob, relative(root, path).split(sep)));
}
