/**
 * A part of a rule as regular expression source: `whole` matches all of it, `begun` any beginning of it that the end of the
 * text cut off. From the second a stream knows what to hold back.
 */
export type Piece = { whole: string; begun: string };

/** One of several fixed words. */
export function words(...list: readonly string[]): Piece {
  return spelled(list, literally);
}

/** One of several fixed words in any case. */
export function wordsInAnyCase(...list: readonly string[]): Piece {
  return spelled(list, inAnyCase);
}

/**
 * Matches a text in any case, letter by letter: `(?i:…)` must not be used. Once a process has compiled a megabyte of
 * regular expressions, V8 compiles further ones without optimising them, and then without regard to what stands before the
 * colon.
 */
export function inAnyCase(text: string): string {
  return literally(text).replaceAll(
    /[a-z]/gi,
    (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`,
  );
}

function spelled(list: readonly string[], spell: (text: string) => string): Piece {
  const longestFirst = [...list].sort((a, b) => b.length - a.length);
  return {
    whole: alternatives(longestFirst.map(spell)),
    begun: alternatives(list.map((word) => beginnings(word, spell))),
  };
}

/** A run of `least` to `most` characters of a class. */
export function run(characters: string, least: number, most: number): Piece {
  return { whole: `${characters}{${least},${most}}`, begun: `${characters}{0,${most}}` };
}

/** A run that ends its rule: once it has all the characters looked at, nothing more needs to be awaited. */
export function endingRun(characters: string, least: number, most: number): Piece {
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

function beginnings(word: string, spell: (text: string) => string): string {
  const letters = [...word].slice(0, -1).map(spell);
  return letters.reduceRight((rest, letter) => (rest ? `${letter}(?:${rest})?` : letter), "");
}

export function alternatives(sources: readonly string[]): string {
  return `(?:${sources.join("|")})`;
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
