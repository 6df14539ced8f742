import { TransportError, type TransportFailure } from "../schema/transport.ts";

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
export function readTransportError(error: NodeJS.ErrnoException, host: string): TransportError {
  const code = error.code;
  const failure = nameFailure(code);
  const said = SAID[failure] ?? `failed: ${error.message}`;
  const message = `${host} ${said}${code ? ` (${code})` : ""}`;
  return new TransportError(failure, host, message, { cause: error, ...(code && { code }) });
}

function nameFailure(code: string | undefined): TransportFailure {
  if (!code) return "other";
  const known = FAILURES[code];
  if (known) return known;
  if (code.startsWith("HPE_")) return "protocol";
  if (/CERT|SELF_SIGNED|TLS|SSL|UNABLE_TO_/.test(code)) return "tls";
  return "other";
}
