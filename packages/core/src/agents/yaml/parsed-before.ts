import { readFileSync } from "node:fs";
import type { YamlFields } from "./yaml-fields.ts";

/** A frontmatter that begins at line 1, and what strict YAML makes of it. */
export type ParsedFrontmatter = {
  text: string;
  values: [key: string, value: unknown][];
  lines: [path: string, line: number][];
};

let known: ReadonlyMap<string, ParsedFrontmatter> | null = null;

/**
 * The fields of a frontmatter that the build has read already: those of the built-in agents, which every start would
 * otherwise load a parser for. Only the very same text is found.
 */
export function parsedBefore(text: string, firstLine: number): YamlFields | null {
  known ??= readKnown(new URL("./frontmatter.json", import.meta.url));
  const found = known.get(text);
  if (!found) return null;
  const lines = found.lines.map(([path, line]): [string, number] => [path, line + firstLine - 1]);
  return { values: new Map(structuredClone(found.values)), lines: new Map(lines), notes: [] };
}

function readKnown(file: URL): ReadonlyMap<string, ParsedFrontmatter> {
  try {
    const all = JSON.parse(readFileSync(file, "utf8")) as ParsedFrontmatter[];
    return new Map(all.map((one) => [one.text, one]));
  } catch {
    // Run from its source, the program has none.
    return new Map();
  }
}
