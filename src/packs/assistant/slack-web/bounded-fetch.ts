import type { FetchFunction } from "@slack/web-api";
import { ToolFault } from "../errors/tool-fault.ts";

/** An answer longer than this is not Slack's. */
const MAX_BYTES = 32 * 1024 * 1024;

/** What bounds one request. */
export type Bounds = {
  /** What is asked, for messages. */
  readonly method: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly now: () => number;
};

/** A `fetch` for Slack's client that ends in time, reads the whole answer within a bound, and raises faults. */
export function createBoundedFetch(bounds: Bounds): FetchFunction {
  return async (url, init) => {
    const timeout = AbortSignal.timeout(bounds.timeoutMs);
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.any([bounds.signal, timeout]) });
      if (response.status !== 200) {
        await response.body?.cancel();
        throw statusFault(response, bounds);
      }
      return new Response(await readBody(response, bounds.method), {
        headers: { "retry-after": response.headers.get("retry-after") ?? "" },
      });
    } catch (thrown) {
      throw requestFault(thrown, timeout, bounds);
    }
  };
}

function statusFault({ status, headers }: Response, { method, now }: Bounds): ToolFault {
  const message = `Slack answered ${method} with HTTP ${status}`;
  if (status === 429) {
    return new ToolFault("rate_limit", `Slack wants to be asked less often (${method})`, {
      retryAfterMs: retryAfter(headers.get("retry-after"), now()),
    });
  }
  if (status >= 500 || status === 408) return new ToolFault("network", message);
  if (status === 401) return new ToolFault("auth", message);
  if (status === 403) return new ToolFault("permission", message);
  return new ToolFault(status === 400 ? "params" : "tool_error", message);
}

/** Seconds or a date, as milliseconds from now. */
function retryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function requestFault(thrown: unknown, timeout: AbortSignal, bounds: Bounds): ToolFault {
  const { method, signal, timeoutMs } = bounds;
  if (thrown instanceof ToolFault) return thrown;
  if (signal.aborted) return new ToolFault("tool_error", `the request to Slack was cancelled (${method})`);
  if (timeout.aborted) {
    return new ToolFault("network", `Slack gave no answer to ${method} within ${timeoutMs / 1000} s`);
  }
  const code = codeOf(thrown);
  return new ToolFault("network", `no connection to Slack for ${method}${code ? ` (${code})` : ""}`);
}

/** Such as `ECONNRESET`; the message itself is not passed on. */
function codeOf(thrown: unknown): string | undefined {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^[A-Z_]{1,40}$/.test(code) ? code : undefined;
}

async function readBody(response: Response, method: string): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.byteLength;
    if (bytes > MAX_BYTES) throw new ToolFault("tool_error", `Slack's answer to ${method} is too long`);
    parts.push(part);
  }
  return new Blob(parts);
}
