/**
 * A part of a rule as regular expression source: `whole` matches all of it, `begun` any beginning of it that the end of the
 * text cut off. From the second a stream knows what to hold back.
 */
export type Piece = { whole: string; begun: string };

/** One of several fixed words. */
export function words(...list: readonly string[]): Piece {
  const longestFirst = [...list].sort((a, b) => b.length - a.length);
  return { whole: anyOf(longestFirst.map(literally)), begun: anyOf(list.map(beginnings)) };
}

/** One of several fixed words in any case. */
export function wordsInAnyCase(...list: readonly string[]): Piece {
  const { whole, begun } = words(...list);
  return { whole: `(?i:${whole})`, begun: `(?i:${begun})` };
}

/** A run of `least` to `most` characters of a class. */
export function run(characters: string, least: number, most: number): Piece {
  return { whole: `${characters}{${least},${most}}`, begun: `${characters}{0,${most}}` };
}

/** A run that ends its rule: once it has all the characters looked at, nothing more needs to be awaited. */
export function lastRun(characters: string, least: number, most: number): Piece {
  return { whole: `${characters}{${least},${most}}`, begun: `${characters}{0,${most - 1}}` };
}

/** Matches the whole sequence. */
export function wholeOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => piece.whole).join("");
}

/** Matches any beginning of the sequence that reaches the end of the text. */
export function begunOf(pieces: readonly Piece[]): string {
  return pieces.reduceRight(
    (rest, { whole, begun }) => (rest ? `(?:${whole}${rest}|${begun})` : `(?:${begun})`),
    "",
  );
}

function beginnings(word: string): string {
  const letters = [...word].slice(0, -1).map(literally);
  return letters.reduceRight((rest, letter) => (rest ? `${letter}(?:${rest})?` : letter), "");
}

function anyOf(sources: readonly string[]): string {
  return `(?:${sources.join("|")})`;
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
