import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** What happens to one request instead of a plain answer of the server. */
export type Fault =
  /** The proxy answers by itself; the server never hears of the request. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON. */
      readonly body?: string | object;
    }
  /** No answer ever comes; the server never hears of the request. */
  | { readonly kind: "hang" }
  /** The connection is torn down; the server never hears of the request. */
  | { readonly kind: "reset" }
  /** The server does what it was asked to, but its answer is lost. */
  | { readonly kind: "lost" }
  /** The server answers, this much later. */
  | { readonly kind: "slow"; readonly delayMs: number }
  /** The server answers as usual; keeps a place in a script. */
  | { readonly kind: "pass" };

/** A request as it reached the proxy. */
export type SeenRequest = {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** Whether it was passed on to the server. */
  served: boolean;
};

/** A proxy on loopback that does as its script says and counts what passes. */
export type FaultProxy = {
  /** Base address without a slash at its end. */
  readonly url: string;
  /** Every request so far, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Faults for the next requests of a route such as `POST /api/chat.*`; a star stands for anything. Adds to what is scripted. */
  script(route: string, ...faults: readonly Fault[]): void;
  /** Requests of a route that reached the proxy: the client's attempts. */
  seen(route: string): number;
  /** Requests of a route that were passed on to the server. */
  served(route: string): number;
  /** Forgets scripts and requests. */
  clear(): void;
  close(): Promise<void>;
};

type Script = { readonly route: string; readonly faults: Fault[] };

/** Headers that belong to one connection, not to the message. */
const HOP_HEADERS = new Set([
  "connection",
  "content-length",
  "content-encoding",
  "accept-encoding",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
]);

/** Starts a proxy before a server, or before several that share the paths: then the function chooses by path. */
export async function startFaultProxy(target: string | ((path: string) => string)): Promise<FaultProxy> {
  const scripts: Script[] = [];
  const requests: SeenRequest[] = [];
  const base = typeof target === "string" ? () => target : target;
  const timers = new Set<NodeJS.Timeout>();

  const later = (delayMs: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        resolve();
      }, delayMs);
      timers.add(timer);
    });

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const seen = await readRequest(request);
    requests.push(seen);
    const fault = scripts.find((one) => one.faults.length > 0 && matches(one.route, seen))?.faults.shift();
    if (fault?.kind === "hang") return;
    if (fault?.kind === "reset") return request.socket.resetAndDestroy();
    if (fault?.kind === "status") return answerItself(response, fault);
    if (fault?.kind === "slow") await later(fault.delayMs);
    seen.served = true;
    const reply = await passOn(base(seen.path), request.url ?? "/", seen);
    const body = Buffer.from(await reply.arrayBuffer());
    if (fault?.kind === "lost") return request.socket.resetAndDestroy();
    response.writeHead(reply.status, keep([...reply.headers])).end(body);
  };

  const server = createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const count = (route: string, wanted: (one: SeenRequest) => boolean) =>
    requests.filter((one) => matches(route, one) && wanted(one)).length;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    script: (route, ...faults) => void scripts.push({ route, faults: [...faults] }),
    seen: (route) => count(route, () => true),
    served: (route) => count(route, (one) => one.served),
    clear() {
      scripts.length = 0;
      requests.length = 0;
    },
    async close() {
      for (const timer of timers) clearTimeout(timer);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const url = new URL(request.url ?? "/", "http://proxy");
  return {
    method: request.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: request.headers,
    body: await text(request),
    served: false,
  };
}

function matches(route: string, request: SeenRequest): boolean {
  const pattern = route.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/gu, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`, "u").test(`${request.method} ${request.path}`);
}

function answerItself(response: ServerResponse, fault: Extract<Fault, { kind: "status" }>): void {
  const isJson = typeof fault.body === "object";
  const type = isJson ? "application/json" : "text/plain";
  response.writeHead(fault.status, { "content-type": type, ...fault.headers });
  response.end(isJson ? JSON.stringify(fault.body) : (fault.body ?? ""));
}

function passOn(base: string, target: string, seen: SeenRequest): Promise<Response> {
  const headers = Object.entries(seen.headers).map(([name, value]) => [name, String(value)] as const);
  const hasBody = seen.method !== "GET" && seen.method !== "HEAD";
  return fetch(`${base}${target}`, {
    method: seen.method,
    headers: keep(headers),
    redirect: "manual",
    ...(hasBody ? { body: seen.body } : {}),
  });
}

function keep(headers: readonly (readonly [string, string])[]): Record<string, string> {
  return Object.fromEntries(headers.filter(([name]) => !HOP_HEADERS.has(name.toLowerCase())));
}
