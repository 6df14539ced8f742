import { messageOf } from "@retinue/core/schema/error";
import { type Transport, TransportError, type TransportReply } from "@retinue/core/schema/transport";
import { SearchError } from "./search-provider.ts";

/** One question to a search engine. */
export type JsonRequest = {
  provider: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON by POST; without it, GET. */
  body?: object;
  signal: AbortSignal;
  deadlineMs: number;
};

const MAX_BYTES = 4_000_000;

/** Asks and gives the answer's JSON value. Rejects only with `SearchError`. */
export async function requestJson(transport: Transport, request: JsonRequest): Promise<unknown> {
  const { provider, url, body } = request;
  const deadline = AbortSignal.timeout(request.deadlineMs);
  const signal = AbortSignal.any([request.signal, deadline]);
  const headers = {
    accept: "application/json",
    ...request.headers,
    ...(body && { "content-type": "application/json" }),
  };
  try {
    const reply = body
      ? await transport.post(url, { headers, body: JSON.stringify(body), signal })
      : await transport.get(url, { headers, signal });
    if (reply.status !== 200) {
      reply.destroy();
      throw describeRefusal(provider, reply);
    }
    return parseReply(provider, await readReply(reply));
  } catch (thrown) {
    if (thrown instanceof SearchError) throw thrown;
    if (request.signal.aborted) throw new SearchError("cancelled", provider, "the search was cancelled");
    if (deadline.aborted)
      throw new SearchError(
        "timeout",
        provider,
        `${provider} did not answer within ${request.deadlineMs} ms`,
      );
    const failure =
      thrown instanceof TransportError && thrown.failure === "redirect" ? "refused" : "unreachable";
    throw new SearchError(failure, provider, `${provider} could not be asked: ${messageOf(thrown)}`);
  }
}

function readReply(reply: TransportReply): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    reply.read({
      chunk(bytes) {
        size += bytes.length;
        if (size <= MAX_BYTES) chunks.push(bytes);
        else reply.destroy();
      },
      end(error) {
        if (size > MAX_BYTES) reject(new Error(`its answer has more than ${MAX_BYTES} bytes`));
        else if (error) reject(error);
        else resolve(Buffer.concat(chunks));
      },
    });
  });
}

function parseReply(provider: string, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new SearchError("bad_reply", provider, `${provider} answered with something that is not JSON`);
  }
}

/** What a status means. The body is not quoted: it may repeat the key. */
function describeRefusal(provider: string, { status, headers }: TransportReply): SearchError {
  if (status === 401 || status === 403)
    return new SearchError("auth", provider, `${provider} refused the key or the access (HTTP ${status})`);
  if (status === 429 || status === 432 || status === 433) {
    const retryAfterMs = readRetryAfter(headers["retry-after"]);
    const when = retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1000)} s`;
    const message = `${provider} allows no more searches for now (HTTP ${status}); try again ${when}`;
    return new SearchError("rate_limited", provider, message, retryAfterMs);
  }
  if (status >= 500)
    return new SearchError("unavailable", provider, `${provider} is out of order (HTTP ${status})`);
  return new SearchError("refused", provider, `${provider} refused the search (HTTP ${status})`);
}

function readRetryAfter(value: string | string[] | undefined): number | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
