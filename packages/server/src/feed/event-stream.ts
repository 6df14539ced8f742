import type { NewsEvent, StreamEvent } from "@retinue/core/schema/api/stream";

const encoder = new TextEncoder();

/** One server-sent event as bytes, made once for all readers. Only what has an id can be asked for again. */
export function encodeEvent({ kind, ...data }: StreamEvent | NewsEvent, id?: number): Uint8Array {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${head}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** How a stream begins: after a break the browser comes back in a second. */
const GREETING = encoder.encode("retry: 1000\n\n");

/** An empty comment, so that no proxy takes the silence for the end. */
export const HEARTBEAT = encoder.encode(": \n\n");

/** What a stream needs from the feed that fills it. */
type StreamPorts = {
  readonly signal: AbortSignal;
  /** The reader has read everything: more may be sent at once, if there is any. If this rejects, the stream ends. */
  more?(): Promise<void>;
  /** The stream has ended, for whatever reason. */
  ended(): void;
};

const MOST_UNREAD_BYTES = 1_000_000;
const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

/**
 * Server-sent events to one reader. One who leaves too much unread is let go, and can come back with the last id received.
 * What is unread is kept here and not by the stream, so that it can be forgotten at once.
 */
export class EventStream {
  readonly #ports: StreamPorts;
  readonly #body: ReadableStream<Uint8Array>;
  readonly #unread: Uint8Array[] = [GREETING];
  #unreadBytes = GREETING.length;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** Set while the reader waits. */
  #wake: (() => void) | null = null;

  constructor(ports: StreamPorts) {
    this.#ports = ports;
    this.#body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#pull(),
        cancel: () => this.#end(),
      },
      { highWaterMark: 0 },
    );
    if (ports.signal.aborted) queueMicrotask(this.close);
    else ports.signal.addEventListener("abort", this.close, { once: true });
  }

  /** The answer that carries the stream. */
  get response(): Response {
    return new Response(this.#body, { headers: HEADERS });
  }

  /** Sends bytes, or ends the stream of a reader who has left too many unread. */
  send(bytes: Uint8Array): void {
    if (!this.#controller) return;
    if (this.#unreadBytes >= MOST_UNREAD_BYTES) {
      this.close();
      return;
    }
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    this.#wake?.();
  }

  readonly close = (): void => {
    this.#controller?.close();
    this.#end();
  };

  /** Gives the reader the next piece, or waits until there is one. */
  async #pull(): Promise<void> {
    if (this.#unread.length === 0) this.#askForMore();
    while (this.#unread.length === 0 && this.#controller) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
    const next = this.#unread.shift();
    if (!next) return;
    this.#unreadBytes -= next.length;
    this.#controller?.enqueue(next);
  }

  /** If nothing can be read now the stream ends; the browser comes back in a second. */
  #askForMore(): void {
    this.#ports.more?.().catch(this.close);
  }

  #end(): void {
    if (!this.#controller) return;
    this.#controller = null;
    this.#unread.length = 0;
    this.#wake?.();
    this.#ports.signal.removeEventListener("abort", this.close);
    this.#ports.ended();
  }
}
