import { ToolFault } from "../errors/tool-fault.ts";

/** What is read of an error of the IMAP or SMTP client. */
type ClientError = {
  readonly code?: unknown;
  readonly responseText?: unknown;
  readonly serverResponseCode?: unknown;
  readonly authenticationFailed?: unknown;
  readonly throttleReset?: unknown;
  readonly responseStatus?: unknown;
};

const NETWORK =
  /^(E(CONN|TIMEDOUT|TIMEOUT|PIPE|HOST|NET|AI_AGAIN|NOTFOUND|DNS|SOCKET|CONNECTION)|NoConnection|EConnectionClosed|StateLogout|Closed|CONNECT_|GREETING_|UPGRADE_TIMEOUT|LockTimeout|Unavailable)/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/;

/** Any error of the IMAP client as a fault of the service. */
export function imapFault(error: unknown): ToolFault {
  if (error instanceof ToolFault) return error;
  const { code, responseText, serverResponseCode, authenticationFailed, throttleReset }: ClientError =
    typeof error === "object" && error !== null ? error : {};
  const words = typeof responseText === "string" ? responseText : error instanceof Error ? error.message : "";
  const said = `the mail server said: ${words.slice(0, 300)}`;
  const answer = String(serverResponseCode ?? "");
  const name = String(code ?? "");
  const cause = { cause: error };
  if (answer === "UNAVAILABLE" || answer === "INUSE") return new ToolFault("network", said, cause);
  if (authenticationFailed === true || answer === "AUTHENTICATIONFAILED" || answer === "EXPIRED")
    return new ToolFault("auth", `the mail server refused the password; ${said}`, cause);
  if (name === "ETHROTTLE" || answer === "LIMIT")
    return new ToolFault("rate_limit", said, {
      ...cause,
      ...(typeof throttleReset === "number" && { retryAfterMs: throttleReset }),
    });
  if (answer === "NOPERM") return new ToolFault("permission", said, cause);
  if (CERTIFICATE.test(name))
    return new ToolFault("tool_error", `the mail server's certificate is not trusted: ${words}`, cause);
  if (NETWORK.test(name))
    return new ToolFault("network", `the connection to the mail server failed: ${words}`, cause);
  return new ToolFault("tool_error", said, cause);
}
