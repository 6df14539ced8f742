import { pickDiverse } from "../../../text/rank-texts.ts";
import { likeness } from "../../../text/term-vectors.ts";
import type { Passage, Theme } from "../report/report.ts";
import { type Cluster, closeness } from "./find-themes.ts";
import { passageOf, type Ranked } from "./rank-sentences.ts";

const MOST_SENTENCES = 9;
const LEAST_SENTENCES = 2;
const LEAST_VOICES = 2;
const PER_SOURCE = 3;
const PER_PARAGRAPH = 3;
/** How much a sentence of another source is preferred to go on with. */
const OTHER_VOICE = 0.15;

/** A theme's best sentences, put so that each goes on from the one before it; null if too few are left, or all of one source. */
export function weaveTheme(ranked: Ranked, cluster: Cluster, used: Set<number>): Theme | null {
  const free = cluster.members.filter((at) => !used.has(at));
  const perSource = new Map<number, number>();
  const picked = pickDiverse(
    free.map((at) => ranked.vectors[at] ?? new Map()),
    free.map((at) => (ranked.weights[at] ?? 0) * (0.3 + closeness(cluster, ranked.vectors[at]))),
    {
      count: MOST_SENTENCES,
      novelty: 0.6,
      allowed: (index) => {
        const { sources: [source = 0] = [], dangling = true } = ranked.sentences[free[index] ?? -1] ?? {};
        const taken = perSource.get(source) ?? 0;
        if (dangling || taken >= PER_SOURCE) return false;
        perSource.set(source, taken + 1);
        return true;
      },
    },
  ).flatMap((index) => free[index] ?? []);
  const voices = new Set(picked.flatMap((at) => ranked.sentences[at]?.sources ?? [])).size;
  const all = new Set(ranked.sentences.flatMap(({ sources }) => sources)).size;
  if (picked.length < LEAST_SENTENCES || voices < Math.min(LEAST_VOICES, all)) return null;
  for (const at of picked) used.add(at);
  return { heading: cluster.heading, paragraphs: paragraphsOf(chained(picked, ranked), ranked) };
}

/** Begins with the best and goes on with what is closest to the last, sooner from another source. */
function chained(picked: readonly number[], { sentences, vectors }: Ranked): number[] {
  const [first, ...others] = picked;
  if (first === undefined) return [];
  const chain = [first];
  const left = new Set(others);
  while (left.size > 0) {
    const last = chain.at(-1) ?? first;
    const worth = (at: number) =>
      likeness(vectors[last] ?? new Map(), vectors[at] ?? new Map()) +
      (sentences[at]?.sources[0] === sentences[last]?.sources[0] ? 0 : OTHER_VOICE);
    const next = [...left].reduce((a, b) => (worth(b) > worth(a) ? b : a));
    chain.push(next);
    left.delete(next);
  }
  return chain;
}

/** Paragraphs of about equal length. */
function paragraphsOf(chain: readonly number[], ranked: Ranked): Passage[][] {
  const count = Math.ceil(chain.length / PER_PARAGRAPH);
  const size = Math.ceil(chain.length / count);
  return Array.from({ length: count }, (_, at) =>
    chain.slice(at * size, (at + 1) * size).map((index) => passageOf(ranked, index)),
  ).filter((paragraph) => paragraph.length > 0);
}
