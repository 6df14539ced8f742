/** Why a request got no usable reply. `redirect` is a reply, but one that is never followed. */
export type TransportFailure =
  | "refused"
  | "reset"
  | "dns"
  | "tls"
  | "connect_timeout"
  | "aborted"
  | "redirect"
  | "protocol"
  | "closed"
  | "other";

/** A request that failed below HTTP. Never names more of the address than its host. */
export class TransportError extends Error {
  readonly failure: TransportFailure;
  /** Host and port. */
  readonly host: string;
  /** The system's own code, such as `ECONNREFUSED`. */
  readonly code: string | undefined;

  constructor(
    failure: TransportFailure,
    host: string,
    message: string,
    options?: { code?: string; cause?: unknown },
  ) {
    super(message, { cause: options?.cause });
    this.name = "TransportError";
    this.failure = failure;
    this.host = host;
    this.code = options?.code;
  }
}

/** Receives a body as it comes in. `end` is called exactly once, and nothing is called after it. */
export type BodyReader = {
  /** The bytes are valid only until it returns. */
  chunk(bytes: Buffer): void;
  /** Without an error the body is complete by its own framing. */
  end(error?: TransportError): void;
};

/** A reply whose body is not read yet. One of `read`, `text` or `destroy` must be called, or the connection stays taken. */
export type TransportReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  read(reader: BodyReader): void;
  /** The body up to `maxBytes`; what comes after is dropped with the connection. Never rejects. */
  text(maxBytes: number): Promise<string>;
  /** Holds the sender back until `resume`. */
  pause(): void;
  resume(): void;
  /** The reader has all it wanted: the rest is drained so that the connection can be used again. */
  release(): void;
  /** Drops the connection at once. */
  destroy(): void;
};

/** One request. */
export type TransportRequest = {
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal?: AbortSignal;
};

/** Sends requests over pooled connections. Rejects only with `TransportError`. */
export type Transport = {
  post(url: string, request: TransportRequest): Promise<TransportReply>;
  get(url: string, request: TransportRequest): Promise<TransportReply>;
  /** Ends every connection; later requests fail with `closed`. */
  close(): void;
};
