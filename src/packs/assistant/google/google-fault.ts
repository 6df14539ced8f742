import { messageOf } from "../../../schema/error.ts";
import { ToolFault } from "../errors/tool-fault.ts";

/** What was asked for, so that a failure can name it. */
export type Request = {
  /** Such as `message '18c'` or `the calendar`. */
  readonly about: string;
  readonly signal: AbortSignal;
  /** Takes secrets out of a text. */
  clean(text: string): string;
};

type Answer = { readonly status: number; readonly headers: unknown; readonly data: unknown };

/** The command that mends a refused or too narrow account. */
export const SIGN_IN_AGAIN = "run `retinue accounts add google` again";

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
export function googleFault(thrown: unknown, request: Request): ToolFault {
  if (thrown instanceof ToolFault) return thrown;
  if (request.signal.aborted) {
    return new ToolFault("network", `the request for ${request.about} was cancelled`, { recoverable: false });
  }
  const answer = answerOf(thrown);
  if (answer) return faultOfAnswer(answer, request);
  const words = short(request.clean(messageOf(thrown)));
  return isTransport(thrown)
    ? new ToolFault("network", `Google could not be reached for ${request.about}: ${words}`)
    : new ToolFault("tool_error", `the request for ${request.about} failed: ${words}`);
}

function faultOfAnswer({ status, headers, data }: Answer, request: Request): ToolFault {
  const { about } = request;
  const { reasons, message } = errorOf(data);
  const words = short(request.clean(message)) || `status ${status}`;
  const retryAfterMs = retryAfter(headerOf(headers, "retry-after"), message);
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
  const remedy = isNarrow ? `; the account was added without this right, ${SIGN_IN_AGAIN}` : "";
  return `Google does not allow the request for ${about}: ${words}${remedy}`;
}

/** How long a service wants to be left alone: seconds or a date in the header, or a moment named in the message. */
export function retryAfter(
  header: string | undefined,
  message = "",
  now: number = Date.now(),
): number | undefined {
  const value = header?.trim();
  if (value && /^\d+$/.test(value)) return Number(value) * 1_000;
  const dated = value && /^[a-z]{3}/i.test(value) ? value : undefined;
  const named = dated ?? /retry after (\d{4}-\d\d-\d\dT[\d:.]+Z)/i.exec(message)?.[1];
  const moment = named ? Date.parse(named) : Number.NaN;
  return Number.isNaN(moment) ? undefined : Math.max(0, moment - now);
}

/** What the body of a failed answer says; Google has three shapes of it. */
export function errorOf(data: unknown): { readonly reasons: readonly string[]; readonly message: string } {
  const body = isRecord(data) ? data : {};
  const { error } = body;
  if (typeof error === "string") {
    return { reasons: [error], message: textOf(body.error_description) || error };
  }
  if (!isRecord(error)) return { reasons: [], message: typeof data === "string" ? data : "" };
  const entries = [error.errors, error.details].flatMap((list) => (Array.isArray(list) ? list : []));
  const reasons = entries.filter(isRecord).map((entry) => textOf(entry.reason));
  return { reasons: [...reasons, textOf(error.status)].filter(Boolean), message: textOf(error.message) };
}

/** The answer that a failed request got, if it got one. */
export function answerOf(thrown: unknown): Answer | undefined {
  const response = isRecord(thrown) ? thrown.response : undefined;
  if (!isRecord(response) || typeof response.status !== "number") return undefined;
  return { status: response.status, headers: response.headers, data: response.data };
}

/** The client marks what failed on the way with the request it was about. */
function isTransport(thrown: unknown): boolean {
  return isRecord(thrown) && isRecord(thrown.config);
}

/** The client has its own class of headers beside the platform's. */
function headerOf(headers: unknown, name: string): string | undefined {
  if (!isRecord(headers)) return undefined;
  const value = typeof headers.get === "function" ? headers.get(name) : headers[name];
  return typeof value === "string" ? value : undefined;
}

function short(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
