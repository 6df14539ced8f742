import type { Contradiction, KeyFigure, ReportChart, Source } from "../report/report.ts";
import { pickSentences, type RankedSentence, type SourceTable } from "./rank-sentences.ts";

/** A number with its unit in a sentence. */
export type Figure = {
  /** As it is written. */
  readonly text: string;
  readonly at: number;
  readonly amount: number;
  /** What it measures, so that only like is compared with like. */
  readonly unit: string;
  /** Whether it says a lower and an upper bound. */
  readonly isRange: boolean;
};

const NUMBER = "\\d{1,3}(?:[,\\u00a0\\u202f]\\d{3})+(?:\\.\\d+)?|\\d+(?:\\.\\d+)?";
const SCALE = "(?:\\s?(?<scale>thousand|million|billion|trillion|bn|m(?=\\s|$|[,.;)]))\\b)?";
const RANGE = `(?:\\s?%?\\s?(?:–|-|to)\\s?(?:${NUMBER}))?`;
const AMOUNT = `(?<number>${NUMBER})${RANGE}${SCALE}`;
const IS_RANGE = new RegExp(`(?:${NUMBER})\\s?%?\\s?(?:–|-|to)\\s?\\d`);
/** Nothing that an amount could be a part of. */
const BEFORE = "(?<![\\d.,$€£¥\\p{L}-])";

/** Written units by what they measure, with the factor to its basic unit. */
const UNITS: readonly (readonly [unit: string, pattern: string, factor: number])[] = [
  ["percent", "%|per ?cent\\b|percentage points?\\b", 1],
  ...["k", "M", "G", "T", "P", "E"].map(
    (letter, at) =>
      [
        "bytes",
        `${letter === "k" ? "[kK]" : letter}i?B\\b|${["kilo", "mega", "giga", "tera", "peta", "exa"][at]}bytes?\\b`,
        1_000 ** (at + 1),
      ] as const,
  ),
  ["seconds", "nanoseconds?\\b|ns\\b", 1e-9],
  ["seconds", "microseconds?\\b|[µμ]s\\b", 1e-6],
  ["seconds", "milliseconds?\\b|ms\\b", 1e-3],
  ["seconds", "seconds?\\b|s\\b(?!\\.)", 1],
  ["seconds", "minutes?\\b|min\\b", 60],
  ["seconds", "hours?\\b|h\\b", 3_600],
  ["days", "days?\\b", 1],
  ["days", "weeks?\\b", 7],
  ["days", "months?\\b", 30.4],
  ["days", "years?\\b", 365.25],
  ["times", "times\\b|-?fold\\b|x\\b|×", 1],
  ["nines", "nines\\b", 1],
  ["kilometres", "km\\b|kilomet(?:re|er)s?\\b", 1],
  ["kilograms", "kg\\b|kilograms?\\b", 1],
  ["tonnes", "tonnes?\\b|metric tons?\\b", 1],
  ["watts", "W\\b|watts?\\b", 1],
  ["watts", "kW\\b|kilowatts?\\b", 1e3],
  ["watts", "MW\\b|megawatts?\\b", 1e6],
  ["watts", "GW\\b|gigawatts?\\b", 1e9],
  ["watt-hours", "kWh\\b", 1e3],
  ["watt-hours", "MWh\\b", 1e6],
  ["watt-hours", "GWh\\b", 1e9],
  ["watt-hours", "TWh\\b", 1e12],
  ["degrees", "°\\s?[CF]\\b|degrees\\b", 1],
  ["operations", "IOPS\\b", 1],
];
/** What is counted: a plural, so that neither a year nor a number in a name counts. */
const COUNTED =
  "people|(?!(?:across|always|besides|less|minus|perhaps|plus|sometimes|towards|unless|versus|whereas)\\b)\\p{Ll}{3,24}s";

/** The forms that an amount has with its unit; where there are many units of one form, the text names its own. */
const FORMS: readonly { pattern: RegExp; unit?: string; factor: number }[] = [
  { pattern: new RegExp(`(?<named>[$€£¥])\\s?${AMOUNT}`, "gu"), factor: 1 },
  ...UNITS.map(([unit, pattern, factor]) => ({
    pattern: new RegExp(`${BEFORE}${AMOUNT}[\\s\\u00a0-]?(?:${pattern})`, "gu"),
    unit,
    factor,
  })),
  {
    pattern: new RegExp(
      `${BEFORE}(?!(?:19|20)\\d\\d\\s)${AMOUNT}\\s(?:[\\p{Ll}-]{2,24}\\s)?(?<named>${COUNTED})\\b`,
      "gu",
    ),
    factor: 1,
  },
];
const SCALES: Readonly<Record<string, number>> = {
  thousand: 1e3,
  million: 1e6,
  m: 1e6,
  billion: 1e9,
  bn: 1e9,
  trillion: 1e12,
};
const MAX_LENGTH = 2_000;

/** The numbers with units in a sentence, in the order they stand; bare numbers and years are none. */
export function findFigures(sentence: string): Figure[] {
  const text = sentence.slice(0, MAX_LENGTH);
  const found = FORMS.flatMap(({ pattern, unit, factor }) =>
    [...text.matchAll(pattern)].map((match): Figure => {
      const { number = "", scale = "", named = "" } = match.groups ?? {};
      const written = Number(number.replace(/[,\u00a0\u202f]/g, ""));
      return {
        text: match[0].trim(),
        at: match.index,
        amount: written * (SCALES[scale] ?? 1) * factor,
        unit: unit ?? named.replace(/s$/, ""),
        isRange: IS_RANGE.test(match[0]),
      };
    }),
  );
  return removeOverlaps(found);
}

function removeOverlaps(found: readonly Figure[]): Figure[] {
  const kept: Figure[] = [];
  for (const each of found.toSorted((a, b) => a.at - b.at || b.text.length - a.text.length)) {
    const last = kept.at(-1);
    if (!last || each.at >= last.at + last.text.length) kept.push(each);
  }
  return kept;
}

const MAX_CELL = 60;

/** A cell of a table as a number with its unit; null if it is anything else. */
export function readCell(cell: string): { amount: number; unit: string } | null {
  if (cell.length > MAX_CELL) return null;
  const match = /^[≈~<>≤≥]?\s*([$€£¥]?)\s?([-−]?[\d,\u00a0\u202f]*\.?\d+)\s?([^\d\s][^\d]{0,20})?$/u.exec(
    cell.trim(),
  );
  if (!match) return null;
  const [, currency = "", number = "", unit = ""] = match;
  const amount = Number(number.replace(/[,\u00a0\u202f]/g, "").replace("−", "-"));
  return Number.isFinite(amount) ? { amount, unit: `${currency}${unit.trim()}` } : null;
}

const MOST_FIGURES = 9;
const PER_SOURCE = 2;
/** What is before the number that a sentence is about. */
const STATED =
  /\b(?:was|were|is|are|took|takes|cost|costs|at|reached|fell|rose|grew|averaged?|averages|by|affected|found|carried|lost|saw|up)\s(?:(?:about|roughly|nearly|only|some|around|almost|over|under|up to|more than|less than)\s)?$/i;

/** Figures of the sentences that weigh most, at most two of a source and none twice. */
export function pickKeyFigures(
  sentences: readonly RankedSentence[],
  spoken: ReadonlySet<RankedSentence>,
): KeyFigure[] {
  const holders = sentences.flatMap((sentence) => {
    const best = sentence.dangling || spoken.has(sentence) ? undefined : findBestFigure(sentence.text);
    return best ? [{ sentence, figure: best.figure, worth: sentence.weight * best.worth }] : [];
  });
  const picked = pickSentences(holders, { count: MOST_FIGURES, perSource: PER_SOURCE, novelty: 0.6 });
  return picked.map(({ sentence, figure }) => ({
    value: figure.text,
    about: { text: sentence.text, cites: sentence.sources },
  }));
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
