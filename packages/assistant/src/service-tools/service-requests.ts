// Requests to services: bounded in time and size, every failure a fault; and readers for unknown JSON.

import { orAborted } from "@retinue/core/net/or-aborted";
import { ToolFault } from "./tool-fault.ts";

/** The bounds of one request, and its name in messages. */
type RequestBounds = {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Such as `Slack`. */
  readonly service: string;
  /** What is asked for. */
  readonly about: string;
};

/** Whether a host's name means this machine, so that a password to it crosses no network. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
}

/** Whether secrets may go to an address: over TLS, or to this machine. */
export function isSafeUrl({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** One request, whose answer is read whole; of a connection's error only the code is repeated. */
export async function fetchWhole(
  url: URL | string,
  init: RequestInit,
  { signal, timeoutMs, maxBytes, service, about }: RequestBounds,
): Promise<{ readonly response: Response; readonly body: Buffer<ArrayBuffer> }> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.any([signal, timeout]) });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of answer.body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes)
        throw new ToolFault(
          "tool_error",
          `${service}'s answer to ${about} is too long: over ${maxBytes} bytes`,
        );
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks);
    const { status, statusText, headers } = answer;
    const hasBody = ![204, 205, 304].includes(status);
    return { response: new Response(hasBody ? body : null, { status, statusText, headers }), body };
  } catch (thrown) {
    if (thrown instanceof ToolFault) throw thrown;
    if (signal.aborted)
      throw new ToolFault("tool_error", `the request to ${service} was cancelled (${about})`);
    if (timeout.aborted)
      throw new ToolFault("network", `${service} gave no answer to ${about} within ${timeoutMs / 1_000} s`);
    const cause = thrown instanceof Error ? thrown.cause : undefined;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
    throw isCertificateCode(code)
      ? new ToolFault("tool_error", `the certificate of ${service} is not trusted (${code})`)
      : new ToolFault("network", `no connection to ${service} for ${about} (${code})`);
  }
}

/** Whether an error of this code says that a server's certificate is not trusted. */
export function isCertificateCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(code);
}

/** The fault that the status of an answer means; undefined for success, redirects, and what depends on the request. */
export function findStatusFault(
  { status, headers }: Response,
  said: string,
  nowMs: number,
): ToolFault | undefined {
  const retryAfterMs = parseRetryAfter(headers.get("retry-after"), nowMs);
  if (status === 429 || (status === 503 && retryAfterMs !== undefined))
    return new ToolFault("rate_limit", said, { retryAfterMs });
  if (status === 401) return new ToolFault("auth", said);
  if (status === 403) return new ToolFault("permission", said);
  return status === 408 || status >= 500 ? new ToolFault("network", said) : undefined;
}

/** Renews a token once for all callers that wait for it. A caller that stops waiting does not stop it: the old token may be void by then. */
export function createRenewal(renew: () => Promise<void>): (signal: AbortSignal) => Promise<void> {
  let renewing: Promise<void> | undefined;
  return async (signal) => {
    renewing ??= renew().finally(() => {
      renewing = undefined;
    });
    await orAborted(renewing, signal).catch((thrown: unknown) => {
      if (thrown instanceof ToolFault) throw thrown;
      throw new ToolFault("tool_error", "waiting for a new token was cancelled");
    });
  };
}

/** How long a Retry-After header, seconds or a date, asks to wait; undefined if it cannot be read. */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const date = /^[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Maps with a limited number at once, in order; starts nothing more after a failure. */
export async function mapLimited<Item, Value>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = new Array(items.length);
  const queue = [...items.entries()];
  const work = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [index, item] = next;
      try {
        values[index] = await map(item);
      } catch (thrown) {
        queue.length = 0;
        throw thrown;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return values;
}

/** A value that is asked for when it is needed, and again once it is older than `maxAgeMs`; a failure is not kept. */
export function keepFresh<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  maxAgeMs = Number.POSITIVE_INFINITY,
  now = () => performance.now(),
): (signal: AbortSignal) => Promise<Value> {
  let kept: { readonly value: Value; readonly at: number } | undefined;
  return async (signal) => {
    if (!kept || Math.abs(now() - kept.at) >= maxAgeMs) kept = { value: await load(signal), at: now() };
    return kept.value;
  };
}

/** A service may give less than was asked for on each page, but not forever. */
const MAX_PAGES = 100;

/** The pages of a listing, each fetched only when it is wanted; `next` reads from a page where the next one begins. */
export async function* eachPage<Page>(
  fetchPage: (from: string | undefined) => Promise<Page>,
  next: (page: Page) => string | null | undefined,
  most = MAX_PAGES,
): AsyncGenerator<Page> {
  let from: string | undefined;
  for (let pages = 0; pages < most; pages++) {
    const page = await fetchPage(from);
    yield page;
    from = next(page) || undefined;
    if (from === undefined) return;
  }
}

/** A JSON object with unknown content. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object of JSON, and no list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one if it is none. */
export function recordIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects in a list; none if it is not a list. */
export function recordsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The value if it is a text that is not empty. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value if it is a finite number. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
