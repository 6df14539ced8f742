/** A number as a text writes it. */
export type WrittenNumber = {
  readonly text: string;
  /** What it may mean, in one form for all spellings: `1,000`, `1 000` and `1 thousand` are all `1000` among others. */
  readonly readings: readonly string[];
  /** For a group of digits that may as well be several numbers, such as a date: these. */
  readonly parts: readonly WrittenNumber[];
  /** What is in it if its separators are those of a list or a row of a table, where one may be looked for by itself. */
  readonly members: readonly string[];
};

/** Digits with separators between them; a space only before three digits. */
const DIGITS = /\d+(?:[.,'’]\d+|[ \u00a0\u2009\u202f]\d{3}(?!\d))*/gu;
/** Separators that may also be between two numbers. */
const BETWEEN = /[, \u00a0\u2009\u202f]/u;
/** As many members of a row as separators of thousands can make one number of. */
const MAX_JOINED = 6;
const SCALE = /^[\s\u00a0-]?(hundred|thousand|million|billion|trillion|mn|bn|tn|k|m|b)(?![\p{L}\d])/iu;
const POWERS: Readonly<Record<string, number>> = {
  hundred: 2,
  thousand: 3,
  k: 3,
  million: 6,
  mn: 6,
  m: 6,
  billion: 9,
  bn: 9,
  b: 9,
  trillion: 12,
  tn: 12,
};

const ONES =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const WORDS = new RegExp(
  `(?<![\\p{L}\\d-])(?:(${TENS.join("|")})(?:[- ](${ONES.slice(1, 10).join("|")}))?|(${ONES.join("|")})|an?(?= (?:hundred|thousand|million|billion|trillion)))(?![\\p{L}\\d])`,
  "giu",
);

/** All numbers in a text, whether in digits or in English words. */
export function findNumbers(text: string): WrittenNumber[] {
  return [...findDigits(text), ...findWords(text)];
}

/** Numbers that a text can be asked for. */
export type NumberIndex = { has(number: WrittenNumber): boolean };

/** Reads all numbers of a text, so that others can be looked for in it. */
export function indexNumbers(text: string): NumberIndex {
  const known = new Set<string>();
  const note = ({ readings, parts, members }: WrittenNumber) => {
    for (const reading of [...readings, ...members]) known.add(reading);
    for (const part of parts) note(part);
  };
  for (const number of findNumbers(text)) note(number);
  const has = ({ readings, parts }: WrittenNumber): boolean =>
    readings.some((reading) => known.has(reading)) || (parts.length > 0 && parts.every(has));
  return { has };
}

const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\b";
const ORDINALS = /\b\d+(?:st|nd|rd|th)\b/gi;
/** Such as COVID-19, A4, Q3 or v2.1, but no currency's code in front of an amount. */
const NAMES = /(?<![\p{L}\d])(?!(?:[A-Z]{3}|US|Rs?)\d)\p{L}[\p{L}\d]*-?\d[\d.]*/gu;
/** What is written in digits and states no quantity, so that a source need not have it in the same form. */
const NO_QUANTITIES = [
  // The number of a list's item, and a reference to a part of the text.
  /^\s*\(?\d{1,2}[.)](?=\s|$)/g,
  /\(\d{1,2}\)/g,
  /\b(?:figures?|tables?|sections?|chapters?|sources?|themes?|points?|steps?|no\.)\s\d+/gi,
  // Month and day of a date; its year is looked for.
  /(?<=\b\d{4})-\d{2}-\d{2}\b/g,
  new RegExp(`\\b\\d{1,2}(?=\\.?\\s+(?:of\\s+)?${MONTH})`, "gi"),
  new RegExp(`(?<=\\b${MONTH}\\.?\\s)\\d{1,2}(?!\\d)(?=[\\s,.;:)]|$)`, "gi"),
  // Ordinals, fractions and spans of years such as 2023/24.
  ORDINALS,
  /\b\d+\/\d+\b/g,
  /(?<=\b\d{4}[–-])\d{2}\b/g,
  // Times of the day, and names.
  /\b\d{1,2}:\d{2}\b/g,
  NAMES,
];

/** The quantities that a sentence states in digits: list numbers, ordinals, names and the days of dates are none. */
export function findQuantities(sentence: string): WrittenNumber[] {
  return findDigits(maskPatterns(sentence, NO_QUANTITIES));
}

/** The numbers that a figure states: those in digits, or else those in words; ordinals and names are none. */
export function findStated(value: string): WrittenNumber[] {
  const numbers = findNumbers(maskPatterns(value, [ORDINALS, NAMES]));
  const digits = numbers.filter(({ text }) => /\d/.test(text));
  return digits.length > 0 ? digits : numbers;
}

function maskPatterns(text: string, patterns: readonly RegExp[]): string {
  return patterns.reduce((left, pattern) => left.replace(pattern, (match) => "·".repeat(match.length)), text);
}

/** A plain number, such as the value of a bar. */
export function writeNumber(value: number): WrittenNumber {
  return createPlain(String(value), [String(value)]);
}

/** A number that is one and nothing else. */
function createPlain(text: string, readings: readonly string[]): WrittenNumber {
  return { text, readings, parts: [], members: [] };
}

function findDigits(written: string): WrittenNumber[] {
  // Full-width digits and the marks among them stand in the same order as the usual ones.
  const text = written.replace(/[\uff05-\uff19]/g, (wide) =>
    String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
  );
  return [...text.matchAll(DIGITS)].map((match) => {
    const end = match.index + match[0].length;
    const scale = SCALE.exec(text.slice(end, end + 12));
    const whole = `${match[0]}${scale?.[0] ?? ""}`;
    const behind = match.index + whole.length;
    const percent = /^\s?%/.exec(text.slice(behind, behind + 2))?.[0] ?? "";
    return readDigits(match[0], { text: whole + percent, scale: scale?.[1] });
  });
}

function readDigits(
  digits: string,
  { text, scale }: { text: string; scale: string | undefined },
): WrittenNumber {
  const plain = readAsOne(digits);
  const row = digits.split(BETWEEN);
  const isRow = row.length > 1 && row.every((member) => readAsOne(member).length > 0);
  const isOther = plain.length === 0 || /\s/.test(digits);
  const parts = (isRow ? row : digits.split(/\D/)).map((part) => createPlain(part, readAsOne(part)));
  // A unit behind it says that it is one number, if it can be one.
  const isUnitless = plain.length === 0 || text === digits;
  return {
    text,
    readings: addScaled(plain.length > 0 ? plain : [digits], scale),
    parts: isOther ? parts : [],
    members: isUnitless ? readMembers(digits, scale) : [],
  };
}

/** What digits may mean as members of a list, of which some next to each other may be one number. */
function readMembers(digits: string, scale: string | undefined): string[] {
  const cuts = [...digits.matchAll(new RegExp(BETWEEN, "gu"))].map(({ index }) => index);
  const starts = [0, ...cuts.map((cut) => cut + 1)];
  const ends = [...cuts, digits.length];
  return starts.flatMap((start, at) =>
    ends.slice(at, at + MAX_JOINED).flatMap((end) => {
      const readings = readAsOne(digits.slice(start, end));
      return end === digits.length ? addScaled(readings, scale) : readings;
    }),
  );
}

/** What digits with separators may mean as one number. */
function readAsOne(digits: string): string[] {
  const groups = digits.split(/\D/);
  return [...readWhole(groups), ...readDecimal(groups, digits.replace(/\d/g, ""))];
}

/** Groups of digits as one whole number, if they are what separators of thousands leave. */
function readWhole(groups: readonly string[]): string[] {
  const [first = "", ...rest] = groups;
  const isGrouped = first.length <= 3 && rest.every((group) => group.length === 3 || group.length === 2);
  return rest.length === 0 || (isGrouped && rest.at(-1)?.length === 3) ? [normalise(groups.join(""))] : [];
}

/** Groups of digits of which the last is behind a decimal point or comma. */
function readDecimal(groups: readonly string[], marks: string): string[] {
  const last = marks.at(-1);
  if ((last !== "." && last !== ",") || marks.indexOf(last) < marks.length - 1) return [];
  const [whole] = readWhole(groups.slice(0, -1));
  return whole === undefined ? [] : [normalise(`${whole}.${groups.at(-1)}`)];
}

function findWords(text: string): WrittenNumber[] {
  return [...text.matchAll(WORDS)].map((match) => {
    const [word, tens, unit, small] = match;
    const end = match.index + word.length;
    const scale = SCALE.exec(text.slice(end, end + 12));
    const value =
      tens === undefined
        ? findOne(small ?? "one")
        : (TENS.indexOf(tens.toLowerCase()) + 2) * 10 + findOne(unit ?? "zero");
    return createPlain(`${word}${scale?.[0] ?? ""}`, addScaled([String(value)], scale?.[1]));
  });
}

function findOne(word: string): number {
  return ONES.indexOf(word.toLowerCase());
}

/** Also without its scale: a table may have that in its head. */
function addScaled(readings: readonly string[], scale: string | undefined): string[] {
  const power = POWERS[scale?.toLowerCase() ?? ""];
  const scaled = power === undefined ? [] : readings.map((reading) => normalise(`${reading}e${power}`));
  return [...readings, ...scaled];
}

function normalise(digits: string): string {
  return String(Number(digits));
}
