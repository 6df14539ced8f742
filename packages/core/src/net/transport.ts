import {
  type BodyReader,
  type Transport,
  TransportError,
  type TransportReply,
  type TransportRequest,
} from "../schema/transport.ts";
import { Connection, type ConnectionOwner, type Receiver } from "./connection.ts";
import { type Destination, openSocket } from "./open-socket.ts";
import { findProxy } from "./proxy.ts";
import { HEADER_NAME, NOT_IN_HEADER, type ResponseHeaders } from "./response-parser.ts";

/** How connections are pooled. */
export type TransportOptions = {
  /** Connections per host at once; further requests wait. Default: no limit. */
  maxSockets?: number;
  /** Idle connections kept per host. */
  maxFreeSockets?: number;
  connectTimeoutMs?: number;
  /** How long an idle connection is kept; a shorter `Keep-Alive` hint of the server wins. */
  idleTimeoutMs?: number;
  /** Where `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` are read from. Default: no proxy. */
  proxyEnv?: NodeJS.ProcessEnv;
};

const KEPT_TARGETS = 64;
/** How long the rest of a body may take after its reader is done, and how long an error text may take. */
const DRAIN_MS = 1_000;
const TEXT_MS = 5_000;
const MAX_DRAINED_BYTES = 65_536;
/** How often idle connections are looked at. */
const SWEEP_MS = 1_000;

/**
 * Creates a transport that speaks HTTP/1.1 itself over pooled connections. Models stream for minutes, thousands at once:
 * a call costs half of the CPU and a fraction of the heap that `node:http` takes; see decision 23.
 */
export function createTransport(options: TransportOptions = {}): Transport {
  const pools = new Map<string, Pool>();
  const targets = new Map<string, Target>();
  let isClosed = false;
  const findTarget = (url: string): Target => {
    const known = targets.get(url);
    if (known) return known;
    const target = parseTarget(url, options.proxyEnv);
    if (targets.size >= KEPT_TARGETS) targets.clear();
    targets.set(url, target);
    return target;
  };
  const findPool = (target: Target): Pool => {
    let pool = pools.get(target.origin);
    if (!pool) {
      pool = new Pool(target, options);
      pools.set(target.origin, pool);
    }
    return pool;
  };
  const send = (method: string, url: string, request: TransportRequest): Promise<TransportReply> =>
    new Promise((resolve, reject) => {
      const target = findTarget(url);
      const { host } = target;
      if (request.signal?.aborted) throw cancelled(host);
      if (isClosed) throw new TransportError("closed", host, "the transport is closed");
      const pool = findPool(target);
      pool.start(
        new Exchange({ pool, method, text: writeRequest(target, method, request), host }, request.signal, {
          resolve,
          reject,
        }),
      );
    });
  return {
    post: (url, request) => send("POST", url, request),
    get: (url, request) => send("GET", url, request),
    close: () => {
      isClosed = true;
      for (const pool of pools.values()) pool.close();
    },
  };
}

/** An address as requests need it. */
type Target = Destination & { origin: string; path: string; headers: string; login: string };

function parseTarget(url: string, env: NodeJS.ProcessEnv = {}): Target {
  const parsed = URL.parse(url);
  if (!parsed || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
    throw new TransportError("other", "?", "the address is not an http or https URL");
  const { host, username } = parsed;
  const secure = parsed.protocol === "https:";
  const proxy = findProxy(parsed, env);
  const login = username === "" ? "" : `authorization: ${readLogin(parsed)}\r\n`;
  const viaProxy = proxy && !secure;
  const path = parsed.pathname + parsed.search;
  const passed = viaProxy && proxy.authorization ? `proxy-authorization: ${proxy.authorization}\r\n` : "";
  return {
    host,
    secure,
    hostname: parsed.hostname.replace(/^\[|\]$/g, ""),
    port: Number(parsed.port || (secure ? 443 : 80)),
    proxy,
    origin: parsed.origin,
    path: viaProxy ? parsed.origin + path : path,
    headers: `host: ${host}\r\nconnection: keep-alive\r\n${passed}`,
    login,
  };
}

function readLogin(url: URL): string {
  try {
    const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(login).toString("base64")}`;
  } catch {
    throw new TransportError(
      "other",
      url.host,
      "the user name or password in the address is not encoded rightly",
    );
  }
}

/** Headers as they are sent: the same object goes with every request of a model. */
const writtenHeaders = new WeakMap<TransportRequest["headers"], string>();

function writeRequest(target: Target, method: string, { headers, body }: TransportRequest): string {
  let written = writtenHeaders.get(headers);
  if (written === undefined) {
    written = writeHeaders(headers, target.host);
    writtenHeaders.set(headers, written);
  }
  // What a request gives itself goes before the login in its address, and a server gets one of them.
  const login = target.login !== "" && /^authorization:/im.test(written) ? "" : target.login;
  const length = body === undefined ? "" : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${target.path} HTTP/1.1\r\n${target.headers}${login}${written}${length}\r\n${body ?? ""}`;
}

function writeHeaders(headers: TransportRequest["headers"], host: string): string {
  const all = { "accept-encoding": "identity", ...headers };
  return Object.entries(all)
    .map(([name, value]) => {
      if (!HEADER_NAME.test(name) || NOT_IN_HEADER.test(value))
        throw new TransportError("other", host, `the header ${JSON.stringify(name)} cannot be sent`);
      return `${name}: ${value}\r\n`;
    })
    .join("");
}

const cancelled = (host: string) => new TransportError("aborted", host, "the request was cancelled");

/** The connections to one server, and the requests that wait for one. */
class Pool implements ConnectionOwner {
  readonly #target: Target;
  readonly #most: number;
  readonly #mostIdle: number;
  readonly #connectTimeoutMs: number;
  readonly #idleTimeoutMs: number;
  readonly #open = new Set<Connection>();
  /** Attempts to connect that are under way, and how each is given up. */
  readonly #opening = new Map<Exchange, () => void>();
  /** The one used last is used first, so that those too many run out. */
  #idle: Connection[] = [];
  readonly #waiting: Exchange[] = [];
  #sweeper: NodeJS.Timeout | undefined;

  constructor(target: Target, options: TransportOptions) {
    this.#target = target;
    this.#most = options.maxSockets ?? Number.POSITIVE_INFINITY;
    this.#mostIdle = options.maxFreeSockets ?? 1024;
    this.#connectTimeoutMs = options.connectTimeoutMs ?? 10_000;
    this.#idleTimeoutMs = options.idleTimeoutMs ?? 30_000;
  }

  start(exchange: Exchange): void {
    const nowMs = performance.now();
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) {
      if (connection.idleUntilMs > nowMs) {
        exchange.sendOn(connection);
        return;
      }
      connection.destroy(this.#unused());
    }
    if (this.#open.size + this.#opening.size >= this.#most) this.#waiting.push(exchange);
    else this.connect(exchange);
  }

  /** Sends over a connection of its own. */
  connect(exchange: Exchange): void {
    const giveUp = openSocket(this.#target, this.#connectTimeoutMs, {
      onOpen: (opened) => {
        this.#opening.delete(exchange);
        const connection = new Connection(opened, this.#target.host, this);
        this.#open.add(connection);
        exchange.sendOn(connection);
      },
      onFailed: (error) => {
        this.#opening.delete(exchange);
        exchange.onEnd(error);
        this.#startNext();
      },
    });
    this.#opening.set(exchange, giveUp);
  }

  /** A request that waits for a connection, or for one to open, does not any more. */
  leave(exchange: Exchange): void {
    const at = this.#waiting.indexOf(exchange);
    if (at !== -1) this.#waiting.splice(at, 1);
    const giveUp = this.#opening.get(exchange);
    if (!giveUp) return;
    this.#opening.delete(exchange);
    giveUp();
    this.#startNext();
  }

  onIdle(connection: Connection, hintMs = this.#idleTimeoutMs): void {
    const waiting = this.#waiting.shift();
    const keptMs = Math.min(hintMs, this.#idleTimeoutMs);
    if (waiting) waiting.sendOn(connection);
    else if (keptMs <= 0 || this.#idle.length >= this.#mostIdle) connection.destroy(this.#unused());
    else {
      connection.idleUntilMs = performance.now() + keptMs;
      connection.rest();
      this.#idle.push(connection);
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_MS).unref();
    }
  }

  onGone(connection: Connection, left: Parameters<ConnectionOwner["onGone"]>[1]): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    if (left?.receiver instanceof Exchange && left.isStale && left.receiver.mayRepeat())
      this.connect(left.receiver);
    else left?.receiver.onEnd(left.error);
    this.#startNext();
  }

  close(): void {
    clearInterval(this.#sweeper);
    const closed = new TransportError("closed", this.#target.host, "the transport is closed");
    for (const exchange of this.#waiting.splice(0)) exchange.onEnd(closed);
    for (const connection of this.#open) connection.destroy(closed);
    for (const [exchange, giveUp] of this.#opening) {
      giveUp();
      exchange.onEnd(closed);
    }
    this.#opening.clear();
  }

  #startNext(): void {
    if (this.#open.size + this.#opening.size >= this.#most) return;
    const next = this.#waiting.shift();
    if (next) this.connect(next);
  }

  #sweep(): void {
    const nowMs = performance.now();
    const late = this.#idle.filter((connection) => connection.idleUntilMs <= nowMs);
    for (const connection of late) connection.destroy(this.#unused());
    this.#idle = this.#idle.filter((connection) => connection.idleUntilMs > nowMs);
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #unused(): TransportError {
    return new TransportError("closed", this.#target.host, "the connection was not used any more");
  }
}

/** What is sent, and where. */
type Sent = { readonly pool: Pool; readonly method: string; text: string; readonly host: string };

const NO_HEADERS: ResponseHeaders = Object.freeze({});

type Waiting = { resolve(reply: TransportReply): void; reject(error: TransportError): void };

/** One request with its reply: from the moment it is asked for to the last byte of the body. */
class Exchange implements TransportReply, Receiver {
  status = 0;
  headers: ResponseHeaders = NO_HEADERS;
  readonly #sent: Sent;
  readonly #signal: AbortSignal | undefined;
  #waiting: Waiting | null;
  #connection: Connection | null = null;
  #reader: BodyReader | null = null;
  /** What came of the body before it had a reader. */
  #early: Buffer[] | null = null;
  #end: { error: TransportError | undefined } | null = null;
  #isReleased = false;
  #drained = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(sent: Sent, signal: AbortSignal | undefined, waiting: Waiting) {
    this.#sent = sent;
    this.#signal = signal;
    this.#waiting = waiting;
    signal?.addEventListener("abort", this);
  }

  /** The signal has fired. */
  handleEvent(): void {
    this.#drop(cancelled(this.#sent.host));
  }

  sendOn(connection: Connection): void {
    this.#connection = connection;
    connection.send(this, this.#sent.method, this.#sent.text);
    // It can be long, and only a connection that was used before may turn out to be closed.
    if (!connection.isUsed) this.#sent.text = "";
  }

  /** Whether it can be sent once more, over a new connection, because the first was closed already. */
  mayRepeat(): boolean {
    this.#connection = null;
    return this.#end === null;
  }

  onHead(status: number, headers: ResponseHeaders): void {
    this.#sent.text = "";
    this.status = status;
    this.headers = headers;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (status < 300 || status > 399) {
      waiting?.resolve(this);
      return;
    }
    const error = new TransportError("redirect", this.#sent.host, describeRedirect(this.#sent.host, this));
    this.#drop(error);
    waiting?.reject(error);
  }

  onBody(bytes: Buffer): void {
    if (this.#reader) this.#reader.chunk(bytes);
    else if (this.#isReleased) {
      this.#drained += bytes.length;
      if (this.#drained > MAX_DRAINED_BYTES) this.#connection?.destroy(this.#dropped());
    } else if (!this.#end) {
      this.#early ??= [];
      this.#early.push(Buffer.from(bytes));
    }
  }

  onEnd(error?: TransportError): void {
    if (this.#end) return;
    this.#end = { error };
    this.#connection = null;
    this.#sent.text = "";
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error ?? this.#dropped());
    const reader = this.#reader;
    this.#reader = null;
    reader?.end(error);
  }

  read(reader: BodyReader): void {
    this.#reader = reader;
    const early = this.#early ?? [];
    this.#early = null;
    for (const bytes of early) this.#reader?.chunk(bytes);
    if (!this.#end || !this.#reader) return;
    this.#reader = null;
    reader.end(this.#end.error);
  }

  text(maxBytes: number): Promise<string> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const timer = setTimeout(() => this.destroy(), TEXT_MS);
      this.read({
        chunk: (bytes) => {
          chunks.push(Buffer.from(bytes));
          size += bytes.length;
          if (size > maxBytes) this.destroy();
        },
        end: () => {
          clearTimeout(timer);
          resolve(Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8"));
        },
      });
    });
  }

  pause(): void {
    this.#connection?.pause();
  }

  resume(): void {
    this.#connection?.resume();
  }

  release(): void {
    this.#reader = null;
    this.#isReleased = true;
    this.#early = null;
    this.#signal?.removeEventListener("abort", this);
    this.#connection?.resume();
    // Mostly the rest is in the bytes that are being read.
    queueMicrotask(() => {
      if (this.#end) return;
      this.#timer = setTimeout(() => this.#connection?.destroy(this.#dropped()), DRAIN_MS).unref();
    });
  }

  destroy(): void {
    this.#drop(this.#dropped());
  }

  /** Ends it from this side, with the connection that it may have by now. */
  #drop(error: TransportError): void {
    const connection = this.#connection;
    this.#early = null;
    this.#sent.pool.leave(this);
    this.onEnd(error);
    connection?.destroy(error);
  }

  #dropped(): TransportError {
    return new TransportError("aborted", this.#sent.host, "the reply was dropped");
  }
}

function describeRedirect(host: string, { status, headers }: TransportReply): string {
  const location = headers.location === undefined ? "an unnamed place" : String(headers.location);
  const target = URL.parse(location, `http://${host}`);
  const named = target ? `${target.origin}${target.pathname}` : location.slice(0, 200);
  return `${host} answered ${status} and points to ${named}; redirects are not followed`;
}
