import type { Word } from "../../../permissions/patterns/shell-word.ts";

/**
 * Globs below the starting points that hold all that an expression of find can act on; null for everything. Every alternative
 * that acts must have a name; what else it says only leaves some out.
 */
export function findGlobs(words: readonly Word[]): string[] | null {
  const values = words.map(({ value }) => value);
  if (values.some((value, at) => /^(?:!|-not)$/.test(value) && values[at + 1] === "(")) return null;
  const isFlat = !values.includes("(");
  const globs: string[] = [];
  let from = 0;
  for (let to = 0; to <= values.length; to++) {
    if (to < values.length && !/^(?:-o|-or|,)$/.test(values[to] ?? "")) continue;
    const acts = values.slice(from, to).some((value) => /^-(?:delete|exec|ok)/.test(value));
    const glob = findGlob(words.slice(from, to));
    if (acts || !isFlat) {
      if (glob === null) return null;
      globs.push(glob);
    }
    from = to + 1;
  }
  return globs;
}

/** The glob of one alternative, by its first name or path. */
function findGlob(words: readonly Word[]): string | null {
  for (const [index, { value }] of words.entries()) {
    const given = words[index + 1];
    if (!given || given.dynamic || /^(?:!|-not)$/.test(words[index - 1]?.value ?? "")) continue;
    if (value === "-name") return `**/${given.value}`;
    if (value === "-iname") return `**/${ignoreCase(given.value)}`;
    // A star in a path goes through folders, so only one that stands for whole folders is as simple here.
    if (value === "-path" && /^(?:\*\/)[^*?[\\]+(?:\/\*)?$/.test(given.value))
      return given.value.replace(/^\*/, "**").replace(/\*$/, "**");
  }
  return null;
}

function ignoreCase(glob: string): string {
  if (/[[\\]/.test(glob)) return "*";
  return glob.replace(/[A-Za-z]/g, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}
