/** Keeps the beginning and the end of a stream of bytes; what lies between is only counted. */
export class CollectOutput {
  readonly #head: Buffer[] = [];
  readonly #headMax: number;
  readonly #tailMax: number;
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  /** All bytes that came. */
  total = 0;

  constructor(maxBytes: number) {
    this.#headMax = Math.ceil(maxBytes / 2);
    this.#tailMax = Math.floor(maxBytes / 2);
  }

  get truncated(): boolean {
    return this.total > this.#headMax + this.#tailMax;
  }

  push(chunk: Buffer): void {
    this.total += chunk.length;
    const head = chunk.subarray(0, this.#headMax - this.#headBytes);
    if (head.length > 0) this.#head.push(Buffer.from(head));
    this.#headBytes += head.length;
    const rest = chunk.subarray(head.length);
    if (rest.length === 0) return;
    this.#tail.push(Buffer.from(rest));
    this.#tailBytes += rest.length;
    // Cut only now and then, so that the work grows with the output and not with its square.
    if (this.#tailBytes > 2 * this.#tailMax + 65_536) this.#cutTail();
  }

  /** The text without escape codes and control characters, with a line that counts what was left out. */
  text(): string {
    this.#cutTail();
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    const left = this.total - head.length - tail.length;
    if (left === 0) return cleanOutput(decode(Buffer.concat([head, tail])));
    return `${cleanOutput(decode(head))}\n[… ${left} bytes left out …]\n${cleanOutput(decode(tail))}`;
  }

  #cutTail(): void {
    if (this.#tailBytes <= this.#tailMax) return;
    const all = Buffer.concat(this.#tail);
    const kept = Buffer.from(all.subarray(all.length - this.#tailMax));
    this.#tail = [kept];
    this.#tailBytes = kept.length;
  }
}

/** A character that a cut went through is dropped at both ends. */
function decode(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return new TextDecoder().decode(bytes.subarray(start), { stream: true });
}

const ESCAPES = new RegExp(
  [
    // Control sequences: colours, cursor.
    "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]",
    // Titles, links and other strings, if they end; else their text is shown.
    "\\u001b[\\]PX^_][^\\u0007\\u001b\\n]{0,4096}(?:\\u0007|\\u001b\\\\)",
    "\\u001b[ -/]{0,8}[0-~]",
  ].join("|"),
  "g",
);
/** Controls but for tab and newline, and the marks that turn the direction of text. */
const CONTROLS = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Output of a program as plain lines: nothing in it moves a cursor, hides text or rings a bell. */
export function cleanOutput(text: string): string {
  return text
    .replace(ESCAPES, "")
    .replace(/\r+\n?/g, "\n")
    .replace(CONTROLS, "");
}
