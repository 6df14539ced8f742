import { GREETING } from "./encode-event.ts";

/** What a stream needs from whoever fills it. */
export type StreamPorts = {
  readonly signal: AbortSignal;
  /** Called while the reader keeps up, until everything from before has been sent. */
  more?(): void;
  /** The stream has ended, for whatever reason. */
  ended(): void;
};

const MOST_UNREAD_BYTES = 1_000_000;
const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

/** Server-sent events to one reader. Whoever reads too slowly is let go, and can come back with the last id he has. */
export class EventStream {
  readonly #ports: StreamPorts;
  readonly #body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor(ports: StreamPorts) {
    this.#ports = ports;
    this.#body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          controller.enqueue(GREETING);
        },
        pull: () => ports.more?.(),
        cancel: () => this.#end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_UNREAD_BYTES }),
    );
    if (ports.signal.aborted) queueMicrotask(this.close);
    else ports.signal.addEventListener("abort", this.close, { once: true });
  }

  /** The answer that carries the stream. */
  get response(): Response {
    return new Response(this.#body, { headers: HEADERS });
  }

  /** Bytes that may still be sent before the reader counts as stalled; 0 once it has ended. */
  get room(): number {
    return this.#controller?.desiredSize ?? 0;
  }

  /** Sends bytes, or ends the stream of a reader who has left too many unread. */
  send(bytes: Uint8Array): void {
    if (this.room > 0) this.#controller?.enqueue(bytes);
    else this.#drop();
  }

  readonly close = (): void => {
    this.#controller?.close();
    this.#end();
  };

  /** An error forgets what is unread at once, where a close would keep it for a reader who may never come. */
  #drop(): void {
    this.#controller?.error(new Error("the reader does not keep up"));
    this.#end();
  }

  #end(): void {
    if (!this.#controller) return;
    this.#controller = null;
    this.#ports.signal.removeEventListener("abort", this.close);
    this.#ports.ended();
  }
}
