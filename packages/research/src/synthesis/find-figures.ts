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
const SCALE = "(?:\\s?(thousand|million|billion|trillion|bn|m(?=\\s|$|[,.;)]))\\b)?";
const RANGE = `(?:\\s?%?\\s?(?:–|-|to)\\s?(?:${NUMBER}))?`;

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

const MONEY = new RegExp(`([$€£¥])\\s?(${NUMBER})${RANGE}${SCALE}`, "gu");
const MEASURED = UNITS.map(([unit, pattern, factor]) => ({
  unit,
  factor,
  pattern: new RegExp(`(?<![\\d.,$€£¥\\p{L}-])(${NUMBER})${RANGE}${SCALE}[\\s\\u00a0-]?(?:${pattern})`, "gu"),
}));
const COUNTS = new RegExp(
  `(?<![\\d.,$€£¥\\p{L}-])(?!(?:19|20)\\d\\d\\s)(${NUMBER})${RANGE}${SCALE}\\s(?:[\\p{Ll}-]{2,24}\\s)?(${COUNTED})\\b`,
  "gu",
);
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
  const found: Figure[] = [];
  for (const match of text.matchAll(MONEY)) {
    const [whole, currency = "", number = "", scale] = match;
    found.push(makeFigure(whole, match.index, readAmount(number, scale), currency));
  }
  for (const { unit, factor, pattern } of MEASURED) {
    for (const match of text.matchAll(pattern)) {
      const [whole, number = "", scale] = match;
      found.push(makeFigure(whole, match.index, readAmount(number, scale) * factor, unit));
    }
  }
  for (const match of text.matchAll(COUNTS)) {
    const [whole, number = "", scale, counted = ""] = match;
    found.push(makeFigure(whole, match.index, readAmount(number, scale), counted.replace(/s$/, "")));
  }
  return removeOverlaps(found);
}

function makeFigure(text: string, at: number, amount: number, unit: string): Figure {
  const isRange = new RegExp(`(?:${NUMBER})\\s?%?\\s?(?:–|-|to)\\s?\\d`).test(text);
  return { text: text.trim(), at, amount, unit, isRange };
}

function readAmount(number: string, scale: string | undefined): number {
  return Number(number.replace(/[,\u00a0\u202f]/g, "")) * (SCALES[scale ?? ""] ?? 1);
}

function removeOverlaps(found: readonly Figure[]): Figure[] {
  const kept: Figure[] = [];
  for (const each of [...found].sort((a, b) => a.at - b.at || b.text.length - a.text.length)) {
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
