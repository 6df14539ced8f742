import type { Chart, Contradiction, Source } from "../report/report.ts";
import { figureOfCell, findFigures } from "./find-figures.ts";
import type { SourceTable } from "./read-articles.ts";

const MOST_CHARTS = 4;
const LEAST_BARS = 3;
const MOST_BARS = 10;
const MAX_LABEL = 60;

/** Charts of what can be drawn: numeric columns of the sources' tables, and figures on which sources differ. */
export function findCharts(
  tables: readonly SourceTable[],
  contradictions: readonly Contradiction[],
  sources: readonly Source[],
): Chart[] {
  const compared = contradictions.flatMap((each) => chartOfClaims(each, sources) ?? []);
  return [...tables.flatMap((table) => chartOfTable(table) ?? []), ...compared].slice(0, MOST_CHARTS);
}

/** The first column names the bars; of the others whose cells are all numbers of one unit, the best gives their lengths. */
function chartOfTable({ rows, section, source }: SourceTable): Chart | null {
  const [head = [], ...body] = rows;
  const named = body.filter((row) => (row[0] ?? "") !== "");
  if (named.length < LEAST_BARS || named.length > MOST_BARS) return null;
  const [best] = head
    .slice(1)
    .flatMap((_, at) => columnOf(named, at + 1) ?? [])
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
function columnOf(rows: readonly (readonly string[])[], column: number): Column | null {
  const cells = rows.map((row) => figureOfCell(row[column] ?? ""));
  const amounts = cells.flatMap((cell) => (cell && cell.amount >= 0 ? [cell.amount] : []));
  const units = new Set(cells.map((cell) => cell?.unit));
  if (amounts.length < rows.length || units.size !== 1 || new Set(amounts).size < 2) return null;
  const [unit = ""] = units;
  return { column, amounts, worth: unit === "%" ? 2 : unit === "" ? 0 : 1 };
}

function chartOfClaims({ topic, claims }: Contradiction, sources: readonly Source[]): Chart | null {
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
