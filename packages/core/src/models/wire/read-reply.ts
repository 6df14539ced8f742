import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { TransportError, TransportReply } from "../../schema/transport.ts";
import type { CallContext } from "../model-error.ts";
import { brokenReply } from "../model-error.ts";
import { isCompleteJson, isRecord } from "./json.ts";
import { Lines } from "./lines.ts";
import { SseLines } from "./sse.ts";

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

/** Parses one payload, which must be a JSON object. */
export function parsePayload(data: string, call: CallContext): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw brokenReply(call, `not JSON: ${data.slice(0, 100)}`);
  }
  if (isRecord(value)) return value;
  throw brokenReply(call, `not a JSON object: ${data.slice(0, 100)}`);
}

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
    this.#chunks.push(bytes);
    return false;
  }

  end(error: TransportError | undefined): void {
    if (error) throw error;
    this.#reader.document(Buffer.concat(this.#chunks).toString("utf8"));
  }
}
