import type { NewsEvent, StreamEvent } from "../../schema/api/stream.ts";

const encoder = new TextEncoder();

/** One server-sent event as bytes, made once for everybody who gets it. Only what has an id can be asked for again. */
export function encodeEvent({ kind, ...data }: StreamEvent | NewsEvent, id?: number): Uint8Array {
  const head = id === undefined ? "" : `id: ${id}\n`;
  return encoder.encode(`${head}event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** How a stream begins: after a break the browser comes back in a second. */
export const GREETING = encoder.encode("retry: 1000\n\n");

/** Says nothing, so that nobody on the way takes the silence for the end. */
export const HEARTBEAT = encoder.encode(": \n\n");
