/** Why a page was not got. `dns`, `refused`, `reset` and `tls` say where a connection failed. */
export type FetchFailure =
  | "bad_url"
  | "blocked"
  | "robots"
  | "not_found"
  | "rate_limited"
  | "http_error"
  | "redirect_loop"
  | "not_html"
  | "too_large"
  | "bad_encoding"
  | "timeout"
  | "dns"
  | "refused"
  | "reset"
  | "tls"
  | "aborted";

/** A page as text, with what its server said of it. */
export type GotPage = {
  status: "ok";
  /** Where the page was in the end, after redirects. */
  url: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Size of the body once decoded. */
  bytes: number;
  /** Without its parameters, in lower case. */
  contentType: string;
  charset: string;
  text: string;
};

/** A page that was not got, and why. */
export type FailedFetch = {
  status: "failed";
  kind: FetchFailure;
  /** The address that failed, after redirects; as it was given if it is no address. */
  url: string;
  httpStatus?: number;
  /** When the server asks to come back. */
  retryAfterMs?: number;
  /** What the server sent instead of a page, for `not_html`. */
  contentType?: string;
  message: string;
};

/** What came of asking for a page. */
export type FetchOutcome = GotPage | FailedFetch;

/** A failure on its way up inside a fetch; never leaves `fetchPage`. */
export class FetchProblem extends Error {
  readonly kind: FetchFailure;
  readonly more: Pick<FailedFetch, "httpStatus" | "retryAfterMs" | "contentType">;

  constructor(kind: FetchFailure, message: string, more: FetchProblem["more"] = {}) {
    super(message);
    this.name = "FetchProblem";
    this.kind = kind;
    this.more = more;
  }
}
