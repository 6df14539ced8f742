// Requests to Slack: one request per call, every failure a fault, and the renewal of tokens.

import { findOwn } from "@retinue/core/schema/find-own";
import type { FetchFunction, Logger, LogLevel, WebClient } from "@slack/web-api";
import {
  createRenewal,
  eachPage,
  fetchWhole,
  findStatusFault,
  type JsonObject,
  numberIn,
  recordIn,
  recordsIn,
  textIn,
} from "../service-tools/service-requests.ts";
import { type FaultType, isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";

/** Tokens of a workspace after they were renewed. The former refresh token is void by then. */
export type SlackTokens = {
  readonly token: string;
  readonly refreshToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
};

/** How a workspace is reached. */
export type SlackConfig = {
  /** Of a bot or of a user. */
  readonly token: string;
  /** Of a user; Slack's search works with no other. */
  readonly userToken?: string | undefined;
  /** Another place than Slack's own. */
  readonly apiUrl?: string | undefined;
  /** Set where the app rotates its tokens. */
  readonly refresh?:
    | { readonly clientId: string; readonly clientSecret: string; readonly refreshToken: string }
    | undefined;
  /** Keeps renewed tokens; is awaited. */
  readonly onTokens?: ((tokens: SlackTokens) => Promise<void> | void) | undefined;
  readonly now?: (() => number) | undefined;
  /** How long one request may take; 30 s if not said. */
  readonly timeoutMs?: number | undefined;
};

/** What is special about one call. */
type CallOptions = {
  /** With the user's token. */
  readonly asUser?: boolean;
  /** The channel was listed before, so "not found" means "no access". */
  readonly knownChannel?: boolean | undefined;
};

/** Slack's methods. Each call is one request, and every failure a `ToolFault`. */
export type SlackApi = {
  /** There is a token that Slack's search accepts. */
  readonly canSearch: boolean;
  now(): number;
  call(method: string, args: JsonObject, signal: AbortSignal, options?: CallOptions): Promise<JsonObject>;
  refresh(signal: AbortSignal): Promise<void>;
};

const TIMEOUT_MS = 30_000;
/** An answer longer than this is not Slack's. */
const MAX_BYTES = 32 * 1024 * 1024;
const PAGE = 999;

/** Creates the way to one workspace; the client is loaded at the first call. */
export function createSlackApi(config: SlackConfig): SlackApi {
  const { now = Date.now, timeoutMs = TIMEOUT_MS } = config;
  let token = config.token;
  let refreshToken = config.refresh?.refreshToken;
  const searchToken = () => config.userToken ?? (isUserToken(token) ? token : undefined);

  async function request(
    method: string,
    args: JsonObject,
    signal: AbortSignal,
    options: CallOptions & { token?: string },
  ) {
    try {
      const fetch = createBoundedFetch(method, { signal, timeoutMs, now });
      const client = await createClient(options.token, config.apiUrl, fetch);
      return recordIn(await client.apiCall(method, { ...args }));
    } catch (thrown) {
      throw toSlackFault(thrown, { method, knownChannel: options.knownChannel });
    }
  }

  /** Runs to its end even if its caller stops waiting: a renewed token that nobody keeps would lock the owner out. */
  async function renew(): Promise<void> {
    if (!config.refresh || refreshToken === undefined) throw askForSignIn("Slack refused the token");
    const { clientId: client_id, clientSecret: client_secret } = config.refresh;
    const args = { client_id, client_secret, grant_type: "refresh_token", refresh_token: refreshToken };
    const unending = new AbortController().signal;
    const answer = await request("oauth.v2.access", args, unending, {}).catch(refuseRenewal);
    const renewed = readTokens(answer, refreshToken, now());
    ({ token, refreshToken } = renewed);
    await keepTokens(config, renewed);
  }

  return {
    get canSearch() {
      return searchToken() !== undefined;
    },
    now,
    call: (method, args, signal, options = {}) =>
      request(method, args, signal, { ...options, token: (options.asUser && searchToken()) || token }),
    refresh: createRenewal(renew),
  };
}

async function createClient(
  token: string | undefined,
  apiUrl: string | undefined,
  fetch: ReturnType<typeof createBoundedFetch>,
): Promise<WebClient> {
  const slack = await import("@slack/web-api");
  return new slack.WebClient(token, {
    fetch,
    logger: createSilentLogger(slack.LogLevel.ERROR),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
  });
}

/** Everything the client would print is in the fault, and standard output belongs to the program. */
function createSilentLogger(level: LogLevel): Logger {
  const nothing = () => {};
  return {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: nothing,
    setLevel: nothing,
    setName: nothing,
    getLevel: () => level,
  };
}

function readTokens(answer: JsonObject, former: string, now: number): SlackTokens {
  const token = textIn(answer.access_token);
  if (token === undefined) throw askForSignIn("Slack gave no new token");
  const seconds = numberIn(answer.expires_in);
  const expiresAt = seconds === undefined ? undefined : now + seconds * 1000;
  return { token, refreshToken: textIn(answer.refresh_token) ?? former, expiresAt };
}

async function keepTokens({ onTokens }: SlackConfig, tokens: SlackTokens): Promise<void> {
  try {
    await onTokens?.(tokens);
  } catch {
    throw new ToolFault("tool_error", "Slack gave a new token, but it could not be kept");
  }
}

function refuseRenewal(thrown: unknown): never {
  throw isServiceFault(thrown, "network", "rate_limit")
    ? thrown
    : askForSignIn("Slack did not renew the token");
}

function askForSignIn(why: string): ToolFault {
  return new ToolFault("auth", `${why}; ${SLACK_SIGN_IN}`);
}

function isUserToken(token: string): boolean {
  return /^(xoxe\.)?xoxp-/.test(token);
}

/** All items of a listing, page by page up to a cap. */
export async function listAll(
  api: SlackApi,
  {
    method,
    field,
    cap,
    ...args
  }: { method: string; field: string; cap: number; types?: string; exclude_archived?: boolean },
  signal: AbortSignal,
): Promise<{ readonly items: readonly JsonObject[]; readonly isWhole: boolean }> {
  const items: JsonObject[] = [];
  const seen = new Set<string>();
  for await (const { answer, next } of callPages(api, method, () => ({ ...args, limit: PAGE }), signal)) {
    items.push(...recordsIn(answer[field]));
    if (next !== undefined && seen.has(next))
      throw new ToolFault("tool_error", `Slack's ${method} goes in circles`);
    seen.add(next ?? "");
    if (next === undefined) return { items: items.slice(0, cap), isWhole: items.length <= cap };
    if (items.length >= cap) break;
  }
  return { items: items.slice(0, cap), isWhole: false };
}

/** The answers of a method page by page, each with where the next one begins; `args` is asked before each page. */
export function callPages(
  api: SlackApi,
  method: string,
  args: () => JsonObject,
  signal: AbortSignal,
  options: CallOptions = {},
): AsyncGenerator<{ readonly answer: JsonObject; readonly next: string | undefined }> {
  const fetchPage = async (cursor: string | undefined) => {
    const answer = await api.call(method, { ...args(), cursor }, signal, options);
    return { answer, next: textIn(recordIn(answer.response_metadata).next_cursor) };
  };
  return eachPage(fetchPage, ({ next }) => next);
}

/** What a person does when a token no longer works and cannot be renewed. */
const SLACK_SIGN_IN = "run `retinue accounts add slack` again";

/** The request, as far as it changes what a refusal means. */
type SlackRequest = Pick<CallOptions, "knownChannel"> & { readonly method: string };

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
function toSlackFault(thrown: unknown, asked: SlackRequest): ToolFault {
  if (thrown instanceof ToolFault) return thrown;
  const { original, data } = recordIn(thrown);
  if (original instanceof ToolFault) return original;
  const answer = recordIn(data);
  const code = readCode(answer);
  if (code === undefined) {
    return new ToolFault("tool_error", `Slack's answer to ${asked.method} cannot be understood`);
  }
  const type = chooseFaultType(code, asked);
  const seconds = numberIn(recordIn(answer.response_metadata).retryAfter);
  return new ToolFault(type, explainCode(code, answer, asked), {
    retryAfterMs: type === "rate_limit" && seconds !== undefined ? seconds * 1000 : undefined,
  });
}

function chooseFaultType(code: string, { knownChannel }: SlackRequest): FaultType {
  if (AUTH.has(code)) return "auth";
  if (code === "channel_not_found" && knownChannel) return "permission";
  if (PERMISSION.has(code) || code.startsWith("restricted_action")) return "permission";
  if (RATE_LIMIT.has(code)) return "rate_limit";
  if (NETWORK.has(code)) return "network";
  return PARAMS.has(code) || code.startsWith("invalid_") ? "params" : "tool_error";
}

function explainCode(code: string, answer: JsonObject, { method, knownChannel }: SlackRequest): string {
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

/** Slack's error code; undefined in the page of a proxy. */
function readCode(answer: JsonObject): string | undefined {
  const code = textIn(answer.error);
  return code !== undefined && /^[a-z][a-z0-9_]{0,79}$/.test(code) ? code : undefined;
}

function splitCodes(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

/** A `fetch` for Slack's client that ends in time, reads the whole answer within a bound, and raises faults. */
function createBoundedFetch(
  method: string,
  { signal, timeoutMs, now }: { signal: AbortSignal; timeoutMs: number; now: () => number },
): FetchFunction {
  return async (url, init) => {
    const bounds = { signal, timeoutMs, maxBytes: MAX_BYTES, service: "Slack", about: method };
    const { response } = await fetchWhole(url, init ?? {}, bounds);
    const { status } = response;
    if (status === 200) return response;
    const said = `Slack answered ${method} with HTTP ${status}`;
    const fault = findStatusFault(response, said, now());
    throw fault ?? new ToolFault(status === 400 ? "params" : "tool_error", said);
  };
}
