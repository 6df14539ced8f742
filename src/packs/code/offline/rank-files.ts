import { termsOf } from "../../../text/terms.ts";
import type { Concept } from "./search-terms.ts";

/** Lines that hit, by file, for one concept. */
export type Hits = {
  concept: Concept;
  counts: ReadonlyMap<string, number>;
  /** There are more than these. */
  cut?: boolean;
};

/** A file and how well it fits the question. */
export type Ranked = { path: string; score: number };

const LOW_PLACES =
  /(?:^|\/)(?:tests?|__tests__|spec|fixtures?|examples?|bench|docs?|vendor|dist|build|generated|mocks?)\/|\.(?:test|spec)\.\w+$/i;
const LOWEST_FILES =
  /(?:^|\/)(?:[\w.-]*-lock[\w.-]*|CHANGELOG[\w.]*|LICEN[CS]E[\w.]*|NOTICE)$|\.(?:lock|snap|min\.js|map|svg|csv|jsonl)$/i;
const PROSE = /\.(?:md|rst|txt|adoc|json|ya?ml|toml)$/i;

/** Reads `path:count` lines. */
export function countsIn(result: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [, path = "", count] of result.matchAll(/^(.+):(\d+)$/gm)) counts.set(path, Number(count));
  return counts;
}

/**
 * Files by how many different concepts they hit, rarer ones counting more; a concept in a file's own path counts like
 * many hits. Sources come before tests and documents, those before generated files.
 */
export function rankFiles(hits: readonly Hits[]): Ranked[] {
  const paths = new Set(hits.flatMap(({ counts }) => [...counts.keys()]));
  const ranked = [...paths].map((path) => {
    let score = 0;
    let met = 0;
    for (const { concept, counts } of hits) {
      const rarity = Math.log(1 + paths.size / Math.max(1, counts.size));
      const lines = counts.get(path) ?? 0;
      score += concept.weight * (0.4 + rarity) * (lines > 0 ? 1 + Math.log2(lines) / 4 : 0);
      const inPath = isInPath(concept, path);
      score += concept.weight * 2 * (inPath ? 1 : 0);
      if (lines > 0 || inPath) met++;
    }
    return { path, score: score * standing(path) * (0.4 + (0.6 * met) / hits.length) };
  });
  return ranked.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** How far a file is from being a source: 1 for sources, less for the rest. */
export function standing(path: string): number {
  if (LOWEST_FILES.test(path)) return 0.1;
  if (LOW_PLACES.test(path)) return 0.25;
  return PROSE.test(path) ? 0.5 : 1;
}

/** Whether a concept, or another word for it, is in the names of the path. */
export function isInPath({ pattern }: Concept, path: string): boolean {
  return new RegExp(`(?:^|[/_.-])(?:${pattern})`, "i").test(path.replace(/([a-z])([A-Z])/g, "$1-$2"));
}

/** The folder that a concept's own word names and that holds most of the ranked files, if there is one. */
export function namedFolder(concepts: readonly Concept[], ranked: readonly Ranked[]): string | undefined {
  const scores = new Map<string, number>();
  for (const { path, score } of ranked) {
    const folders = path.split("/").slice(0, -1);
    const at = folders.findIndex((folder) =>
      concepts.some(({ name }) => termsOf(folder).includes(termsOf(name)[0] ?? "")),
    );
    if (at < 0 || standing(path) < 1) continue;
    const folder = folders.slice(0, at + 1).join("/");
    scores.set(folder, (scores.get(folder) ?? 0) + score);
  }
  return [...scores].sort((a, b) => b[1] - a[1])[0]?.[0];
}
