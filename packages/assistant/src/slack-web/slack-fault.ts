import { findOwn } from "@retinue/core/schema/find-own";
import type { FetchFunction } from "@slack/web-api";
import { parseRetryAfter, readBoundedBody } from "../service-tools/bounded-requests.ts";
import { type JsonObject, numberIn, recordIn, textIn } from "../service-tools/read-json.ts";
import { type FaultType, ToolFault } from "../service-tools/tool-fault.ts";

/** What a person does when a token no longer works and cannot be renewed. */
export const SLACK_SIGN_IN = "run `retinue accounts add slack` again";

/** What was asked, as far as it changes what a refusal means. */
type SlackRequest = {
  readonly method: string;
  /** The channel was listed before, so that "not found" means "not for you". */
  readonly knownChannel?: boolean | undefined;
};

const AUTH = splitCodes(
  "not_authed invalid_auth token_expired token_revoked account_inactive org_login_required",
);
const PERMISSION = splitCodes(
  `missing_scope not_in_channel is_archived not_allowed_token_type access_denied no_permission ekm_access_denied
  team_access_not_granted accesslimited cannot_dm_bot messages_tab_disabled user_is_restricted not_allowed paid_only
  user_disabled cant_post_to_channel`,
);
const PARAMS = splitCodes(
  `channel_not_found user_not_found users_not_found user_not_visible thread_not_found message_not_found msg_too_long
  no_text no_query missing_argument cannot_reply_to_message users_list_not_supplied too_many_users metadata_too_large
  method_not_supported_for_channel_type`,
);
const RATE_LIMIT = splitCodes("ratelimited rate_limited");
const NETWORK = splitCodes("fatal_error internal_error service_unavailable request_timeout");
const MEANINGS: Readonly<Record<string, string>> = {
  not_in_channel: "the app is not a member of the channel; invite it there first",
  is_archived: "the channel is archived",
  channel_not_found: "there is no such channel, or it is private and the app is not a member",
  user_not_found: "there is no such person",
  users_not_found: "there is nobody with this address",
  thread_not_found: "there is no such thread",
  msg_too_long: "the text is too long",
  no_text: "the text is empty",
  token_expired: "the token has expired",
  token_revoked: "the token was revoked",
  account_inactive: "the account behind the token is gone",
  cannot_dm_bot: "a bot cannot be written to",
};

/** Anything that Slack's client throws as a fault. Of the error only checked words are taken, so that no secret can be in it. */
export function toSlackFault(thrown: unknown, asked: SlackRequest): ToolFault {
  if (thrown instanceof ToolFault) return thrown;
  const { original, data } = recordIn(thrown);
  if (original instanceof ToolFault) return original;
  const answer = recordIn(data);
  const code = codeIn(answer);
  if (code === undefined) {
    return new ToolFault("tool_error", `Slack's answer to ${asked.method} cannot be understood`);
  }
  const type = faultType(code, asked);
  const seconds = numberIn(recordIn(answer.response_metadata).retryAfter);
  return new ToolFault(type, messageFor(code, answer, asked), {
    retryAfterMs: type === "rate_limit" && seconds !== undefined ? seconds * 1000 : undefined,
  });
}

function faultType(code: string, { knownChannel }: SlackRequest): FaultType {
  if (AUTH.has(code)) return "auth";
  if (code === "channel_not_found" && knownChannel) return "permission";
  if (PERMISSION.has(code) || code.startsWith("restricted_action")) return "permission";
  if (RATE_LIMIT.has(code)) return "rate_limit";
  if (NETWORK.has(code)) return "network";
  return PARAMS.has(code) || code.startsWith("invalid_") ? "params" : "tool_error";
}

function messageFor(code: string, answer: JsonObject, { method, knownChannel }: SlackRequest): string {
  if (code === "missing_scope") {
    const needed = textIn(answer.needed);
    const scope =
      needed !== undefined && /^[\w.:,| -]{1,200}$/.test(needed) ? `the scope '${needed}'` : "a scope";
    return `the Slack app lacks ${scope}, which ${method} needs (missing_scope)`;
  }
  const meaning =
    code === "channel_not_found" && knownChannel
      ? "the app may not enter this channel"
      : findOwn(MEANINGS, code);
  return `Slack refused ${method}: ${meaning ? `${meaning} (${code})` : code}`;
}

/** Slack's word for what went wrong; a proxy's page in its place is none. */
function codeIn(answer: JsonObject): string | undefined {
  const code = textIn(answer.error);
  return code !== undefined && /^[a-z][a-z0-9_]{0,79}$/.test(code) ? code : undefined;
}

function splitCodes(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

/** An answer longer than this is not Slack's. */
const MAX_BYTES = 32 * 1024 * 1024;

/** What bounds one request. */
type Bounds = {
  /** What is asked, for messages. */
  readonly method: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly now: () => number;
};

/** A `fetch` for Slack's client that ends in time, reads the whole answer within a bound, and raises faults. */
export function createBoundedFetch(bounds: Bounds): FetchFunction {
  return async (url, init) => {
    const body = { maxBytes: MAX_BYTES, about: `Slack's answer to ${bounds.method}` };
    const timeout = AbortSignal.timeout(bounds.timeoutMs);
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.any([bounds.signal, timeout]) });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw statusFault(response, bounds);
      }
      return new Response(await readBoundedBody(response, body), {
        headers: { "retry-after": response.headers.get("retry-after") ?? "" },
      });
    } catch (thrown) {
      throw requestFault(thrown, timeout, bounds);
    }
  };
}

function statusFault({ status, headers }: Response, { method, now }: Bounds): ToolFault {
  const message = `Slack answered ${method} with HTTP ${status}`;
  if (status === 429) {
    return new ToolFault("rate_limit", `Slack wants to be asked less often (${method})`, {
      retryAfterMs: parseRetryAfter(headers.get("retry-after"), now()),
    });
  }
  if (status >= 500 || status === 408) return new ToolFault("network", message);
  if (status === 401) return new ToolFault("auth", message);
  if (status === 403) return new ToolFault("permission", message);
  return new ToolFault(status === 400 ? "params" : "tool_error", message);
}

function requestFault(thrown: unknown, timeout: AbortSignal, bounds: Bounds): ToolFault {
  const { method, signal, timeoutMs } = bounds;
  if (thrown instanceof ToolFault) return thrown;
  if (signal.aborted) return new ToolFault("tool_error", `the request to Slack was cancelled (${method})`);
  if (timeout.aborted) {
    return new ToolFault("network", `Slack gave no answer to ${method} within ${timeoutMs / 1000} s`);
  }
  const code = readErrorCode(thrown);
  return new ToolFault("network", `no connection to Slack for ${method}${code ? ` (${code})` : ""}`);
}

/** Such as `ECONNRESET`; the message itself is not passed on. */
function readErrorCode(thrown: unknown): string | undefined {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? code : undefined;
}
