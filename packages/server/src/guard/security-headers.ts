import { randomBytes } from "node:crypto";

/** What decides which headers an answer gets. */
export type Answered = {
  readonly isApi: boolean;
  /** A file whose name changes with its content. */
  readonly isLasting: boolean;
  /** Names the styles that the page itself brings. */
  readonly nonce: string;
};

const ALWAYS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
};

/** A word that cannot be known before the answer it is for. */
export function createNonce(): string {
  return randomBytes(16).toString("base64url");
}

/** Nothing but our own files, and no way out of the page. */
function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "object-src 'none'",
  ].join("; ");
}

/**
 * Writes the headers that protect the reader of an answer. A route may bring a policy of its own for a document that is
 * shown in a frame, if it is sandboxed: such a document is of no origin, so it may be framed by our own page.
 */
export function protect(headers: Headers, { isApi, isLasting, nonce }: Answered): void {
  for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value);
  const own = headers.get("content-security-policy");
  if (isApi && own !== null && isSandboxed(own)) {
    headers.set("content-security-policy", framedByUs(own));
    headers.set("x-frame-options", "SAMEORIGIN");
  } else {
    headers.set("content-security-policy", policy(nonce));
    headers.set("x-frame-options", "DENY");
  }
  headers.set("cache-control", isLasting ? "private, max-age=31536000, immutable" : "no-store");
}

/** Neither scripts nor our origin: with both, a document could take its own sandbox off. */
function isSandboxed(own: string): boolean {
  const sandbox = own.split(";").find((part) => /^\s*sandbox(?:\s|$)/.test(part));
  return sandbox !== undefined && !/allow-(?:scripts|same-origin|top-navigation)/.test(sandbox);
}

function framedByUs(own: string): string {
  const rest = own.split(";").filter((part) => !part.trim().startsWith("frame-ancestors"));
  return [...rest.map((part) => part.trim()).filter(Boolean), "frame-ancestors 'self'"].join("; ");
}
