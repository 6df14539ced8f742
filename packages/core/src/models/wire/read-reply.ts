import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { TransportError, TransportReply } from "../../schema/transport.ts";
import { isCompleteJson } from "./json.ts";

/** Takes one part of a reply as it comes in. */
export type Emit = (part: LanguageModelV4StreamPart) => void;

/** Bounds of one reply. */
export type ReplyLimits = { maxLineBytes: number; maxReplyBytes: number };

/** Turns a server's payloads into parts. Throws to fail the call. */
export type WireReader = {
  /** Set if each line of the body is a payload; otherwise the body is an event stream. */
  readonly payloadPerLine?: true;
  /** One payload; returns true once the reply is complete. */
  event(data: string): boolean;
  /** A sign of life without content. */
  ping(): void;
  /** A reply that came as one JSON document, from a server that does not stream. */
  document(text: string): void;
  /** The body ended before `event` returned true: completes the reply if all of it is there, else throws. */
  end(error: TransportError | undefined): void;
};

/** Reads a reply to its end. The promise settles with the last part, before the connection is idle again. */
export function readReply(reply: TransportReply, reader: WireReader, limits: ReplyLimits): Promise<void> {
  return new Promise((resolve, reject) => {
    let body: StreamBody | DocumentBody | undefined;
    let bytesIn = 0;
    /** Dropping a broken reply ends its body too, and that must not complete what came before. */
    let failed = false;
    reply.read({
      chunk(bytes) {
        bytesIn += bytes.length;
        try {
          if (bytesIn > limits.maxReplyBytes)
            throw new Error(`the reply exceeds ${limits.maxReplyBytes} bytes`);
          body ??=
            !reader.payloadPerLine && isDocument(reply, bytes)
              ? new DocumentBody(reader)
              : new StreamBody(reader, limits.maxLineBytes);
          if (!body.push(bytes)) return;
          resolve();
          reply.release();
        } catch (thrown) {
          failed = true;
          reject(thrown);
          reply.destroy();
        }
      },
      end(error) {
        if (failed) return;
        try {
          if (body) body.end(error);
          else reader.end(error);
          resolve();
        } catch (thrown) {
          reject(thrown);
        }
      },
    });
  });
}

const OPENING_BRACE = 0x7b;

/** Both the label and the first byte must say so: some servers label a stream as JSON. */
function isDocument(reply: TransportReply, first: Buffer): boolean {
  const type = reply.headers["content-type"];
  return typeof type === "string" && type.startsWith("application/json") && first[0] === OPENING_BRACE;
}

class StreamBody {
  readonly #reader: WireReader;
  readonly #lines: Lines;
  #complete = false;
  /** The body is over: what is left is a line without a newline, which may be only the beginning of one. */
  #ended = false;

  constructor(reader: WireReader, maxLineBytes: number) {
    this.#reader = reader;
    this.#lines = reader.payloadPerLine
      ? new Lines((text, from, to) => this.data(text.slice(from, to)), maxLineBytes)
      : new SseLines(this, maxLineBytes);
  }

  data(text: string): void {
    const isPiece = this.#ended && text !== "[DONE]" && !isCompleteJson(text);
    if (!this.#complete && !isPiece) this.#complete = this.#reader.event(text);
  }

  comment(): void {
    if (!this.#complete) this.#reader.ping();
  }

  push(bytes: Buffer): boolean {
    this.#lines.push(bytes);
    return this.#complete;
  }

  end(error: TransportError | undefined): void {
    this.#ended = true;
    if (!error) this.#lines.end();
    if (!this.#complete) this.#reader.end(error);
  }
}

class DocumentBody {
  readonly #reader: WireReader;
  readonly #chunks: Buffer[] = [];

  constructor(reader: WireReader) {
    this.#reader = reader;
  }

  push(bytes: Buffer): boolean {
    this.#chunks.push(Buffer.from(bytes));
    return false;
  }

  end(error: TransportError | undefined): void {
    if (error) throw error;
    this.#reader.document(Buffer.concat(this.#chunks).toString("utf8"));
  }
}

/** Receives the lines of an event stream that carry something. */
export type SseHandler = {
  /** One `data:` line without its field name. */
  data(text: string): void;
  /** A comment, which servers send to keep a connection alive. */
  comment(): void;
};

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

const COLON = 58;
const SPACE = 32;

/**
 * Reads an event stream. Each `data:` line is one payload: the wire formats send single-line JSON, and servers that
 * forget the blank line between events are understood too.
 */
export class SseLines extends Lines {
  constructor(handler: SseHandler, maxLineBytes: number) {
    super((text, from, to) => {
      if (text.startsWith("data:", from)) {
        handler.data(text.slice(text.charCodeAt(from + 5) === SPACE ? from + 6 : from + 5, to));
      } else if (text.charCodeAt(from) === COLON) {
        handler.comment();
      }
    }, maxLineBytes);
  }
}
