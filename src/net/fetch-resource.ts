import { type EgressError, type EgressFailure, egressErrorOf } from "./egress-error.ts";
import type { Egress, EgressReply } from "./egress-guard.ts";
import { type FetchFailure, FetchProblem } from "./fetch-outcome.ts";
import { type Pace, readBody } from "./read-body.ts";
import { parseWebAddress } from "./web-address.ts";

/** How a resource is asked for. */
export type ResourceRequest = {
  egress: Egress;
  /** Ends everything; its reason, if a `FetchProblem`, is what the caller is told. */
  signal: AbortSignal;
  /** Sent only to the origin that was asked first. */
  headers: Readonly<Record<string, string>>;
  userAgent: string;
  accept: string;
  maxBytes: number;
  whenLonger: "fail" | "cut";
  pace: Pace;
  /** Called with every address before it is asked, redirects included; throws to refuse it. */
  beforeEach?(url: URL): Promise<void>;
  /** Called before the body is read; throws to refuse it. */
  beforeBody?(contentType: string): void;
};

/** A resource as it was sent, decoded. */
export type Resource = { headers: EgressReply["headers"]; contentType: string; body: Buffer };

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const WHOLE: ReadonlySet<number> = new Set([200, 203]);

/** Gets a resource, following redirects; `at` is told every address on the way. Throws only `FetchProblem`. */
export async function fetchResource(
  address: string,
  request: ResourceRequest,
  at: (url: URL) => void = () => {},
): Promise<Resource> {
  const first = addressOf(address);
  const seen = new Set<string>();
  let url = first;
  let isOwn = true;
  while (true) {
    at(url);
    if (seen.has(url.href) || seen.size > MAX_REDIRECTS) throw redirectLoop();
    seen.add(url.href);
    await request.beforeEach?.(url);
    const reply = await send(url, request, isOwn);
    const next = redirectOf(reply, url);
    if (next === undefined) return await receive(reply, url, request);
    reply.body.destroy();
    if (request.egress.isExempt(next) && !request.egress.isExempt(url)) {
      throw new FetchProblem("blocked", `${url.host} points to ${next.host}, where only the user may lead`);
    }
    isOwn &&= next.origin === first.origin;
    url = next;
  }
}

async function send(url: URL, request: ResourceRequest, isOwn: boolean): Promise<EgressReply> {
  const { egress, signal } = request;
  const headers = {
    ...(isOwn && request.headers),
    "user-agent": request.userAgent,
    accept: request.accept,
    "accept-encoding": "gzip, br",
  };
  try {
    return await egress.request(url, { headers, signal });
  } catch (thrown) {
    throw problemOf(thrown, url, signal);
  }
}

async function receive(reply: EgressReply, url: URL, request: ResourceRequest): Promise<Resource> {
  try {
    refuseStatus(reply, url);
    const contentType = [reply.headers["content-type"] ?? ""].flat().join(";");
    request.beforeBody?.(contentType);
    if (request.whenLonger === "fail") refuseLength(reply, request.maxBytes);
    return { headers: reply.headers, contentType, body: await readBody(reply, request) };
  } catch (thrown) {
    reply.body.destroy();
    throw problemOf(thrown, url, request.signal);
  }
}

function addressOf(text: string, base?: URL): URL {
  const address = parseWebAddress(text, base);
  if ("problem" in address) throw new FetchProblem("bad_url", address.problem);
  return address.url;
}

function redirectOf({ status, headers, body }: EgressReply, from: URL): URL | undefined {
  const location = [headers.location ?? []].flat()[0];
  if (!REDIRECTS.has(status) || location === undefined) return undefined;
  try {
    // Header values come in as Latin-1, while addresses in them are UTF-8.
    return addressOf(Buffer.from(location, "latin1").toString("utf8"), from);
  } catch (thrown) {
    body.destroy();
    if (!(thrown instanceof FetchProblem)) throw thrown;
    throw new FetchProblem(
      thrown.kind,
      `${from.host} points to a place that cannot be followed: ${thrown.message}`,
    );
  }
}

function redirectLoop(): FetchProblem {
  return new FetchProblem(
    "redirect_loop",
    `the address leads back to itself or through more than ${MAX_REDIRECTS} redirects`,
  );
}

function refuseStatus({ status, headers }: EgressReply, url: URL): void {
  if (WHOLE.has(status)) return;
  const retryAfterMs = retryAfter(headers["retry-after"]);
  const more = { httpStatus: status, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const kind =
    status === 404 || status === 410 ? "not_found" : status === 429 ? "rate_limited" : "http_error";
  throw new FetchProblem(kind, `${url.host} answered ${status}`, more);
}

function retryAfter(header: string | string[] | undefined): number | undefined {
  const value = [header ?? ""].flat()[0]?.trim() ?? "";
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function refuseLength({ headers }: EgressReply, maxBytes: number): void {
  const length = Number([headers["content-length"] ?? ""].flat()[0]);
  if (length > maxBytes) {
    throw new FetchProblem("too_large", `the body has ${length} bytes, ${maxBytes} are read at most`);
  }
}

const KINDS: Readonly<Record<EgressFailure, FetchFailure>> = {
  bad_url: "bad_url",
  blocked: "blocked",
  dns: "dns",
  refused: "refused",
  reset: "reset",
  tls: "tls",
  timeout: "timeout",
  too_large: "too_large",
  protocol: "reset",
  aborted: "aborted",
  closed: "aborted",
  other: "reset",
};

function problemOf(thrown: unknown, url: URL, signal: AbortSignal): FetchProblem {
  if (signal.aborted && signal.reason instanceof FetchProblem) return signal.reason;
  if (thrown instanceof FetchProblem) return thrown;
  const error: EgressError = egressErrorOf(thrown, url.host, signal);
  return new FetchProblem(KINDS[error.failure], error.message);
}
