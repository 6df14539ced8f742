import { pickDiverse } from "@retinue/core/text/rank-texts";
import type { Contradiction, KeyFigure, ReportChart, Source } from "../report/report.ts";
import { type Figure, findFigures, readCell } from "./find-figures.ts";
import type { RankedSentences, SourceTable } from "./rank-sentences.ts";

const MOST_FIGURES = 9;
const PER_SOURCE = 2;
/** What stands before the number that a sentence is about. */
const STATED =
  /\b(?:was|were|is|are|took|takes|cost|costs|at|reached|fell|rose|grew|averaged?|averages|by|affected|found|carried|lost|saw|up)\s(?:(?:about|roughly|nearly|only|some|around|almost|over|under|up to|more than|less than)\s)?$/i;

/** Figures of the sentences that weigh most, at most two of a source and none twice. */
export function pickKeyFigures(
  { sentences, vectors, weights }: RankedSentences,
  spoken: ReadonlySet<number>,
): KeyFigure[] {
  const holders = [...sentences.entries()].flatMap(([at, { text, dangling }]) => {
    const best = dangling || spoken.has(at) ? undefined : findBestFigure(text);
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

function findBestFigure(text: string): { figure: Figure; worth: number } | undefined {
  return findFigures(text)
    .map((figure) => ({ figure, worth: rateFigure(figure, text) }))
    .reduce<{ figure: Figure; worth: number } | undefined>(
      (best, each) => (best && best.worth >= each.worth ? best : each),
      undefined,
    );
}

/** Shares and sums say more at a glance than sizes and times, and these more than small counts. */
function rateFigure({ unit, amount, at }: Figure, text: string): number {
  const stated = STATED.test(text.slice(0, at)) ? 1.4 : 1;
  if (unit === "percent" || /^[$€£¥]$/.test(unit)) return 1.5 * stated;
  if (/^(?:bytes|seconds|days|times|nines|kilometres|watts|watt-hours|tonnes|degrees)$/.test(unit))
    return 1.1 * stated;
  return (amount >= 1_000 ? 0.9 : 0.5) * stated;
}

const MOST_CHARTS = 4;
const LEAST_BARS = 3;
const MOST_BARS = 10;
const MAX_LABEL = 60;

/** Charts of what can be drawn: numeric columns of the sources' tables, and figures on which sources differ. */
export function findCharts(
  tables: readonly SourceTable[],
  contradictions: readonly Contradiction[],
  sources: readonly Source[],
): ReportChart[] {
  const compared = contradictions.flatMap((each) => chartClaims(each, sources) ?? []);
  return [...tables.flatMap((table) => chartTable(table) ?? []), ...compared].slice(0, MOST_CHARTS);
}

/** The first column names the bars; of the others whose cells are all numbers of one unit, the best gives their lengths. */
function chartTable({ rows, section, source }: SourceTable): ReportChart | null {
  const [head = [], ...body] = rows;
  const named = body.filter((row) => (row[0] ?? "") !== "");
  if (named.length < LEAST_BARS || named.length > MOST_BARS) return null;
  const [best] = head
    .slice(1)
    .flatMap((_, at) => readColumn(named, at + 1) ?? [])
    .sort((a, b) => b.worth - a.worth);
  if (!best) return null;
  const { column, amounts } = best;
  const title = [head[column], head[0] && `by ${head[0].toLowerCase()}`].filter(Boolean).join(" ");
  return {
    title: title || section,
    bars: named.map((row, at) => ({
      label: (row[0] ?? "").slice(0, MAX_LABEL),
      value: amounts[at] ?? 0,
      shown: row[column] ?? "",
    })),
    cites: [source],
  };
}

type Column = { column: number; amounts: number[]; worth: number };

/** A column of numbers that differ; shares and sums tell more than counts. */
function readColumn(rows: readonly (readonly string[])[], column: number): Column | null {
  const cells = rows.map((row) => readCell(row[column] ?? ""));
  const amounts = cells.flatMap((cell) => (cell && cell.amount >= 0 ? [cell.amount] : []));
  const units = new Set(cells.map((cell) => cell?.unit));
  if (amounts.length < rows.length || units.size !== 1 || new Set(amounts).size < 2) return null;
  const [unit = ""] = units;
  return { column, amounts, worth: unit === "%" ? 2 : unit === "" ? 0 : 1 };
}

function chartClaims({ topic, claims }: Contradiction, sources: readonly Source[]): ReportChart | null {
  const all = claims.map(({ text, cites }) => ({ figures: findFigures(text), cites }));
  const unit = all[0]?.figures.find((one) =>
    all.every(({ figures }) => figures.filter((other) => other.unit === one.unit).length === 1),
  )?.unit;
  if (unit === undefined || all.length < LEAST_BARS) return null;
  const bars = all.flatMap(({ figures, cites }) => {
    const figure = figures.find((each) => each.unit === unit);
    const [cite = 0] = cites;
    const label = `[${cite}] ${sources[cite - 1]?.title ?? ""}`.slice(0, MAX_LABEL);
    return figure && !figure.isRange ? [{ label, value: figure.amount, shown: figure.text }] : [];
  });
  if (bars.length < LEAST_BARS) return null;
  return {
    title: `${topic.split(":", 1)[0]}, by source`,
    bars,
    cites: [...new Set(claims.flatMap(({ cites }) => cites))],
  };
}
