import { transportErrorOf } from "./transport-error.ts";

/** Why a request did not get a reply through the guard. */
export type EgressFailure =
  | "bad_url"
  | "blocked"
  | "dns"
  | "refused"
  | "reset"
  | "tls"
  | "timeout"
  | "too_large"
  | "protocol"
  | "aborted"
  | "closed"
  | "other";

/** A request that got no reply. Its message never holds more of the address than the host. */
export class EgressError extends Error {
  readonly failure: EgressFailure;
  readonly host: string;

  constructor(failure: EgressFailure, host: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = "EgressError";
    this.failure = failure;
    this.host = host;
  }
}

const FAILURES: Readonly<Record<string, readonly [EgressFailure, string]>> = {
  UND_ERR_CONNECT_TIMEOUT: ["timeout", "did not answer the connection in time"],
  UND_ERR_HEADERS_TIMEOUT: ["timeout", "sent no reply in time"],
  UND_ERR_BODY_TIMEOUT: ["timeout", "stopped sending"],
  UND_ERR_HEADERS_OVERFLOW: ["too_large", "sent more headers than are read"],
  UND_ERR_SOCKET: ["reset", "closed the connection"],
  UND_ERR_DESTROYED: ["closed", "is out of reach: the way out is closed"],
  UND_ERR_CLOSED: ["closed", "is out of reach: the way out is closed"],
  UND_ERR_ABORTED: ["aborted", "was given up"],
};

/** Names whatever a request or a body was ended by. */
export function egressErrorOf(thrown: unknown, host: string, signal?: AbortSignal): EgressError {
  if (signal?.aborted)
    return new EgressError("aborted", host, "the request was cancelled", { cause: thrown });
  if (thrown instanceof EgressError) return thrown;
  const error: NodeJS.ErrnoException = thrown instanceof Error ? thrown : new Error(String(thrown));
  const known = FAILURES[error.code ?? ""];
  if (known) return new EgressError(known[0], host, `${host} ${known[1]}`, { cause: thrown });
  const { failure, message } = transportErrorOf(error, host);
  const named = failure === "connect_timeout" ? "timeout" : failure === "redirect" ? "other" : failure;
  return new EgressError(named, host, message, { cause: thrown });
}
