import { KnownValues } from "./known-values.ts";
import { secretForms } from "./secret-forms.ts";
import { decodings, plainForm } from "./undo-encoding.ts";

/** What a look for hidden secrets came to: nothing, a secret, or more encoded text than can be looked through. */
export type HiddenSecret = "none" | "found" | "too much";

/** How many encodings, one around the other, are undone. */
const MAX_LAYERS = 4;
/** Characters that are looked at: so many for each one that is given, and so many in any case. */
const STEPS_PER_CHAR = 32;
const FREE_STEPS = 4_000_000;
/** A value must be this long to be looked for without regard to case and to what stands between its characters. */
const SHORTEST_LOOSE = 12;
/** A value must be this long to be put together from pieces, and a piece, and the text they are looked for in. */
const SHORTEST_SPLIT = 16;
const SHORTEST_PIECE = 5;
const MAX_PIECES = 3;
const MAX_POOL_CHARS = 32_768;
const MAX_JOINED_CHARS = 65_536;
const MAX_ADDRESS_CHARS = 8_192;

/**
 * Finds known values in what is about to leave, also where they are encoded, encoded twice, reversed, spread out, split or
 * written in other forms of their letters.
 * The work is linear in the length of what is given. Without known values there is none.
 */
export class HiddenSecrets {
  readonly #exact = new KnownValues();
  readonly #loose = new KnownValues();
  readonly #splittable = new Set<string>();
  #isEmpty = true;

  add(secret: string): void {
    const forms = secretForms(secret, []);
    if (forms.length === 0) return;
    this.#isEmpty = false;
    for (const form of forms) this.#exact.add(form);
    const loose = squeeze(secret);
    if (loose.length >= SHORTEST_LOOSE) this.#loose.add(loose);
    // Words alone would be put together from any text.
    if (loose.length >= SHORTEST_SPLIT && /\d/.test(loose) && /[a-z]/.test(loose)) {
      this.#splittable.add(loose);
      this.#splittable.add([...loose].reverse().join(""));
    }
  }

  /** Looks through all texts of one call. `onStep` is told of the characters that are looked at. */
  find(texts: readonly string[], onStep: (chars: number) => void = () => {}): HiddenSecret {
    if (this.#isEmpty) return "none";
    const given = texts.reduce((sum, text) => sum + text.length, 0);
    let left = FREE_STEPS + given * STEPS_PER_CHAR;
    const seen = new Set<string>();
    const pool: string[] = [];
    let pooled = 0;
    let layer = startingTexts(texts, given);
    for (let depth = 0; depth <= MAX_LAYERS && layer.length > 0; depth++) {
      const next: string[] = [];
      for (const text of layer) {
        if (seen.has(text)) continue;
        seen.add(text);
        onStep(text.length);
        left -= text.length;
        if (left < 0) return "too much";
        if (this.#exact.find(text).length > 0) return "found";
        const loose = squeeze(text);
        if (this.#loose.find(loose).length > 0) return "found";
        if (pooled + loose.length <= MAX_POOL_CHARS) {
          pooled += loose.length;
          pool.push(loose);
        }
        if (depth < MAX_LAYERS) next.push(...decodings(text, depth === 0));
      }
      layer = next;
    }
    return this.#isSplitIn(pool.join(" ")) ? "found" : "none";
  }

  /** Whether a value can be put together from a few pieces of a text, in whatever order they stand in it. */
  #isSplitIn(pool: string): boolean {
    for (const value of this.#splittable) {
      let at = 0;
      for (let piece = 0; piece < MAX_PIECES && at < value.length; piece++) {
        const length = longestPiece(value, at, pool);
        if (length < SHORTEST_PIECE) break;
        at += length;
      }
      if (at >= value.length) return true;
    }
    return false;
  }
}

/** How much of a value, from a place on, stands somewhere in a text. */
function longestPiece(value: string, at: number, pool: string): number {
  let [fits, tooLong] = [0, value.length - at + 1];
  while (tooLong - fits > 1) {
    const length = (fits + tooLong) >> 1;
    if (pool.includes(value.slice(at, at + length))) fits = length;
    else tooLong = length;
  }
  return fits;
}

/** The texts themselves, and what their parts make up when they are put together. */
function startingTexts(texts: readonly string[], given: number): string[] {
  const starting = [...texts, ...texts.flatMap(sentAddress)];
  if (given <= MAX_JOINED_CHARS) {
    const values = texts.flatMap(valuesIn);
    starting.push(texts.join(""), values.join(""), values.toReversed().join(""));
  }
  return [...starting, ...starting.map(plainForm)];
}

/** An address as it is sent, which is not always as it is written. */
function sentAddress(text: string): string[] {
  const sent = text.length <= MAX_ADDRESS_CHARS ? URL.parse(text)?.href : undefined;
  return sent === undefined ? [] : [sent];
}

/** The values of an address's or form's parameters; the steps of its path if it has none. */
function valuesIn(text: string): string[] {
  const [, path = "", query = ""] = /^(?:[a-z][\w+.-]*:\/\/)?([^?#]*)[?#]?(.*)$/is.exec(text) ?? [];
  const pairs = (query || text).split(/[&;?#\n]/);
  const values = pairs.flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? [] : [pair.slice(at + 1)];
  });
  return values.length > 0 ? values : path.split("/").slice(1);
}

/** Letters and digits alone, in one case: what is left whatever was put between them. */
function squeeze(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "");
}
