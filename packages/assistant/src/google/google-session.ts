// Requests to Google: one token for all services, one request per call, every failure a fault.

import type { calendar_v3 } from "@googleapis/calendar";
import type { gmail_v1 } from "@googleapis/gmail";
import type { people_v1 } from "@googleapis/people";
import { messageOf } from "@retinue/core/schema/error";
import type { OAuth2Client } from "google-auth-library";
import {
  createRenewal,
  isJsonObject,
  numberIn,
  parseRetryAfter,
  recordIn,
  textIn,
} from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";

/** What Google gave a person's own client; `expiryDate` in milliseconds since 1970. */
export type GoogleCredentials = {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly refreshToken: string;
  readonly accessToken?: string | undefined;
  readonly expiryDate?: number | undefined;
};

/** Tokens to be kept for the next time. */
export type GoogleTokens = {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiryDate?: number;
};

/** How a session is opened. */
type SessionConfig = {
  readonly credentials: GoogleCredentials;
  readonly tokenUrl: string;
  readonly timeoutMs: number;
  onTokens?(tokens: GoogleTokens): Promise<void> | void;
};

/** A person's access to Google, shared by the three services. */
type GoogleSession = {
  /** The client with a token that has not expired; gets a first or new one if needed. */
  client(signal: AbortSignal): Promise<OAuth2Client>;
  /** Gets a new access token and hands it over to be kept. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Takes this session's secrets out of a text, and whatever else looks like a token of Google. */
  clean(text: string): string;
};

/** A token is not used in its last moments: it could end on the way. */
const EXPIRY_MARGIN_MS = 60_000;

/** What every request carries: no repetition by the client, no way to another place or by a proxy to this machine, an end in time. */
function boundRequests(timeout: number) {
  return { retry: false, redirect: "error" as const, timeout, noProxy: ["127.0.0.1", "localhost", "[::1]"] };
}

const TOKEN_SHAPES = /\b(?:ya29\.|1\/\/|GOCSPX-)[\w.-]+|\bBearer\s+\S+/g;

/**
 * Opens a session. The client of google-auth-library would renew a token at 401 and 403 by itself and repeat the request,
 * so it never learns of the refresh token: the caller decides about a second attempt. Nor does it add its own
 * parameters to requests: the code that does so can also log requests with their tokens.
 */
export function openGoogleSession(config: SessionConfig): GoogleSession {
  let credentials = config.credentials;
  const { clientId } = credentials;
  let made: Promise<OAuth2Client> | undefined;

  const clean = (text: string) =>
    [credentials.accessToken, credentials.refreshToken, credentials.clientSecret]
      .filter((secret): secret is string => Boolean(secret))
      .reduce((cleaned, secret) => cleaned.replaceAll(secret, "[secret]"), text)
      .replace(TOKEN_SHAPES, "[secret]");

  const open = () => {
    made ??= import("google-auth-library").then(
      ({ OAuth2Client }) => new OAuth2Client({ clientId, useAuthRequestParameters: false }),
    );
    return made;
  };

  const renew = async () => {
    const answer = await requestToken(await open(), credentials, config, clean);
    const isRotated = answer.refreshToken !== credentials.refreshToken;
    credentials = { ...credentials, ...answer };
    try {
      await config.onTokens?.(answer);
    } catch {
      if (isRotated) throw new ToolFault("tool_error", "Google's new refresh token could not be stored");
    }
  };

  const refresh = createRenewal(renew);

  return {
    clean,
    refresh,
    async client(signal) {
      const { accessToken, expiryDate = Number.POSITIVE_INFINITY } = credentials;
      if (!accessToken || expiryDate - EXPIRY_MARGIN_MS < Date.now()) await refresh(signal);
      const client = await open();
      client.setCredentials({ access_token: credentials.accessToken ?? null });
      return client;
    },
  };
}

async function requestToken(
  client: OAuth2Client,
  credentials: GoogleCredentials,
  { tokenUrl, timeoutMs }: SessionConfig,
  clean: (text: string) => string,
): Promise<GoogleTokens> {
  const { clientId, clientSecret, refreshToken } = credentials;
  const data = new URLSearchParams({
    grant_type: "refresh_token",
    client_id: clientId,
    refresh_token: refreshToken,
  });
  if (clientSecret) data.set("client_secret", clientSecret);
  try {
    const { data: answer } = await client.transporter.request<Record<string, unknown>>({
      method: "POST",
      url: tokenUrl,
      data,
      ...boundRequests(timeoutMs),
    });
    return readTokens(answer, refreshToken);
  } catch (thrown) {
    throw toTokenFault(thrown, clean);
  }
}

function readTokens(answer: Record<string, unknown>, refreshToken: string): GoogleTokens {
  const accessToken = textIn(answer.access_token);
  if (accessToken === undefined) throw new ToolFault("tool_error", "Google's answer holds no access token");
  const seconds = numberIn(answer.expires_in);
  return {
    accessToken,
    refreshToken: textIn(answer.refresh_token) ?? refreshToken,
    expiryDate: seconds === undefined ? undefined : Date.now() + seconds * 1_000,
  };
}

/** A refusal of the token server is about the sign-in whatever its status. */
function toTokenFault(thrown: unknown, clean: (text: string) => string): ToolFault {
  const answer = readGoogleReply(thrown);
  if (answer && answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
    const { reasons, message } = readGoogleError(answer.data);
    if (reasons.includes("invalid_grant")) {
      return new ToolFault("auth", `Google's sign-in has ended or was withdrawn; ${GOOGLE_SIGN_IN}`);
    }
    const words = clean(message || `status ${answer.status}`).slice(0, 200);
    return new ToolFault("auth", `Google gave no new access token: ${words}; ${GOOGLE_SIGN_IN}`);
  }
  const about = "a new access token";
  return toGoogleFault(thrown, { about, signal: new AbortController().signal, clean });
}

/** The official clients, each loaded at its first use. */
type GoogleClients = {
  readonly gmail: gmail_v1.Gmail;
  readonly calendar: calendar_v3.Calendar;
  readonly people: people_v1.People;
};

/** What is special about one request. */
export type RequestOptions = { readonly signal: AbortSignal; readonly headers?: Record<string, string> };

/** Runs a request, named for messages, and turns every failure into a fault. */
export type GoogleAsk<Name extends keyof GoogleClients> = <Data>(
  about: string,
  run: (client: GoogleClients[Name], options: RequestOptions) => Promise<{ data: Data }>,
) => Promise<Data>;

/** One service of Google. */
export type GoogleApi<Name extends keyof GoogleClients> = {
  /** What a call of a tool asks by, until its signal stops it. */
  during(signal: AbortSignal): GoogleAsk<Name>;
  refresh(signal: AbortSignal): Promise<void>;
};

type ClientOptions = ReturnType<typeof boundRequests> & { auth: OAuth2Client; rootUrl?: string | undefined };

const openers: {
  readonly [Name in keyof GoogleClients]: (options: ClientOptions) => Promise<GoogleClients[Name]>;
} = {
  gmail: async (options) => (await import("@googleapis/gmail")).gmail({ version: "v1", ...options }),
  calendar: async (options) => (await import("@googleapis/calendar")).calendar({ version: "v3", ...options }),
  people: async (options) => (await import("@googleapis/people")).people({ version: "v1", ...options }),
};

/** Opens one service on a session. */
export function openApi<Name extends keyof GoogleClients>(
  name: Name,
  session: GoogleSession,
  { rootUrl, timeoutMs }: { readonly rootUrl?: string | undefined; readonly timeoutMs: number },
): GoogleApi<Name> {
  let client: Promise<GoogleClients[Name]> | undefined;
  return {
    refresh: session.refresh,
    during: (signal) => async (about, run) => {
      try {
        const auth = await session.client(signal);
        client ??= openers[name]({ auth, rootUrl, ...boundRequests(timeoutMs) });
        const { data } = await run(await client, { signal });
        // A page of somebody in between, such as a proxy, must not pass for an empty answer.
        if (typeof data === "string" && data !== "")
          throw new ToolFault("tool_error", `Google's answer for ${about} cannot be used: it is not JSON`);
        return data;
      } catch (thrown) {
        throw toGoogleFault(thrown, { about, signal, clean: session.clean });
      }
    },
  };
}

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
const GOOGLE_SIGN_IN = "run `retinue accounts add google` again";

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
  const words = shorten(request.clean(messageOf(thrown)));
  return isTransport(thrown)
    ? new ToolFault("network", `Google could not be reached for ${request.about}: ${words}`)
    : new ToolFault("tool_error", `the request for ${request.about} failed: ${words}`);
}

function judgeReply({ status, headers, data }: GoogleReply, request: GoogleRequest): ToolFault {
  const { about } = request;
  const { reasons, message } = readGoogleError(data);
  const words = shorten(request.clean(message)) || `status ${status}`;
  const retryAfterMs = findRetryAfter(readReplyHeader(headers, "retry-after"), message);
  if (status === 401) return new ToolFault("auth", `Google refused the access token for ${about}: ${words}`);
  if (status === 429 || (status === 403 && reasons.some((reason) => RATE_REASONS.has(reason)))) {
    return new ToolFault("rate_limit", `Google limits requests for ${about}: ${words}`, { retryAfterMs });
  }
  if (status === 403) return new ToolFault("permission", explainForbidden(about, words, reasons));
  if (status === 408 || status >= 500) {
    return new ToolFault("network", `Google failed with status ${status} for ${about}: ${words}`, {
      retryAfterMs,
    });
  }
  const meaning = {
    404: `Google has no ${about}`,
    409: `${about} exists already`,
    410: `${about} has been deleted`,
    412: `${about} has changed since it was read; read it again`,
  }[status];
  if (meaning !== undefined) return new ToolFault("params", meaning);
  return [400, 413, 422].includes(status)
    ? new ToolFault("params", `Google did not accept the request for ${about}: ${words}`)
    : new ToolFault("tool_error", `Google answered with status ${status} for ${about}: ${words}`);
}

function explainForbidden(about: string, words: string, reasons: readonly string[]): string {
  const isNarrow = reasons.some((reason) => SCOPE_REASONS.has(reason));
  const remedy = isNarrow ? `; the account was added without this right, ${GOOGLE_SIGN_IN}` : "";
  return `Google does not allow the request for ${about}: ${words}${remedy}`;
}

/** How long a service wants to be left alone: seconds or a date in the header, or a moment named in the message. */
export function findRetryAfter(
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
function readGoogleError(data: unknown): {
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
function readGoogleReply(thrown: unknown): GoogleReply | undefined {
  const response = isJsonObject(thrown) ? thrown.response : undefined;
  if (!isJsonObject(response) || typeof response.status !== "number") return undefined;
  return { status: response.status, headers: response.headers, data: response.data };
}

/** The client adds the request's configuration to errors of the connection. */
function isTransport(thrown: unknown): boolean {
  return isJsonObject(thrown) && isJsonObject(thrown.config);
}

/** The client has its own class of headers beside the platform's. */
function readReplyHeader(headers: unknown, name: string): string | undefined {
  if (!isJsonObject(headers)) return undefined;
  const value = typeof headers.get === "function" ? headers.get(name) : headers[name];
  return typeof value === "string" ? value : undefined;
}

function shorten(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  return line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
}
