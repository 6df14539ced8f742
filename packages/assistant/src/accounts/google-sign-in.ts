// Signing in to Google in the person's browser.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { REQUEST_PATIENCE } from "@retinue/core/net/request-patience";
import { RetinueError } from "@retinue/core/schema/error";
import { recordIn, textIn } from "../service-tools/service-requests.ts";
import type { Secrets, Service } from "./accounts.ts";
import { type FormAnswer, postForm, refusePlain } from "./post-form.ts";

const AUTH_URL = "https://accounts.google.com/o/oauth2/v2/auth";
const TOKEN_URL = "https://oauth2.googleapis.com/token";

/** What a sign-in needs. */
export type GoogleSignIn = {
  readonly clientId: string;
  readonly clientSecret?: string | undefined;
  readonly services: readonly GoogleService[];
  /** The account that the page is to propose. */
  readonly address?: string | undefined;
  readonly authUrl?: string | undefined;
  readonly tokenUrl?: string | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Brings a person to the page where they consent. */
  visit(url: string): void;
};

/** Who signed in, for what, and with which tokens. */
type GoogleSignedIn = {
  readonly address: string;
  readonly services: readonly GoogleService[];
  readonly scopes: readonly string[];
  readonly secrets: Secrets;
};

const GOOGLE = "https://www.googleapis.com/auth/";
/** Tells whose account it is; nothing else. */
const IDENTITY = ["openid", `${GOOGLE}userinfo.email`];
/** The least that the tools of each domain need: reading, drafts and sending; events and free time; reading contacts. */
const NEEDED: Readonly<Record<Exclude<Service, "slack">, readonly string[]>> = {
  mail: [`${GOOGLE}gmail.readonly`, `${GOOGLE}gmail.compose`],
  calendar: [`${GOOGLE}calendar.events`, `${GOOGLE}calendar.freebusy`],
  contacts: [`${GOOGLE}contacts.readonly`],
};

/** A domain that Google can serve. */
type GoogleService = keyof typeof NEEDED;

/** Signs a person in by the authorization code with PKCE; the browser comes back to a port of this machine. */
export async function signInGoogle(wanted: GoogleSignIn): Promise<GoogleSignedIn> {
  const { authUrl = AUTH_URL, tokenUrl = TOKEN_URL } = wanted;
  for (const url of [authUrl, tokenUrl]) refusePlain(url);
  const state = randomBytes(32).toString("base64url");
  const verifier = randomBytes(48).toString("base64url");
  const redirect = await waitForRedirect(state, wanted.signal);
  try {
    wanted.visit(buildConsentUrl(wanted, { state, verifier, redirectUri: redirect.uri }));
    const code = await redirect.code;
    const { clientId, clientSecret, signal } = wanted;
    const form = {
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
      redirect_uri: redirect.uri,
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
    };
    return readSignIn(await postForm(tokenUrl, form, { signal }), wanted);
  } finally {
    redirect.close();
  }
}

function buildConsentUrl(
  { clientId, services, address, authUrl = AUTH_URL }: GoogleSignIn,
  { state, verifier, redirectUri }: { state: string; verifier: string; redirectUri: string },
): string {
  const url = new URL(authUrl);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: listScopes(services).join(" "),
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    access_type: "offline",
    prompt: "consent",
    ...(address !== undefined && { login_hint: address }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function readSignIn(
  { ok, value }: FormAnswer,
  { services, clientSecret, now }: GoogleSignIn,
): GoogleSignedIn {
  if (!ok || typeof value.access_token !== "string") throw refuseExchange(value.error);
  if (typeof value.refresh_token !== "string")
    throw new RetinueError(
      "auth",
      "Google gave no refresh token, so the account would stop working within the hour",
      "remove Retinue at myaccount.google.com/permissions, and run the command again",
    );
  const scopes =
    typeof value.scope === "string" ? value.scope.split(" ").filter(Boolean) : listScopes(services);
  const granted = findGranted(services, scopes);
  if (granted.length === 0)
    throw new RetinueError(
      "auth",
      `none of ${services.join(", ")} was consented to in full`,
      "run the command again, and leave the boxes of the page ticked",
    );
  const seconds = typeof value.expires_in === "number" ? value.expires_in : 0;
  return {
    address: readAddress(value.id_token),
    services: granted,
    scopes,
    secrets: {
      refreshToken: value.refresh_token,
      accessToken: value.access_token,
      expiryDate: String(now() + seconds * 1000),
      ...(clientSecret !== undefined && { clientSecret }),
    },
  };
}

/** The address in an identity token; it came straight from the issuer, so its signature need not be looked at. */
function readAddress(token: unknown): string {
  try {
    const [, payload = ""] = typeof token === "string" ? token.split(".") : [];
    const claims = recordIn(JSON.parse(Buffer.from(payload, "base64url").toString("utf8")));
    const email = textIn(claims.email) ?? "";
    if (/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) return email.toLowerCase();
  } catch {
    // Refused below.
  }
  throw new RetinueError("auth", "Google did not tell whose account it is");
}

function refuseExchange(error: unknown): RetinueError {
  const code = typeof error === "string" && /^[a-z_]{1,40}$/.test(error) ? error : "no reason given";
  const hint =
    code === "invalid_client"
      ? "check the client id, and give the client secret that belongs to it in GOOGLE_CLIENT_SECRET"
      : "run the command again";
  return new RetinueError("auth", `the code was not taken: ${code}`, hint);
}

/** What to ask the person's consent for. */
function listScopes(services: readonly GoogleService[]): string[] {
  return [...IDENTITY, ...services.flatMap((service) => NEEDED[service])];
}

/** The domains that were consented to in full; a person may have left some out. */
function findGranted(services: readonly GoogleService[], granted: readonly string[]): GoogleService[] {
  return services.filter((service) => NEEDED[service].every((scope) => granted.includes(scope)));
}

/** A server on the loopback address that one browser is sent back to. */
type Redirect = {
  readonly uri: string;
  /** The code of the answer. Anything else that comes ends the waiting with an error. */
  readonly code: Promise<string>;
  close(): void;
};

const PATH = "/callback";

/** Waits, on a free port that only this machine reaches, for the answer that carries this state. */
export async function waitForRedirect(
  state: string,
  signal: AbortSignal,
  patience = REQUEST_PATIENCE,
): Promise<Redirect> {
  const { promise: code, resolve, reject } = Promise.withResolvers<string>();
  code.catch(() => {});
  let port = 0;
  const server = createServer(patience, (request, response) => {
    const answer = readAnswer(request, port);
    if (!answer) return sendPage(response, 404, "There is nothing here.");
    const told = readCode(answer, state);
    // Only after the page is written: the next step may close all connections.
    if (told instanceof RetinueError) {
      response.once("close", () => reject(told));
      sendPage(
        response,
        400,
        "The sign-in did not succeed. The terminal tells why; you can close this page.",
      );
    } else {
      response.once("close", () => resolve(told));
      sendPage(response, 200, "You are signed in. You can close this page.");
    }
  });
  server.on("error", reject);
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  port = readPort(server.address());
  const onAbort = () =>
    reject(new RetinueError("auth", "nobody finished the sign-in", "run the command again"));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const close = () => {
    signal.removeEventListener("abort", onAbort);
    server.close();
    // Browsers also open connections that they never use; those would keep the program from ending.
    server.closeAllConnections();
  };
  return { uri: `http://127.0.0.1:${port}${PATH}`, code, close };
}

/** The parameters of a request that is such an answer; browsers ask for other things too, such as icons. */
function readAnswer({ method, url = "", headers }: IncomingMessage, port: number): URLSearchParams | null {
  if (method !== "GET" || headers.host !== `127.0.0.1:${port}`) return null;
  const parsed = URL.parse(url, `http://127.0.0.1:${port}`);
  return parsed?.pathname === PATH ? parsed.searchParams : null;
}

function readCode(answer: URLSearchParams, state: string): string | RetinueError {
  const [given = "", ...more] = answer.getAll("state");
  if (more.length > 0 || !isSame(given, state))
    return new RetinueError(
      "auth",
      "the answer does not belong to this sign-in (its state is another), so it was refused",
      "run the command again, and use only the page that it opens",
    );
  const error = answer.get("error");
  if (error === "access_denied")
    return new RetinueError("auth", "the consent was denied", "run the command again to give it");
  if (error !== null)
    return new RetinueError(
      "auth",
      `the sign-in failed: ${/^[\w.-]{1,60}$/.test(error) ? error : "no reason"}`,
    );
  const code = answer.get("code");
  return code ? code : new RetinueError("auth", "the sign-in's answer holds no code");
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function sendPage(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${words}\n`);
}

function readPort(address: AddressInfo | string | null): number {
  return address !== null && typeof address === "object" ? address.port : 0;
}
