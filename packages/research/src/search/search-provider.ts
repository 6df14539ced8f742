import type { ToolContext } from "@retinue/core/tools/tool";

/** Why a search gave nothing: what a person must set right, what may pass, and what the other side did wrong. */
type SearchFailure =
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

/** One hit of a search. */
export type SearchHit = { title: string; url: string; snippet: string };

/** How a search is made, and for which run. */
export type SearchOptions = {
  limit: number;
  signal: AbortSignal;
  run: Pick<ToolContext, "projectDir" | "workspaceDir" | "maySee" | "progress">;
};

/** Where searches go: local documents, or a search engine. */
export type SearchProvider = {
  readonly name: string;
  /** Hosts that a search talks to, which rules may name. */
  readonly hosts: readonly string[];
  search(query: string, options: SearchOptions): Promise<readonly SearchHit[]>;
  /** Lets go of what it holds open. */
  close?(): Promise<void> | void;
};
