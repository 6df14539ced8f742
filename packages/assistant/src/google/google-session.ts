import { orAborted } from "@retinue/core/net/or-aborted";
import type { OAuth2Client } from "google-auth-library";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { GOOGLE_SIGN_IN, readGoogleError, readGoogleReply, toGoogleFault } from "./google-fault.ts";

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
export type GoogleSession = {
  /** The client with a token that is good as far as is known; gets a first or new one if not. */
  client(signal: AbortSignal): Promise<OAuth2Client>;
  /** Gets a new access token and hands it over to be kept. */
  refresh(signal: AbortSignal): Promise<void>;
  /** Takes this session's secrets out of a text, and whatever else looks like a token of Google. */
  clean(text: string): string;
};

/** A token is not used in its last moments: it could end on the way. */
const EXPIRY_MARGIN_MS = 60_000;
/** Hosts of this machine, which no proxy of the environment reaches. */
export const LOOPBACK_HOSTS: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

const TOKEN_SHAPES = /\b(?:ya29\.|1\/\/|GOCSPX-)[\w.-]+|\bBearer\s+\S+/g;

/**
 * Opens a session. The client of google-auth-library would renew a token at 401 and 403 by itself and repeat the request,
 * so it never learns of the refresh token: the caller decides about a second attempt. Nor does it add its own
 * parameters to requests, as what does so can also log them with their tokens.
 */
export function openGoogleSession(config: SessionConfig): GoogleSession {
  let credentials = config.credentials;
  const { clientId } = credentials;
  let made: Promise<OAuth2Client> | undefined;
  let renewing: Promise<void> | undefined;

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
    credentials = { ...credentials, expiryDate: undefined, ...answer };
    try {
      await config.onTokens?.(answer);
    } catch {
      if (isRotated) throw new ToolFault("tool_error", "Google's new refresh token could not be stored");
    }
  };

  const refresh = async (signal: AbortSignal) => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    await orAborted(renewing, signal).catch((thrown) => {
      throw toGoogleFault(thrown, { about: "a new access token", signal, clean });
    });
  };

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
    ...(clientSecret ? { client_secret: clientSecret } : {}),
    refresh_token: refreshToken,
  });
  try {
    const { data: answer } = await client.transporter.request<Record<string, unknown>>({
      method: "POST",
      url: tokenUrl,
      data,
      retry: false,
      redirect: "error",
      timeout: timeoutMs,
      noProxy: [...LOOPBACK_HOSTS],
    });
    return readTokens(answer, refreshToken);
  } catch (thrown) {
    throw tokenFault(thrown, clean);
  }
}

function readTokens(answer: Record<string, unknown>, refreshToken: string): GoogleTokens {
  const { access_token, refresh_token, expires_in } = answer;
  if (typeof access_token !== "string" || access_token === "") {
    throw new ToolFault("tool_error", "Google's answer holds no access token");
  }
  return {
    accessToken: access_token,
    refreshToken: typeof refresh_token === "string" && refresh_token ? refresh_token : refreshToken,
    ...(typeof expires_in === "number" ? { expiryDate: Date.now() + expires_in * 1_000 } : {}),
  };
}

/** A refusal of the token server is about the sign-in whatever its status. */
function tokenFault(thrown: unknown, clean: (text: string) => string): ToolFault {
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
