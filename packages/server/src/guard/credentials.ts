import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { bearerIn, type GuardedRequest } from "./guarded-request.ts";

/** What credentials are made of and checked with. */
export type Credentials = {
  /** The secret of this machine's servers. */
  readonly key: Buffer;
  readonly port: number;
  /** Names this start of the server, so that its bearer key is worth nothing once it is gone. */
  readonly startId: string;
};

const COOKIE_DAYS = 30;
const DAY_MS = 86_400_000;

/** The key with which programs of the same user talk to a running server. */
export function makeBearer({ key, startId }: Pick<Credentials, "key" | "startId">): string {
  return sign(key, `bearer:${startId}`);
}

/** A `Set-Cookie` that lets one browser in; it stays good when the server starts again at the same port. */
export function issueCookie(credentials: Credentials, nowMs: number): string {
  const id = randomBytes(12).toString("base64url");
  const value = `${id}.${nowMs + COOKIE_DAYS * DAY_MS}`;
  const signed = `${value}.${sign(credentials.key, cookieText(credentials, value))}`;
  const seconds = (COOKIE_DAYS * DAY_MS) / 1_000;
  return `${cookieName(credentials)}=${signed}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`;
}

/** Who asks, by a cookie or the bearer key; null if unknown. */
export function identifyClient(
  { headers }: GuardedRequest,
  credentials: Credentials,
  nowMs: number,
): string | null {
  const bearer = bearerIn(headers);
  if (bearer !== undefined) return isSame(bearer, makeBearer(credentials)) ? "bearer" : null;
  for (const cookie of cookiesIn(headers, credentials)) {
    const id = readClient(cookie, credentials, nowMs);
    if (id !== null) return id;
  }
  return null;
}

/** Whether a request brings credentials: only that can be a guess. */
export function hasCredentials({ headers }: GuardedRequest, credentials: Credentials): boolean {
  return headers.has("authorization") || cookiesIn(headers, credentials).length > 0;
}

function readClient(cookie: string, credentials: Credentials, nowMs: number): string | null {
  const [id = "", expiry = "", signature = ""] = cookie.split(".");
  const value = `${id}.${expiry}`;
  if (!isSame(signature, sign(credentials.key, cookieText(credentials, value)))) return null;
  return Number(expiry) > nowMs ? id : null;
}

/** All of the name: another port of this machine can set one before ours. */
function cookiesIn(headers: Headers, credentials: Credentials): string[] {
  const prefix = `${cookieName(credentials)}=`;
  return (headers.get("cookie") ?? "")
    .split(";")
    .map((each) => each.trim())
    .filter((each) => each.startsWith(prefix))
    .map((each) => each.slice(prefix.length));
}

/** Cookies know no ports, so that two servers would overwrite each other's. */
function cookieName({ port }: Credentials): string {
  return `retinue_${port}`;
}

function cookieText({ port }: Credentials, value: string): string {
  return `cookie:${port}:${value}`;
}

function sign(key: Buffer, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function isSame(given: string, wanted: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Links that are open, by the hash of their token: until when each can be used. */
export type OpenLinks = Map<string, number>;

const MINUTES = 10;
const MAX_OPEN = 100;

/** Makes a token that lets one browser in, once and soon. */
export function makeToken(open: OpenLinks, nowMs: number): string {
  for (const [hash, untilMs] of open) if (untilMs <= nowMs || open.size >= MAX_OPEN) open.delete(hash);
  const token = randomBytes(32).toString("base64url");
  open.set(hashToken(token), nowMs + MINUTES * 60_000);
  return token;
}

/** Uses a token up; false if it is none, was used before or is too old. */
export function takeToken(open: OpenLinks, token: string, nowMs: number): boolean {
  const hash = hashToken(token);
  const untilMs = open.get(hash);
  open.delete(hash);
  return untilMs !== undefined && untilMs > nowMs;
}

/** Looked up by its hash, a token tells nothing by how long that takes. */
function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
