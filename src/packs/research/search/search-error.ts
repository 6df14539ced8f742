/** Why a search gave nothing: what a person must set right, what may pass, and what the other side did wrong. */
export type SearchFailure =
  | "config"
  | "auth"
  | "rate_limited"
  | "refused"
  | "unavailable"
  | "unreachable"
  | "timeout"
  | "bad_reply"
  | "cancelled";

/** A search that failed, in words for a model and a person. Never holds a key. */
export class SearchError extends Error {
  override name = "SearchError";
  readonly failure: SearchFailure;
  readonly provider: string;
  /** When the provider said that it may be asked again. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: SearchFailure, provider: string, message: string, retryAfterMs?: number) {
    super(message);
    this.failure = failure;
    this.provider = provider;
    this.retryAfterMs = retryAfterMs;
  }
}
