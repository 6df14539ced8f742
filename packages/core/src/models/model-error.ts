import type { ErrorType } from "../schema/result.ts";

/** What a failed model call is made of. */
export type ModelErrorDetails = {
  type: ErrorType;
  message: string;
  status?: number;
  retryAfterMs?: number;
  /** Whether the same call may succeed later; decided by the type if absent. */
  recoverable?: boolean;
  hint?: string;
  cause?: unknown;
};

const RECOVERABLE: ReadonlySet<ErrorType> = new Set([
  "rate_limit",
  "overloaded",
  "network",
  "timeout",
  "bad_response",
]);

/** A failed model call. Its fields are those of a `RunError`; the message never holds a key. */
export class ModelError extends Error {
  readonly type: ErrorType;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly recoverable: boolean;
  readonly hint: string | undefined;

  constructor(details: ModelErrorDetails) {
    super(details.message, { cause: details.cause });
    this.name = "ModelError";
    this.type = details.type;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.recoverable = details.recoverable ?? RECOVERABLE.has(details.type);
    this.hint = details.hint;
  }
}

/** Which call an error speaks of. */
export type CallContext = {
  provider: string;
  modelId: string;
  /** Host and port of the server. */
  host: string;
  /** Variable that holds the key, for the hint of an auth error. */
  apiKeyEnv?: string;
  /** Values that must never show up in a message. */
  secrets: readonly string[];
};

const LONGEST_MESSAGE = 500;

/** Builds the one sentence all model errors share: provider/model at host, status, what was said, hint. */
export function modelError(call: CallContext, details: ModelErrorDetails): ModelError {
  const place = `${call.provider}/${call.modelId} at ${call.host}`;
  const status = details.status === undefined ? "" : ` answered ${details.status}`;
  const said = withoutSecrets(details.message, call.secrets).replace(/\s+/g, " ").trim();
  const short = said.length > LONGEST_MESSAGE ? `${said.slice(0, LONGEST_MESSAGE)}…` : said;
  const hint = details.hint ? ` (${details.hint})` : "";
  return new ModelError({ ...details, message: `${place}${status}: ${short || "no message"}${hint}` });
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) if (secret) clean = clean.replaceAll(secret, "[key]");
  return clean.replace(/\b(sk-|AIza|Bearer )[A-Za-z0-9*._-]{8,}/g, "[key]");
}

/** A reply that cannot be used; asking again may bring a better one. */
export function brokenReply(call: CallContext, message: string): ModelError {
  return modelError(call, { type: "bad_response", message });
}
