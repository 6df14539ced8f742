// What every client of a service reads answers with: bounded bodies, Retry-After, JSON of which nothing is known.

import { ToolFault } from "./tool-fault.ts";

/** Whether a host's name means this machine, so that a password to it crosses no network. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host);
}

/** The whole body of an answer; a fault if it has more bytes than allowed. `about` names it in the message. */
export async function readBoundedBody(
  response: Response,
  { maxBytes, about }: { readonly maxBytes: number; readonly about: string },
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new ToolFault("tool_error", `${about} is too long: more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** How long a Retry-After header, seconds or a date, asks to wait; undefined if it cannot be read. */
export function parseRetryAfter(header: string | null | undefined, nowMs: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const date = /^[a-z]{3}/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

/** Maps with at most so many at once, in order; begins nothing more after a failure. */
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

/** An object of JSON of which nothing is known yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object of JSON, and no list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one if it is none. */
export function recordIn(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** The objects in a list; none if it is no list. */
export function recordsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The value as text that says something, or undefined. */
export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as a number, or undefined. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
