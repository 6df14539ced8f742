import { messageOf } from "../../schema/error.ts";
import { isRecord } from "../../schema/json-object.ts";
import type { ErrorType } from "../../schema/result.ts";
import { TransportError, type TransportReply } from "../../schema/transport.ts";
import { type CallContext, ModelError, modelError } from "../model-error.ts";

const MAX_ERROR_BYTES = 65_536;

/** Phrases by which hosted and local servers say that a request does not fit the model's context. */
const CONTEXT_OVERFLOW = new RegExp(
  [
    "context_length_exceeded",
    "exceed_context_size",
    "(maximum|max|available|model'?s?) (context|model|prompt|sequence) (length|size|window)",
    "context (length|size|window|limit) (is |was )?(exceeded|too)",
    "exceeds? (the )?(maximum |available |model'?s? )*context",
    "prompt is too long",
    "input is too long",
    "too many (input |prompt )?tokens",
    "input token count.{0,40}exceeds",
    "reduce the length of (the|your) (messages|prompt|input)",
    "(greater|longer|larger) than the (maximum )?(context|model) length",
    "context the overflows",
    "request_too_large",
    "n_ctx",
  ].join("|"),
  "i",
);
const CONTENT_FILTER =
  /content_filter|content_policy|content management policy|safety (system|filter)|moderation/i;
const NO_CREDIT = /insufficient_quota|insufficient (credit|balance|fund)|credit balance is too low|billing/i;
const WRONG_KEY = /API_KEY_INVALID|API key (not valid|not found|expired)/i;
const WRONG_MODEL =
  /model_not_found|model.{0,80}(not found|does not exist|not exist|unknown|not loaded)|not_found_error/i;

/** What a server said about its failure, in whichever shape. */
export type ServerComplaint = { message: string; code: string } & RetryHints;

/** Reads a failed reply to its end and names it. */
export async function readReplyError(reply: TransportReply, call: CallContext): Promise<ModelError> {
  const complaint = parseComplaint(await reply.text(MAX_ERROR_BYTES));
  return createComplaintError(complaint, call, reply.status, retryAfterMs(reply.headers, Date.now()));
}

/** Names an error that a server sent with a status, or inside its stream without one. */
export function createComplaintError(
  complaint: ServerComplaint,
  call: CallContext,
  status?: number,
  retryAfter = complaint.retryAfterMs,
): ModelError {
  const type = classifyFailure(complaint, status);
  return modelError(call, {
    type,
    message: complaint.message || complaint.code,
    recoverable: isRecoverable(type, complaint, status),
    hint: findHint(type, complaint, call),
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  });
}

function classifyFailure({ message, code }: ServerComplaint, status = readStatusCode(code)): ErrorType {
  const said = `${code} ${message}`;
  // Google words every rate limit like an unpaid bill.
  if (status === 429 && /RESOURCE_EXHAUSTED/.test(code)) return "rate_limit";
  if (WRONG_KEY.test(said)) return "auth";
  if (NO_CREDIT.test(said) && status !== undefined && status < 500) return "auth";
  if (CONTEXT_OVERFLOW.test(said) && status !== 401 && status !== 403 && status !== 429)
    return "context_overflow";
  if (CONTENT_FILTER.test(said) && status !== 429) return "content_filter";
  if (status === undefined) return classifyCode(code);
  if (status === 401 || status === 402 || status === 403) return "auth";
  if (status === 404 || (status < 500 && WRONG_MODEL.test(said))) return "config";
  if (status === 413) return "context_overflow";
  if (status === 429) return "rate_limit";
  if (status === 408 || status === 504) return "timeout";
  return status >= 500 && status !== 501 ? "overloaded" : "bad_response";
}

/** Errors inside a stream carry the HTTP status as their code, if anything. */
function readStatusCode(code: string): number | undefined {
  return /^[45]\d\d( |$)/.test(code) ? Number(code.slice(0, 3)) : undefined;
}

function classifyCode(code: string): ErrorType {
  if (/rate_limit|resource_exhausted/i.test(code)) return "rate_limit";
  if (/auth|permission|api_key/i.test(code)) return "auth";
  if (/timeout|deadline/i.test(code)) return "timeout";
  if (/not_found/i.test(code)) return "config";
  if (/overloaded|server_error|api_error|unavailable|internal/i.test(code)) return "overloaded";
  return "bad_response";
}

/**
 * A request the server calls wrong stays wrong; an error without a status came in the middle of an accepted one. Of the
 * other types each has its rule, but a limit of the day is not lifted by waiting a little.
 */
function isRecoverable(type: ErrorType, { usedUp }: RetryHints, status?: number): boolean | undefined {
  if (type === "rate_limit" && usedUp) return false;
  return type === "bad_response" ? status === undefined : undefined;
}

function findHint(type: ErrorType, complaint: ServerComplaint, call: CallContext): string | undefined {
  if (type === "config") return "check the model's name";
  if (type !== "auth") return undefined;
  if (NO_CREDIT.test(`${complaint.code} ${complaint.message}`)) return "the account has no credit left";
  return call.apiKeyEnv
    ? `check the key in ${call.apiKeyEnv}`
    : `check the key of provider '${call.provider}'`;
}

/** Finds code and message in an error body: JSON of any known shape, else the text itself. */
export function parseComplaint(body: string): ServerComplaint {
  try {
    return readComplaint(JSON.parse(body));
  } catch {
    const text = /^\s*</.test(body)
      ? body.replace(/<(style|script)[\s\S]*?<\/\1>|<[^>]{0,500}>/gi, " ")
      : body;
    return { message: text.replace(/\s+/g, " ").trim().slice(0, 500), code: "" };
  }
}

/** The same for a value that is parsed already. */
export function readComplaint(value: unknown): ServerComplaint {
  if (typeof value === "string") return { message: value, code: "" };
  if (Array.isArray(value)) return readComplaint(value[0] ?? "");
  if (!isRecord(value)) return { message: "", code: "" };
  const nested = value.error ?? value.errors;
  if (nested !== undefined && nested !== null && typeof nested !== "boolean") {
    const inner = readComplaint(nested);
    return {
      ...inner,
      message: inner.message || showText(value.message),
      code: inner.code || joinCodes(value),
    };
  }
  const message = showText(value.message) || showText(value.detail);
  return { message, code: joinCodes(value), ...readRetryHints(value) };
}

function showText(value: unknown): string {
  return typeof value === "string"
    ? value
    : value === undefined || value === null
      ? ""
      : JSON.stringify(value);
}

/** OpenAI names the cause in `code` and the family in `type`, Anthropic only in `type`, Google in `status`. */
function joinCodes(value: Record<string, unknown>): string {
  return [value.code, value.type, value.status]
    .filter((part) => typeof part === "string" || typeof part === "number")
    .filter((part) => part !== "error")
    .join(" ");
}

/** Names whatever ended a call: cancellation first, since it makes everything else fail too. */
export function createThrownError(thrown: unknown, call: CallContext, signal?: AbortSignal): ModelError {
  if (signal?.aborted) return cancellation(signal.reason, call);
  if (thrown instanceof ModelError) return thrown;
  if (!(thrown instanceof TransportError)) {
    return modelError(call, { type: "bad_response", message: messageOf(thrown), cause: thrown });
  }
  const type =
    thrown.failure === "connect_timeout" ? "timeout" : thrown.failure === "redirect" ? "config" : "network";
  return modelError(call, {
    type,
    message: thrown.message,
    recoverable: type !== "config" && thrown.failure !== "tls" && thrown.failure !== "closed",
    hint: type === "config" ? "put the final address into baseUrl" : undefined,
    cause: thrown,
  });
}

/** A signal aborted with a ModelError passes it on; one of `AbortSignal.timeout` is a timeout. */
function cancellation(reason: unknown, call: CallContext): ModelError {
  if (reason instanceof ModelError) return reason;
  const timedOut = reason instanceof Error && reason.name === "TimeoutError";
  const message = timedOut ? "no complete reply in time" : "the call was cancelled";
  return modelError(call, { type: timedOut ? "timeout" : "cancelled", message, cause: reason });
}

/** How long the server asks to wait by its headers: milliseconds, seconds or a date. */
export function retryAfterMs(headers: TransportReply["headers"], nowMs: number): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(exact)) return Math.max(0, exact);
  const value = headers["retry-after"];
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, Math.round(ms)) : undefined;
}

/** What the body of a refusal tells about waiting: Google's details, or words in the message. */
export type RetryHints = {
  retryAfterMs?: number;
  /** A limit that waiting a little does not lift. */
  usedUp?: boolean;
};

/** Reads the hints of an error object. */
export function readRetryHints(error: Readonly<Record<string, unknown>>): RetryHints {
  const details = Array.isArray(error.details) ? error.details.filter(isRecord) : [];
  const delays = details.map((detail) => durationMs(detail.retryDelay));
  const message = typeof error.message === "string" ? error.message : "";
  const said = /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)/i.exec(message)?.[1];
  const waitMs = delays.find((delay) => delay !== undefined) ?? durationMs(said);
  const usedUp = details.some((detail) =>
    /PerDay/.test(JSON.stringify([detail.violations, detail.metadata])),
  );
  return { ...(waitMs !== undefined && { retryAfterMs: waitMs }), ...(usedUp && { usedUp }) };
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** Milliseconds of a duration such as `37.5s` or `6m0s`. */
function durationMs(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^(\d+(\.\d+)?(ms|h|m|s))+$/i.test(value)) return undefined;
  let total = 0;
  for (const [, amount, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/gi))
    total += Number(amount) * (UNIT_MS[unit?.toLowerCase() ?? ""] ?? 0);
  return Math.round(total);
}
