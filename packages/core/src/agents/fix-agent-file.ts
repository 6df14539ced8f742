import { parseYaml } from "./yaml/parse-yaml.ts";
import { repairYaml } from "./yaml/repair-yaml.ts";
import { normaliseText, splitFrontmatter } from "./yaml/split-frontmatter.ts";

/** One changed field of a file. */
export type FixedField = { line: number; key: string; before: string; after: string };

/**
 * Rewrites what strict YAML refuses so that every program reads it, and nothing else: all other bytes, comments,
 * key order and line ends stay. A file that is fine, or beyond repair, comes back unchanged.
 */
export async function fixAgentFile(text: string): Promise<{ text: string; changes: FixedField[] }> {
  const unchanged = { text, changes: [] };
  const split = splitFrontmatter(normaliseText(text));
  if (split.kind !== "found") return unchanged;
  if ("fields" in (await parseYaml(split.yaml, split.yamlLine))) return unchanged;
  const rescued = await repairYaml(split.yaml, split.yamlLine);
  if ("faults" in rescued) return unchanged;
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const changes: FixedField[] = [];
  for (const repair of rescued.repairs.toReversed()) {
    const old = lines.slice(repair.line - 1, repair.endLine);
    const ends = old.map((line) => /[\r\n]*$/.exec(line)?.[0] ?? "");
    const end = ends.find((each) => each !== "") ?? "\n";
    const fresh = repair.lines.map((line, index) => `${line}${ends[index] || end}`);
    changes.unshift({
      line: repair.line,
      key: repair.key,
      before: trimmed(old.join("")),
      after: trimmed(fresh.join("")),
    });
    lines.splice(repair.line - 1, old.length, ...fresh);
  }
  const fixed = lines.join("");
  const again = splitFrontmatter(normaliseText(fixed));
  const holds = again.kind === "found" && "fields" in (await parseYaml(again.yaml, again.yamlLine));
  return holds ? { text: fixed, changes } : unchanged;
}

function trimmed(text: string): string {
  return normaliseText(text).trimEnd();
}
