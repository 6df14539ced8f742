import { pickDiverse } from "../../../text/rank-texts.ts";
import type { KeyFigure } from "../report/report.ts";
import { type Figure, findFigures } from "./find-figures.ts";
import type { Ranked } from "./rank-sentences.ts";

const MOST_FIGURES = 9;
const PER_SOURCE = 2;
/** What stands before the number that a sentence is about. */
const STATED =
  /\b(?:was|were|is|are|took|takes|cost|costs|at|reached|fell|rose|grew|averaged?|averages|by|affected|found|carried|lost|saw|up)\s(?:(?:about|roughly|nearly|only|some|around|almost|over|under|up to|more than|less than)\s)?$/i;

/** Figures of the sentences that weigh most, at most two of a source and none twice. */
export function keyFigures(
  { sentences, vectors, weights }: Ranked,
  spoken: ReadonlySet<number>,
): KeyFigure[] {
  const holders = [...sentences.entries()].flatMap(([at, { text, dangling }]) => {
    const best = dangling || spoken.has(at) ? undefined : bestFigure(text);
    return best ? [{ at, ...best }] : [];
  });
  const perSource = new Map<number, number>();
  const picked = pickDiverse(
    holders.map(({ at }) => vectors[at] ?? new Map()),
    holders.map(({ at, worth }) => (weights[at] ?? 0) * worth),
    {
      count: MOST_FIGURES,
      novelty: 0.6,
      allowed: (index) => {
        const source = sentences[holders[index]?.at ?? -1]?.sources[0] ?? 0;
        const taken = perSource.get(source) ?? 0;
        perSource.set(source, taken + 1);
        return taken < PER_SOURCE;
      },
    },
  );
  return picked.flatMap((index): KeyFigure[] => {
    const { at = -1, figure } = holders[index] ?? {};
    const { text = "", sources: cites = [] } = sentences[at] ?? {};
    return figure ? [{ value: figure.text, about: { text, cites } }] : [];
  });
}

function bestFigure(text: string): { figure: Figure; worth: number } | undefined {
  return findFigures(text)
    .map((figure) => ({ figure, worth: worthOf(figure, text) }))
    .reduce<{ figure: Figure; worth: number } | undefined>(
      (best, each) => (best && best.worth >= each.worth ? best : each),
      undefined,
    );
}

/** Shares and sums say more at a glance than sizes and times, and these more than small counts. */
function worthOf({ unit, amount, at }: Figure, text: string): number {
  const stated = STATED.test(text.slice(0, at)) ? 1.4 : 1;
  if (unit === "percent" || /^[$€£¥]$/.test(unit)) return 1.5 * stated;
  if (/^(?:bytes|seconds|days|times|nines|kilometres|watts|watt-hours|tonnes|degrees)$/.test(unit))
    return 1.1 * stated;
  return (amount >= 1_000 ? 0.9 : 0.5) * stated;
}
