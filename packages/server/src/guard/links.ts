import { createHash, randomBytes } from "node:crypto";

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
