import type { IncomingMessage } from "node:http";
import {
  type BodyReader,
  TransportError,
  type TransportFailure,
  type TransportReply,
} from "../schema/transport.ts";

/** How long the rest of a body may take after its reader is done, and how long an error text may take. */
const DRAIN_MS = 1_000;
const TEXT_MS = 5_000;
const MAX_DRAINED_BYTES = 65_536;

/** Wraps a response whose headers are in. */
export function openReply(incoming: IncomingMessage, host: string, signal?: AbortSignal): TransportReply {
  return new Reply(incoming, host, signal);
}

class Reply implements TransportReply {
  readonly status: number;
  readonly #incoming: IncomingMessage;
  readonly #host: string;
  readonly #signal: AbortSignal | undefined;
  #reader: BodyReader | undefined;
  #drained = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(incoming: IncomingMessage, host: string, signal?: AbortSignal) {
    this.status = incoming.statusCode ?? 0;
    this.#incoming = incoming;
    this.#host = host;
    this.#signal = signal;
    incoming.on("error", this.#onError);
    incoming.once("close", this.#onClose);
    incoming.once("end", this.#onEnd);
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get headers() {
    return this.#incoming.headers;
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    if (this.#incoming.destroyed) this.#onClose();
    else this.#incoming.on("data", this.#onData);
  }

  text(maxBytes: number): Promise<string> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const timer = setTimeout(() => this.destroy(), TEXT_MS);
      this.read({
        chunk: (bytes) => {
          chunks.push(bytes);
          size += bytes.length;
          if (size > maxBytes) this.destroy();
        },
        end: () => {
          clearTimeout(timer);
          resolve(Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8"));
        },
      });
    });
  }

  pause(): void {
    this.#incoming.pause();
  }

  resume(): void {
    this.#incoming.resume();
  }

  release(): void {
    this.#reader = undefined;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    if (this.#incoming.readableEnded || this.#incoming.destroyed) return;
    this.#timer = setTimeout(() => this.destroy(), DRAIN_MS);
    this.#timer.unref();
    this.#incoming.resume();
  }

  destroy(): void {
    this.#incoming.destroy();
    this.#fail(() => new TransportError("aborted", this.#host, "the reply was dropped"));
  }

  readonly #onEnd = (): void => this.#finish();

  readonly #onError = (error: NodeJS.ErrnoException): void =>
    this.#fail(() => transportErrorOf(error, this.#host));

  readonly #onClose = (): void =>
    this.#fail(() => new TransportError("reset", this.#host, `${this.#host} closed the connection`));

  readonly #onAbort = (): void => {
    this.#incoming.destroy();
    this.#fail(() => new TransportError("aborted", this.#host, "the request was cancelled"));
  };

  readonly #onData = (bytes: Buffer): void => {
    if (this.#reader) {
      this.#reader.chunk(bytes);
    } else {
      this.#drained += bytes.length;
      if (this.#drained > MAX_DRAINED_BYTES) this.#incoming.destroy();
    }
  };

  /** Every body ends with `close`; the error is made only if somebody still waits for it. */
  #fail(error: () => TransportError): void {
    this.#finish(this.#reader && error());
  }

  #finish(error?: TransportError): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.end(error);
  }
}

const FAILURES: Readonly<Record<string, TransportFailure>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  ENOTFOUND: "dns",
  EAI_AGAIN: "dns",
  EAI_FAIL: "dns",
  ETIMEDOUT: "connect_timeout",
  EHOSTUNREACH: "refused",
  ENETUNREACH: "refused",
};

const SAID: Readonly<Partial<Record<TransportFailure, string>>> = {
  refused: "cannot be reached",
  reset: "closed the connection",
  dns: "is not a known host name",
  tls: "has no acceptable certificate",
  connect_timeout: "did not answer the connection in time",
  protocol: "did not answer in HTTP",
};

/** Names a system error by what it means for the caller. */
export function transportErrorOf(error: NodeJS.ErrnoException, host: string): TransportError {
  const code = error.code;
  const failure = failureOf(code);
  const said = SAID[failure] ?? `failed: ${error.message}`;
  const message = `${host} ${said}${code ? ` (${code})` : ""}`;
  return new TransportError(failure, host, message, { cause: error, ...(code && { code }) });
}

function failureOf(code: string | undefined): TransportFailure {
  if (!code) return "other";
  const known = FAILURES[code];
  if (known) return known;
  if (code.startsWith("HPE_")) return "protocol";
  if (/CERT|SELF_SIGNED|TLS|SSL|UNABLE_TO_/.test(code)) return "tls";
  return "other";
}
