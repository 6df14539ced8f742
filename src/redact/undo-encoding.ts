/** Runs shorter than this are no encoding of anything that matters. */
const SHORTEST_RUN = 6;
/** Longer texts are not looked at in every way: addresses, headers and posts are shorter. */
const LONG_TEXT = 8_192;

const BASE64_RUN = /[A-Za-z0-9+/_-]{6,}/g;
const LONG_BASE64_RUN = /[A-Za-z0-9+/_-]{12,}/g;
const HEX_RUN = /[0-9A-Fa-f]{8,}/g;
const BASE32_RUN = /[A-Za-z2-7]{12,}/g;
const SEPARATED_NUMBERS = /\b\d{2,3}(?:[^\da-z]{1,2}\d{2,3}){5,}\b/gi;
/** One character, written as its code in URLs, programs, HTML or mail. */
const ESCAPES =
  /(?:%|\\x|0x|=)([0-9a-f]{2})[,;]?|(?:%u|\\u|&#x)0{0,2}([0-9a-f]{2});?|\\u\{([0-9a-f]{2})\}|&#0?(\d{2,3});?/gi;
const MAY_HOLD_ESCAPES = /[%\\&+=]|0x/;
const SEPARATORS = /[\s.,:;|~!*'"`(){}[\]<>&?#^$\\]+/g;

/**
 * Every text that a text could be an encoding of, by one step; what cannot be read is left out. Of a long text only what
 * is shorter than it, unless it is what was given: turning it round and about again and again would cost too much.
 */
export function decodings(text: string, isGiven: boolean): string[] {
  const isLong = text.length > LONG_TEXT;
  const found = [
    ...(MAY_HOLD_ESCAPES.test(text) ? decodeEscapes(text) : []),
    decodeRuns(text, isLong ? LONG_BASE64_RUN : BASE64_RUN, 4, (run) => Buffer.from(run, "base64")),
    decodeRuns(text, HEX_RUN, 2, (run) => Buffer.from(run.slice(0, run.length & ~1), "hex")),
    isLong ? "" : decodeRuns(text, BASE32_RUN, 8, fromBase32),
    isLong ? "" : fromNumbers(text),
  ];
  if (isGiven || !isLong) {
    const dense = text.replace(SEPARATORS, "");
    // Between the characters of a value dashes, strokes and underscores may be separators too.
    found.push(dense, dense.replace(/[-_/+]+/g, ""), reverse(text), rotate(text));
  }
  return found.filter((each) => each.length >= SHORTEST_RUN && each !== text);
}

/** Decodes each run from each place at which its encoding could begin. */
function decodeRuns(text: string, runs: RegExp, alignments: number, decode: (run: string) => Buffer): string {
  const readable: string[] = [];
  const shortest = text.length > LONG_TEXT ? 8 : 4;
  for (const [run] of text.matchAll(runs)) {
    for (let offset = 0; offset < alignments; offset++)
      addReadable(decode(run.slice(offset)), shortest, readable);
  }
  return readable.join("\n");
}

/** Adds the stretches that can be read; the garbage of a wrong decoding is all but free of long ones. */
function addReadable(bytes: Buffer, shortest: number, to: string[]): void {
  let start = 0;
  for (let at = 0; at <= bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if ((byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    if (at - start >= shortest) to.push(bytes.toString("latin1", start, at));
    start = at + 1;
  }
}

/** Percent signs may themselves have been encoded, so two layers are undone in one step. */
function decodeEscapes(text: string): string[] {
  const once = unescapeOnce(text.replaceAll("+", " "));
  return [once, unescapeOnce(once)];
}

function unescapeOnce(text: string): string {
  return text.replace(ESCAPES, (_, hex?: string, padded?: string, braced?: string, decimal?: string) =>
    String.fromCharCode(
      decimal === undefined ? Number.parseInt(hex ?? padded ?? braced ?? "", 16) : Number(decimal),
    ),
  );
}

function reverse(text: string): string {
  return Buffer.from(text, "latin1").reverse().toString("latin1");
}

/** Letters moved by thirteen places. */
function rotate(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    const base = byte & 0x20 ? 97 : 65;
    const place = byte - base;
    if (place >= 0 && place < 26) bytes[at] = base + ((place + 13) % 26);
  }
  return bytes.toString("latin1");
}

function fromBase32(run: string): Buffer {
  let bits = 0;
  let value = 0;
  const bytes: number[] = [];
  for (const letter of run.toUpperCase()) {
    const code = letter.charCodeAt(0);
    value = ((value << 5) | (code >= 65 ? code - 65 : code - 24)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}

/** Character codes as decimal numbers with something between them. */
function fromNumbers(text: string): string {
  const lines: string[] = [];
  for (const [run] of text.matchAll(SEPARATED_NUMBERS))
    lines.push((run.match(/\d+/g) ?? []).map((code) => String.fromCharCode(Number(code))).join(""));
  return lines.join("\n");
}
