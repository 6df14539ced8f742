import type { LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import type { Readable } from "node:stream";
import { orAborted } from "@retinue/core/net/or-aborted";
import { readTransportError } from "@retinue/core/net/transport-error";
import { isAtHost, parseWebAddress } from "@retinue/core/net/web-address";
import type { Agent, buildConnector } from "undici";

/** Says why an address must not be connected to; null if it may. */
export type AddressGuard = (address: string) => string | null;

type Ipaddr = typeof import("ipaddr.js");
type Address = ReturnType<Ipaddr["parse"]>;
type IPv6 = InstanceType<Ipaddr["IPv6"]>;

/** Public by their number, yet services for the machine inside a cloud. */
const METADATA: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * Loads the guard that lets only addresses of the public internet through: no private, loopback, link-local (where cloud
 * metadata lives), shared, multicast, reserved or unassigned ones, and no address of this machine.
 */
export async function loadAddressGuard(): Promise<AddressGuard> {
  const { default: ipaddr } = await import("ipaddr.js");
  return (address) => {
    if (!ipaddr.isValid(address)) return "is not an IP address";
    const parsed = ipaddr.parse(address);
    return explainBlocked(parsed, ipaddr) ?? (isOwn(parsed, ipaddr) ? "is an address of this machine" : null);
  };
}

function explainBlocked(address: Address, ipaddr: Ipaddr): string | null {
  if ("octets" in address) {
    if (METADATA.has(address.toString())) return "is not a public address (metadata)";
    const range = address.range();
    return range === "unicast" ? null : `is not a public address (${range})`;
  }
  const inner = findEmbedded(address, ipaddr);
  const innerReason = inner && explainBlocked(inner, ipaddr);
  if (innerReason) return `stands for ${inner}, which ${innerReason}`;
  if (isNat64(address)) return null;
  const range = address.range();
  if (range !== "unicast") return `is not a public address (${range})`;
  return ((address.parts[0] ?? 0) & 0xe000) === 0x2000 ? null : "is not a public address (unassigned)";
}

/** The well-known prefix behind which hosts without IPv4 reach the public internet. */
function isNat64({ parts: [a, b, ...rest] }: IPv6): boolean {
  return a === 0x64 && b === 0xff9b && rest.slice(0, 4).every((part) => part === 0);
}

/** The IPv4 address that a gateway would contact for this one. Further embeddings are refused by their range. */
function findEmbedded(address: IPv6, ipaddr: Ipaddr): Address | null {
  const [, , , , e, f, high = 0, low = 0] = address.parts;
  const isIsatap = (e === 0 || e === 0x200) && f === 0x5efe;
  if (!isNat64(address) && !isIsatap) return null;
  return new ipaddr.IPv4([high >> 8, high & 255, low >> 8, low & 255]);
}

function isOwn(address: Address, ipaddr: Ipaddr): boolean {
  const text = address.toNormalizedString();
  return Object.values(networkInterfaces())
    .flatMap((entries) => entries ?? [])
    .some((entry) => ipaddr.parse(entry.address).toNormalizedString() === text);
}

/** How requests leave the machine. */
export type EgressOptions = {
  /** Origins that the host itself serves, such as `http://127.0.0.1:8123`; let through exactly, wherever they are. */
  allowOrigins?: readonly string[];
  /** Hosts (`wiki.corp`) or hosts with a port (`10.0.0.7:8080`) of the user's settings, let through wherever they are. */
  allowHosts?: readonly string[];
  /** Connections per origin at once; further requests wait. */
  connections?: number;
  connectTimeoutMs?: number;
  /** Replaces the check of addresses; for tests. */
  isBlocked?: AddressGuard;
  /** Replaces the network below the check; for tests. */
  network?: EgressNetwork;
};

/** Names to addresses, and addresses to where they are really found. */
export type EgressNetwork = {
  resolve(host: string): Promise<readonly string[]>;
  route?(address: string): string;
};

/** One request. Its `host` header is always that of the address. */
type EgressRequest = {
  method?: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array | Readable;
  signal?: AbortSignal;
};

/** A reply whose body is not read yet, neither decoded nor bounded; destroying the body closes its connection. */
export type EgressReply = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
};

/** The one way out to addresses that a model, a page or a stranger has named. */
export type Egress = {
  /** Sends one request; redirects are replies like others. Rejects only with `EgressError`. */
  request(address: string | URL, request?: EgressRequest): Promise<EgressReply>;
  /** Whether this address is let through by name, whatever it resolves to. */
  isExempt(url: URL): boolean;
  /** Ends every connection without waiting for those still being made; later requests fail. */
  close(): Promise<void>;
};

const MAX_HEADER_BYTES = 64 * 1024;
const REPLY_TIMEOUT_MS = 60_000;

/**
 * Creates the guarded way out. A name is resolved once per connection, all its addresses are checked, and the connection
 * goes to those very addresses, so that a second answer of a name server changes nothing. No proxy is used.
 */
export function createEgress(options: EgressOptions = {}): Egress {
  const isExempt = createExemption(options);
  let agent: Promise<Agent> | undefined;
  let closed = false;
  return {
    isExempt,
    async request(address, request = {}) {
      const parsed = parseWebAddress(typeof address === "string" ? address : address.href);
      if ("problem" in parsed) throw new EgressError("bad_url", parsed.problem);
      const { url } = parsed;
      if (closed) throw new EgressError("closed", "the way out is closed");
      agent ??= createAgent(options, isExempt);
      return await sendThrough(await agent, url, request);
    },
    async close() {
      closed = true;
      void (await agent)?.destroy();
    },
  };
}

async function sendThrough(agent: Agent, url: URL, request: EgressRequest): Promise<EgressReply> {
  const { method = "GET", headers = {}, body = null, signal } = request;
  if (signal?.aborted) throw new EgressError("aborted", "the request was cancelled");
  try {
    const requested = agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== "host")),
      body: body instanceof Uint8Array ? Buffer.from(body) : body,
      ...(signal && { signal }),
    });
    const reply = await orAborted(requested, signal);
    // A body that is dropped unread ends with an error that nobody waits for.
    reply.body.on("error", () => {});
    return { status: reply.statusCode, headers: reply.headers, body: reply.body };
  } catch (thrown) {
    throw toEgressError(thrown, url.host, signal);
  }
}

function createExemption({ allowOrigins = [], allowHosts = [] }: EgressOptions): (url: URL) => boolean {
  const hosts = new Set(allowHosts.map((host) => host.toLowerCase()));
  return (url) => {
    if (allowOrigins.some((origin) => URL.parse(origin)?.origin === url.origin)) return true;
    return isAtHost(url, hosts);
  };
}

async function createAgent(options: EgressOptions, isExempt: (url: URL) => boolean): Promise<Agent> {
  const [undici, guard] = await Promise.all([import("undici"), options.isBlocked ?? loadAddressGuard()]);
  const timeout = options.connectTimeoutMs ?? 10_000;
  const network = options.network ?? systemNetwork;
  const connectorFor = (isBlocked: AddressGuard) => {
    const base = {
      timeout,
      allowH2: false,
      autoSelectFamily: true,
      lookup: createLookup(network, isBlocked),
    };
    return guardConnector(undici.buildConnector(base), network, isBlocked);
  };
  const guarded = connectorFor(guard);
  const exempt = connectorFor(() => null);
  return new undici.Agent({
    connections: options.connections ?? 6,
    allowH2: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: REPLY_TIMEOUT_MS,
    bodyTimeout: REPLY_TIMEOUT_MS,
    connect: (target, callback) => {
      const port = target.port ? `:${target.port}` : "";
      const host = target.hostname.includes(":") ? `[${target.hostname}]` : target.hostname;
      const url = URL.parse(`${target.protocol}//${host}${port}`);
      (url && isExempt(url) ? exempt : guarded)(target, callback);
    },
  });
}

/** Checks a host that is an address itself, which no lookup would see. */
function guardConnector(
  connect: buildConnector.connector,
  network: EgressNetwork,
  isBlocked: AddressGuard,
): buildConnector.connector {
  const { isIP } = process.getBuiltinModule("node:net");
  return (target, callback) => {
    const { hostname } = target;
    if (isIP(hostname) === 0) return connect(target, callback);
    const reason = isBlocked(hostname);
    if (reason) return callback(describeBlocked(hostname, hostname, reason), null);
    connect({ ...target, hostname: network.route?.(hostname) ?? hostname }, callback);
  };
}

/** Resolves a name to addresses of which every one is allowed, and nothing else. */
function createLookup(network: EgressNetwork, isBlocked: AddressGuard): LookupFunction {
  const { isIP } = process.getBuiltinModule("node:net");
  const resolve = async (host: string): Promise<LookupAddress[]> => {
    const addresses = await network.resolve(host);
    if (addresses.length === 0) throw new EgressError("dns", `${host} has no address`);
    for (const address of addresses) {
      const reason = isBlocked(address);
      if (reason) throw describeBlocked(host, address, reason);
    }
    return addresses
      .map((address) => network.route?.(address) ?? address)
      .map((address) => ({ address, family: isIP(address) }));
  };
  return (host, { all }, callback) => {
    resolve(host).then(
      (found) => {
        const [first] = found;
        if (all || !first) callback(null, found);
        else callback(null, first.address, first.family);
      },
      (thrown: Error) => callback(thrown, []),
    );
  };
}

function describeBlocked(host: string, address: string, reason: string): EgressError {
  const named = host === address ? host : `${host} (${address})`;
  return new EgressError("blocked", `${named} ${reason} and may not be contacted`);
}

const systemNetwork: EgressNetwork = {
  resolve: async (host) => {
    const { lookup } = await import("node:dns/promises");
    return (await lookup(host, { all: true })).map(({ address }) => address);
  },
};

/** Why a request got no reply through the guard, or its reply was not what was asked for. */
export type EgressFailure =
  | "bad_url"
  | "blocked"
  | "dns"
  | "refused"
  | "reset"
  | "tls"
  | "timeout"
  | "too_large"
  | "protocol"
  | "aborted"
  | "closed"
  | "other"
  | "robots"
  | "not_found"
  | "rate_limited"
  | "http_error"
  | "redirect_loop"
  | "not_html"
  | "bad_encoding";

/** A request that failed. Its message never holds more of the address than the host. */
export class EgressError extends Error {
  override name = "EgressError";
  readonly failure: EgressFailure;
  /** What the server answered, if that is what is wrong. */
  readonly httpStatus: number | undefined;

  constructor(
    failure: EgressFailure,
    message: string,
    { httpStatus, cause }: { httpStatus?: number; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.failure = failure;
    this.httpStatus = httpStatus;
  }
}

const FAILURES: Readonly<Record<string, readonly [EgressFailure, string]>> = {
  UND_ERR_CONNECT_TIMEOUT: ["timeout", "did not answer the connection in time"],
  UND_ERR_HEADERS_TIMEOUT: ["timeout", "sent no reply in time"],
  UND_ERR_BODY_TIMEOUT: ["timeout", "stopped sending"],
  UND_ERR_HEADERS_OVERFLOW: ["too_large", "sent more headers than are read"],
  UND_ERR_SOCKET: ["reset", "closed the connection"],
  UND_ERR_DESTROYED: ["closed", "is out of reach: the way out is closed"],
  UND_ERR_CLOSED: ["closed", "is out of reach: the way out is closed"],
  UND_ERR_ABORTED: ["aborted", "was given up"],
};

/** Names whatever a request or a body was ended by. */
export function toEgressError(thrown: unknown, host: string, signal?: AbortSignal): EgressError {
  if (signal?.aborted) return new EgressError("aborted", "the request was cancelled", { cause: thrown });
  if (thrown instanceof EgressError) return thrown;
  const error: NodeJS.ErrnoException = thrown instanceof Error ? thrown : new Error(String(thrown));
  const known = FAILURES[error.code ?? ""];
  if (known) return new EgressError(known[0], `${host} ${known[1]}`, { cause: thrown });
  const { failure, message } = readTransportError(error, host);
  const named = failure === "connect_timeout" ? "timeout" : failure === "redirect" ? "other" : failure;
  return new EgressError(named, message, { cause: thrown });
}
