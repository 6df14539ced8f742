const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = 0xfeff;
const EMPTY = Buffer.alloc(0);
/** A rest buffer larger than this is given back after use. */
const KEPT_BYTES = 4096;

/** Takes one line as a range of a longer text, so that lines nobody wants are never cut out of it. Never empty. */
export type OnLine = (text: string, from: number, to: number) => void;

/**
 * Splits the bytes of a stream into lines. A newline byte never occurs inside a UTF-8 sequence, so text is decoded only
 * up to the last newline of a chunk and no sequence is ever cut.
 */
export class Lines {
  readonly #onLine: OnLine;
  readonly #maxLineBytes: number;
  /** Bytes after the last newline, in the first `#restBytes` of a buffer that grows by doubling. */
  #rest: Buffer = EMPTY;
  #restBytes = 0;

  constructor(onLine: OnLine, maxLineBytes: number) {
    this.#onLine = onLine;
    this.#maxLineBytes = maxLineBytes;
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last !== -1) {
      const complete = chunk.subarray(0, last);
      this.#split(this.#restBytes > 0 ? this.#takeRest(complete) : complete.toString("utf8"));
    }
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1));
  }

  /** The body ended by its own framing: a last line without a newline counts. */
  end(): void {
    if (this.#restBytes > 0) this.#split(this.#takeRest(EMPTY));
  }

  #takeRest(following: Buffer): string {
    const text = Buffer.concat([this.#rest.subarray(0, this.#restBytes), following]).toString("utf8");
    if (this.#rest.length > KEPT_BYTES) this.#rest = EMPTY;
    this.#restBytes = 0;
    return text;
  }

  #keep(bytes: Buffer): void {
    const needed = this.#restBytes + bytes.length;
    if (needed > this.#maxLineBytes)
      throw new Error(`a line of the stream exceeds ${this.#maxLineBytes} bytes`);
    if (needed > this.#rest.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, this.#rest.length * 2));
      this.#rest.copy(grown, 0, 0, this.#restBytes);
      this.#rest = grown;
    }
    bytes.copy(this.#rest, this.#restBytes);
    this.#restBytes = needed;
  }

  #split(text: string): void {
    let from = 0;
    while (from <= text.length) {
      const newline = text.indexOf("\n", from);
      const end = newline === -1 ? text.length : newline;
      this.#line(text, from, text.charCodeAt(end - 1) === 13 && end > from ? end - 1 : end);
      from = end + 1;
    }
  }

  #line(text: string, start: number, to: number): void {
    const from = text.charCodeAt(start) === BYTE_ORDER_MARK ? start + 1 : start;
    if (from < to) this.#onLine(text, from, to);
  }
}
