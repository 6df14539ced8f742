import { Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { parseWebAddress } from "@retinue/core/net/web-address";
import { findOwn } from "@retinue/core/schema/find-own";
import { type Egress, EgressError, type EgressReply, toEgressError } from "./egress-guard.ts";

/** How a resource is asked for. */
export type ResourceRequest = {
  egress: Egress;
  signal: AbortSignal;
  /** Sent only to the origin that was asked first. */
  headers: Readonly<Record<string, string>>;
  userAgent: string;
  accept: string;
  /** Of the body as it comes in, of every step of its decoding, and of the result. */
  maxBytes: number;
  /** A longer body is a failure, or is cut off. */
  whenLonger: "fail" | "cut";
  pace: ReadingPace;
  /** Called with every address before it is asked, redirects included; throws to refuse it. */
  beforeEach?(url: URL): Promise<void>;
  /** Called before the body is read; throws to refuse it. */
  beforeBody?(contentType: string): void;
};

/** A resource as it was sent, decoded, and where it was in the end. */
type Resource = { url: string; contentType: string; body: Buffer };

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const WHOLE: ReadonlySet<number> = new Set([200, 203]);

/** Gets a resource, following redirects. Throws only `EgressError`, and what `beforeEach` throws. */
export async function fetchResource(address: string, request: ResourceRequest): Promise<Resource> {
  const parsed = parseWebAddress(address);
  if ("problem" in parsed) throw new EgressError("bad_url", parsed.problem);
  const { origin } = parsed.url;
  const seen = new Set<string>();
  let { url } = parsed;
  let isOwn = true;
  while (true) {
    if (seen.has(url.href) || seen.size > MAX_REDIRECTS) throw describeLoop();
    seen.add(url.href);
    await request.beforeEach?.(url);
    const reply = await sendRequest(url, request, isOwn);
    const next = findRedirect(reply, url);
    if (next === undefined) return await receive(reply, url, request);
    reply.body.destroy();
    if (request.egress.isExempt(next) && !request.egress.isExempt(url)) {
      throw new EgressError("blocked", `${url.host} points to ${next.host}, where only the user may lead`);
    }
    isOwn &&= next.origin === origin;
    url = next;
  }
}

function sendRequest(url: URL, request: ResourceRequest, isOwn: boolean): Promise<EgressReply> {
  const { egress, signal, userAgent, accept } = request;
  const own = isOwn ? request.headers : {};
  const headers = { ...own, "user-agent": userAgent, accept, "accept-encoding": "gzip, br" };
  return egress.request(url, { headers, signal });
}

async function receive(reply: EgressReply, url: URL, request: ResourceRequest): Promise<Resource> {
  try {
    refuseStatus(reply, url);
    const contentType = [reply.headers["content-type"] ?? ""].flat().join(";");
    request.beforeBody?.(contentType);
    if (request.whenLonger === "fail") refuseLength(reply, request.maxBytes);
    return { url: url.href, contentType, body: await readBody(reply, request) };
  } catch (thrown) {
    reply.body.destroy();
    throw toEgressError(thrown, url.host, request.signal);
  }
}

function findRedirect({ status, headers, body }: EgressReply, from: URL): URL | undefined {
  const location = [headers.location ?? []].flat()[0];
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  // Header values come in as Latin-1, while addresses in them are UTF-8.
  const address = parseWebAddress(Buffer.from(location, "latin1").toString("utf8"), from);
  if ("url" in address) return address.url;
  body.destroy();
  throw new EgressError(
    "bad_url",
    `${from.host} points to a place that cannot be followed: ${address.problem}`,
  );
}

function describeLoop(): EgressError {
  return new EgressError(
    "redirect_loop",
    `the address leads back to itself or through more than ${MAX_REDIRECTS} redirects`,
  );
}

function refuseStatus({ status }: EgressReply, url: URL): void {
  if (WHOLE.has(status)) return;
  const kind =
    status === 404 || status === 410 ? "not_found" : status === 429 ? "rate_limited" : "http_error";
  throw new EgressError(kind, `${url.host} answered ${status}`, { httpStatus: status });
}

function refuseLength({ headers }: EgressReply, maxBytes: number): void {
  const length = Number([headers["content-length"] ?? ""].flat()[0]);
  if (length > maxBytes) {
    throw new EgressError("too_large", `the body has ${length} bytes, ${maxBytes} are read at most`);
  }
}

/** The slowest that a body may come in: so many bytes in every such time. */
export type ReadingPace = { bytes: number; everyMs: number };

type BodyLimits = Pick<ResourceRequest, "maxBytes" | "whenLonger" | "pace" | "signal">;

const MAX_ENCODINGS = 2;

/** Reads and decodes a body piece by piece, never holding more than its limit; destroys the connection if it stops early. */
async function readBody(reply: EgressReply, limits: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk.subarray(0, limits.maxBytes - size));
      size += chunk.length;
      done(size > limits.maxBytes ? tooLarge(limits) : null);
    },
  });
  const decoders = listEncodings(reply).toReversed().map(createDecoder);
  const watch = watchPace(limits.pace, (problem) => reply.body.destroy(problem));
  const steps = decoders.flatMap((decoder) => [decoder, createCounter(limits)]);
  try {
    await pipeline([reply.body, createCounter(limits, watch.count), ...steps, sink], {
      signal: limits.signal,
    });
  } catch (thrown) {
    const isCut = limits.whenLonger === "cut" && size > limits.maxBytes;
    if (!isCut) throw isDecodingError(thrown) ? describeUnreadable(thrown) : thrown;
  } finally {
    watch.stop();
  }
  return Buffer.concat(chunks);
}

/** Lets bytes through up to the limit. When the rest is to be cut, only the sink counts what really was read. */
function createCounter(limits: BodyLimits, onBytes?: (bytes: number) => void): Transform {
  const max = limits.whenLonger === "cut" ? limits.maxBytes * 2 : limits.maxBytes;
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length;
      onBytes?.(chunk.length);
      if (size > max) done(tooLarge(limits));
      else done(null, chunk);
    },
  });
}

function listEncodings({ headers }: EgressReply): string[] {
  const names = [headers["content-encoding"] ?? []]
    .flat()
    .join(",")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > MAX_ENCODINGS) {
    throw new EgressError("bad_encoding", `the body is encoded ${names.length} times over`);
  }
  return names;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
};

function createDecoder(encoding: string): Transform {
  const create = findOwn(DECODERS, encoding);
  if (create) return create();
  throw new EgressError(
    "bad_encoding",
    `the body is encoded as ${encoding.slice(0, 40)}, which was not asked for`,
  );
}

function isDecodingError(thrown: unknown): thrown is NodeJS.ErrnoException {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return /^(Z_|ERR__?ERROR_|ERR_BROTLI|ERR_PADDING|ERR_ZLIB)/.test(code);
}

function describeUnreadable(thrown: Error): EgressError {
  return new EgressError("bad_encoding", `the body cannot be decoded: ${thrown.message}`);
}

function tooLarge({ maxBytes }: BodyLimits): EgressError {
  return new EgressError("too_large", `the body is larger than ${maxBytes} bytes`);
}

function watchPace({ bytes, everyMs }: ReadingPace, onSlow: (problem: EgressError) => void) {
  let recent = 0;
  const timer = setInterval(() => {
    if (recent < bytes)
      onSlow(new EgressError("timeout", `the body came in slower than ${bytes} bytes in ${everyMs} ms`));
    recent = 0;
  }, everyMs);
  return {
    count: (size: number) => {
      recent += size;
    },
    stop: () => clearInterval(timer),
  };
}
