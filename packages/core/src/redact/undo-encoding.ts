/** Runs shorter than this are no encoding of anything that matters. */
const SHORTEST_RUN = 6;
/** Longer texts are not looked at in every way: addresses, headers and posts are shorter. */
const LONG_TEXT = 8_192;

const BASE64_RUN = /[A-Za-z0-9+/_-]{6,}/g;
const LONG_BASE64_RUN = /[A-Za-z0-9+/_-]{12,}/g;
const HEX_RUN = /[0-9A-Fa-f]{8,}/g;
const BASE32_RUN = /[A-Za-z2-7]{12,}/g;
/** Character codes with something between them, in whatever base. */
const SEPARATED_CODES = /(?<![\da-z])(?:0[bo])?\d{2,9}(?:[^\da-z]{1,2}(?:0[bo])?\d{2,9}){5,}(?![\da-z])/gi;
const BASES = [
  { base: 2, digits: /^[01]+$/ },
  { base: 8, digits: /^[0-7]+$/ },
  { base: 10, digits: /^\d+$/ },
] as const;
/** Character codes with nothing between them, each of as many digits. */
const PACKED_CODES = [
  { runs: /[01]{48,}/g, base: 2, width: 8 },
  { runs: /[01]{42,}/g, base: 2, width: 7 },
  { runs: /[0-7]{18,}/g, base: 8, width: 3 },
  { runs: /\d{18,}/g, base: 10, width: 3 },
] as const;
/** One character, written as its code in URLs, programs, HTML or mail. */
const ESCAPES =
  /(?:%|\\x|0x|=)([0-9a-f]{2})[,;]?|(?:%u|\\u)([0-9a-f]{4}|[0-9a-f]{2})|(?:&#x|\\u\{)([0-9a-f]{1,6})[;}]?|&#(\d{1,7});?/gi;
const HIGH_BYTES = /[\x80-\xff]/;
const MAY_HOLD_ESCAPES = /[%\\&+=]|0x/;
const SEPARATORS = /[\s.,:;|~!*'"`(){}[\]<>&?#^$\\]+/g;

const NOT_ASCII = /[^\0-\x7f]/;
/** The copies of ASCII that nobody sees. */
const TAGS = /[\u{e0020}-\u{e007e}]/gu;
const MARKS = /[\p{M}\p{Default_Ignorable_Code_Point}]+/gu;

/**
 * A text in the letters that it stands for: full-width, bold, circled and accented ones become plain, as they do in the
 * name of a host.
 */
export function plainForm(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  const seen = text.replace(TAGS, (tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000));
  return seen.normalize("NFKD").replace(MARKS, "");
}

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
    isLong ? "" : fromSeparatedCodes(text),
    ...(isLong ? [] : PACKED_CODES).map(({ runs, base, width }) =>
      decodeRuns(text, runs, width, (run) => fromPackedCodes(run, base, width)),
    ),
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
  for (let at = 0; at <= bytes.length; ) {
    const length = readableLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    if (at - start >= shortest) to.push(plainForm(bytes.toString("utf8", start, at)));
    start = ++at;
  }
}

/** The bytes of the character at a place in UTF-8; 0 if none that can be read is there. */
function readableLength(bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? 0;
  if (byte < 0x7f) return byte >= 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 ? 1 : 0;
  const length = byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;
  for (let next = 1; next < length; next++) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

/** Percent signs may themselves have been encoded, so two layers are undone in one step. */
function decodeEscapes(text: string): string[] {
  const once = unescapeOnce(text.replaceAll("+", " "));
  return [once, unescapeOnce(once)].flatMap((each) => [each, plainForm(each), plainForm(readBytes(each))]);
}

function unescapeOnce(text: string): string {
  return text.replace(ESCAPES, (_, byte?: string, unit?: string, hex?: string, decimal?: string) => {
    const code = decimal === undefined ? Number.parseInt(byte ?? unit ?? hex ?? "", 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}

/** What bytes that were taken for characters say in UTF-8. */
function readBytes(text: string): string {
  return HIGH_BYTES.test(text) ? Buffer.from(text, "latin1").toString("utf8") : text;
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

/** The bytes whose codes follow each other without a gap. */
function fromPackedCodes(run: string, base: number, width: number): Buffer {
  const codes = run.match(new RegExp(`.{${width}}`, "g")) ?? [];
  return Buffer.from(codes.map((code) => Math.min(Number.parseInt(code, base), 0xff)));
}

/** What character codes with something between them say, in each base that their digits can be of. */
function fromSeparatedCodes(text: string): string {
  const lines: string[] = [];
  for (const [run] of text.matchAll(SEPARATED_CODES)) {
    const codes = run.match(/\d{2,}/g) ?? [];
    for (const { base, digits } of BASES)
      if (codes.every((code) => digits.test(code)))
        lines.push(codes.map((code) => String.fromCharCode(Number.parseInt(code, base))).join(""));
  }
  return lines.join("\n");
}
