import { Transform, Writable } from "node:stream";
import type { EgressReply } from "./egress-guard.ts";
import { FetchProblem } from "./fetch-outcome.ts";

/** The slowest that a body may come in: so many bytes in every such time. */
export type Pace = { bytes: number; everyMs: number };

/** What bounds the reading of a body. */
export type BodyLimits = {
  /** Of the body as it comes in, of every step of its decoding, and of the result. */
  maxBytes: number;
  /** A longer body is a failure, or is cut off. */
  whenLonger: "fail" | "cut";
  pace: Pace;
  signal: AbortSignal;
};

const MAX_ENCODINGS = 2;

/** Reads and decodes a body piece by piece, never holding more than its limit; destroys the connection if it stops early. */
export async function readBody(reply: EgressReply, limits: BodyLimits): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      chunks.push(chunk.subarray(0, limits.maxBytes - size));
      size += chunk.length;
      done(size > limits.maxBytes ? tooLarge(limits) : null);
    },
  });
  const { pipeline } = await import("node:stream/promises");
  const decoders = await Promise.all(encodingsOf(reply).toReversed().map(createDecoder));
  const watch = watchPace(limits.pace, (problem) => reply.body.destroy(problem));
  const steps = decoders.flatMap((decoder) => [decoder, counter(limits)]);
  try {
    await pipeline([reply.body, counter(limits, watch.count), ...steps, sink], { signal: limits.signal });
  } catch (thrown) {
    const isCut = limits.whenLonger === "cut" && size > limits.maxBytes;
    if (!isCut) throw isDecodingError(thrown) ? unreadable(thrown) : thrown;
  } finally {
    watch.stop();
  }
  return Buffer.concat(chunks);
}

/** Lets bytes through up to the limit. When the rest is to be cut, only the sink counts what really was read. */
function counter(limits: BodyLimits, onBytes?: (bytes: number) => void): Transform {
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

function encodingsOf({ headers }: EgressReply): string[] {
  const names = [headers["content-encoding"] ?? []]
    .flat()
    .join(",")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  if (names.length > MAX_ENCODINGS) {
    throw new FetchProblem("bad_encoding", `the body is encoded ${names.length} times over`);
  }
  return names;
}

async function createDecoder(encoding: string): Promise<Transform> {
  const zlib = await import("node:zlib");
  if (encoding === "gzip" || encoding === "x-gzip") return zlib.createGunzip();
  if (encoding === "br") return zlib.createBrotliDecompress();
  if (encoding === "deflate") return zlib.createInflate();
  throw new FetchProblem(
    "bad_encoding",
    `the body is encoded as ${encoding.slice(0, 40)}, which was not asked for`,
  );
}

function isDecodingError(thrown: unknown): thrown is NodeJS.ErrnoException {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  return /^(Z_|ERR__?ERROR_|ERR_BROTLI|ERR_PADDING|ERR_ZLIB)/.test(code);
}

function unreadable(thrown: Error): FetchProblem {
  return new FetchProblem("bad_encoding", `the body cannot be decoded: ${thrown.message}`);
}

function tooLarge({ maxBytes }: BodyLimits): FetchProblem {
  return new FetchProblem("too_large", `the body is larger than ${maxBytes} bytes`);
}

function watchPace({ bytes, everyMs }: Pace, onSlow: (problem: FetchProblem) => void) {
  let recent = 0;
  const timer = setInterval(() => {
    if (recent < bytes)
      onSlow(new FetchProblem("timeout", `the body came in slower than ${bytes} bytes in ${everyMs} ms`));
    recent = 0;
  }, everyMs);
  return {
    count: (size: number) => {
      recent += size;
    },
    stop: () => clearInterval(timer),
  };
}
