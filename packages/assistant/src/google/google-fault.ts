import { messageOf } from "@retinue/core/schema/error";
import { parseRetryAfter } from "../service-tools/bounded-requests.ts";
import { isJsonObject, recordIn, textIn } from "../service-tools/read-json.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";

/** What was asked for, so that a failure can name it. */
type GoogleRequest = {
  /** Such as `message '18c'` or `the calendar`. */
  readonly about: string;
  readonly signal: AbortSignal;
  /** Takes secrets out of a text. */
  clean(text: string): string;
};

type GoogleReply = { readonly status: number; readonly headers: unknown; readonly data: unknown };

/** The command that fixes a refused or too narrow account. */
export const GOOGLE_SIGN_IN = "run `retinue accounts add google` again";

/** 403 with one of these is about how often, not about what. */
const RATE_REASONS: ReadonlySet<string> = new Set([
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "quotaExceeded",
  "dailyLimitExceeded",
  "RATE_LIMIT_EXCEEDED",
]);
const SCOPE_REASONS: ReadonlySet<string> = new Set([
  "insufficientPermissions",
  "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
]);
const LONGEST_MESSAGE = 300;

/** Any failure of a request to Google as the fault that the tools know; nothing of the request itself is kept. */
export function toGoogleFault(thrown: unknown, request: GoogleRequest): ToolFault {
  if (thrown instanceof ToolFault) return thrown;
  if (request.signal.aborted) {
    return new ToolFault("network", `the request for ${request.about} was cancelled`, { recoverable: false });
  }
  const answer = readGoogleReply(thrown);
  if (answer) return judgeReply(answer, request);
  const words = short(request.clean(messageOf(thrown)));
  return isTransport(thrown)
    ? new ToolFault("network", `Google could not be reached for ${request.about}: ${words}`)
    : new ToolFault("tool_error", `the request for ${request.about} failed: ${words}`);
}

function judgeReply({ status, headers, data }: GoogleReply, request: GoogleRequest): ToolFault {
  const { about } = request;
  const { reasons, message } = readGoogleError(data);
  const words = short(request.clean(message)) || `status ${status}`;
  const retryAfterMs = retryAfter(readReplyHeader(headers, "retry-after"), message);
  if (status === 401) return new ToolFault("auth", `Google refused the access token for ${about}: ${words}`);
  if (status === 429 || (status === 403 && reasons.some((reason) => RATE_REASONS.has(reason)))) {
    return new ToolFault("rate_limit", `Google limits requests for ${about}: ${words}`, { retryAfterMs });
  }
  if (status === 403) return new ToolFault("permission", forbidden(about, words, reasons));
  if (status === 408 || status >= 500) {
    return new ToolFault("network", `Google failed with status ${status} for ${about}: ${words}`, {
      retryAfterMs,
    });
  }
  return rejected(status, about, words);
}

function rejected(status: number, about: string, words: string): ToolFault {
  switch (status) {
    case 404:
      return new ToolFault("params", `Google has no ${about}`);
    case 409:
      return new ToolFault("params", `${about} exists already`);
    case 410:
      return new ToolFault("params", `${about} has been deleted`);
    case 412:
      return new ToolFault("params", `${about} has changed since it was read; read it again`);
    case 400:
    case 413:
    case 422:
      return new ToolFault("params", `Google did not accept the request for ${about}: ${words}`);
    default:
      return new ToolFault("tool_error", `Google answered with status ${status} for ${about}: ${words}`);
  }
}

function forbidden(about: string, words: string, reasons: readonly string[]): string {
  const isNarrow = reasons.some((reason) => SCOPE_REASONS.has(reason));
  const remedy = isNarrow ? `; the account was added without this right, ${GOOGLE_SIGN_IN}` : "";
  return `Google does not allow the request for ${about}: ${words}${remedy}`;
}

/** How long a service wants to be left alone: seconds or a date in the header, or a moment named in the message. */
export function retryAfter(
  header: string | undefined,
  message = "",
  now: number = Date.now(),
): number | undefined {
  const said = parseRetryAfter(header, now);
  if (said !== undefined) return said;
  const moment = Date.parse(/retry after (\d{4}-\d\d-\d\dT[\d:.]+Z)/i.exec(message)?.[1] ?? "");
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

/** What the body of a failed answer says; Google has three shapes of it. */
export function readGoogleError(data: unknown): {
  readonly reasons: readonly string[];
  readonly message: string;
} {
  const body = recordIn(data);
  const { error } = body;
  if (typeof error === "string") {
    return { reasons: [error], message: textIn(body.error_description) ?? error };
  }
  if (!isJsonObject(error)) return { reasons: [], message: typeof data === "string" ? data : "" };
  const entries = [error.errors, error.details].flatMap((list) => (Array.isArray(list) ? list : []));
  const reasons = entries.filter(isJsonObject).map((entry) => textIn(entry.reason) ?? "");
  return {
    reasons: [...reasons, textIn(error.status) ?? ""].filter(Boolean),
    message: textIn(error.message) ?? "",
  };
}

/** The answer that a failed request got, if it got one. */
export function readGoogleReply(thrown: unknown): GoogleReply | undefined {
  const response = isJsonObject(thrown) ? thrown.response : undefined;
  if (!isJsonObject(response) || typeof response.status !== "number") return undefined;
  return { status: response.status, headers: response.headers, data: response.data };
}

/** The client marks what failed on the way with the request it was about. */
function isTransport(thrown: unknown): boolean {
  return isJsonObject(thrown) && isJsonObject(thrown.config);
}

/** The client has its own class of headers beside the platform's. */
function readReplyHeader(headers: unknown, name: string): string | undefined {
  if (!isJsonObject(headers)) return undefined;
  const value = typeof headers.get === "function" ? headers.get(name) : headers[name];
  return typeof value === "string" ? value : undefined;
}

function short(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
}
