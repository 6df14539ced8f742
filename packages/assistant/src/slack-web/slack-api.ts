import { orAborted } from "@retinue/core/net/or-aborted";
import type { Logger, LogLevel, WebClient } from "@slack/web-api";
import { type JsonObject, numberIn, recordIn, recordsIn, textIn } from "../service-tools/read-json.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import { createBoundedFetch, SLACK_SIGN_IN, toSlackFault } from "./slack-fault.ts";

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
export type CallOptions = {
  /** With the user's token. */
  readonly asUser?: boolean;
  /** The channel was listed before. */
  readonly knownChannel?: boolean;
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
const PAGE = 999;
/** Slack may give less than was asked for, but not forever. */
const MAX_PAGES = 100;

/** Creates the way to one workspace; the client is loaded at the first call. */
export function createSlackApi(config: SlackConfig): SlackApi {
  const { now = Date.now, timeoutMs = TIMEOUT_MS } = config;
  let token = config.token;
  let refreshToken = config.refresh?.refreshToken;
  let renewing: Promise<void> | undefined;
  const searchToken = () => config.userToken ?? (isUserToken(token) ? token : undefined);

  async function request(
    method: string,
    args: JsonObject,
    signal: AbortSignal,
    options: CallOptions & { token?: string },
  ) {
    try {
      const fetch = createBoundedFetch({ method, signal, timeoutMs, now });
      const client = await createClient(options.token, config.apiUrl, fetch);
      return recordIn(await client.apiCall(method, { ...args }));
    } catch (thrown) {
      throw toSlackFault(thrown, { method, knownChannel: options.knownChannel });
    }
  }

  /** Runs to its end even if its caller stops waiting: a renewed token that nobody keeps would lock the owner out. */
  async function renew(): Promise<void> {
    if (!config.refresh || refreshToken === undefined) throw signInAgain("Slack refused the token");
    const { clientId: client_id, clientSecret: client_secret } = config.refresh;
    const args = { client_id, client_secret, grant_type: "refresh_token", refresh_token: refreshToken };
    const unending = new AbortController().signal;
    const answer = await request("oauth.v2.access", args, unending, {}).catch(refusedRenewal);
    const renewed = tokensIn(answer, refreshToken, now());
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
    async refresh(signal) {
      renewing ??= renew().finally(() => {
        renewing = undefined;
      });
      await orAborted(renewing, signal).catch((thrown: unknown) => {
        if (thrown instanceof ToolFault) throw thrown;
        throw new ToolFault("tool_error", "waiting for a new token was cancelled");
      });
    },
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
    logger: silentLogger(slack.LogLevel.ERROR),
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    ...(apiUrl === undefined ? {} : { slackApiUrl: apiUrl }),
  });
}

/** Everything the client would print is in the fault, and standard output belongs to the program. */
function silentLogger(level: LogLevel): Logger {
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

function tokensIn(answer: JsonObject, former: string, now: number): SlackTokens {
  const token = textIn(answer.access_token);
  if (token === undefined) throw signInAgain("Slack gave no new token");
  const seconds = numberIn(answer.expires_in);
  const expiry = seconds === undefined ? {} : { expiresAt: now + seconds * 1000 };
  return { token, refreshToken: textIn(answer.refresh_token) ?? former, ...expiry };
}

async function keepTokens({ onTokens }: SlackConfig, tokens: SlackTokens): Promise<void> {
  try {
    await onTokens?.(tokens);
  } catch {
    throw new ToolFault("tool_error", "Slack gave a new token, but it could not be kept");
  }
}

function refusedRenewal(thrown: unknown): never {
  throw isServiceFault(thrown, "network", "rate_limit")
    ? thrown
    : signInAgain("Slack did not renew the token");
}

function signInAgain(why: string): ToolFault {
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
  let cursor: string | undefined;
  do {
    const answer = await api.call(method, { ...args, limit: PAGE, cursor }, signal);
    items.push(...recordsIn(answer[field]));
    cursor = nextCursor(answer);
    if (cursor !== undefined && seen.has(cursor))
      throw new ToolFault("tool_error", `Slack's ${method} goes in circles`);
    seen.add(cursor ?? "");
  } while (cursor !== undefined && items.length < cap && seen.size < MAX_PAGES);
  return { items: items.slice(0, cap), isWhole: cursor === undefined && items.length <= cap };
}

/** Where the next page begins; undefined after the last one. */
export function nextCursor(answer: JsonObject): string | undefined {
  return textIn(recordIn(answer.response_metadata).next_cursor);
}
