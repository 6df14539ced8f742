import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getRequestListener } from "@hono/node-server";
import { loadProject } from "@retinue/builtin/load-project";
import type { Clock } from "@retinue/core/budget/clock";
import type { RequestPatience } from "@retinue/core/net/request-patience";
import { createBlobStore } from "@retinue/core/record/blob-store";
import { filledText, shape, text, whole } from "@retinue/core/schema/shape";
import { testRuntime } from "@retinue/core/testing";
import { type AppOptions, createApp, type ServerApp } from "@retinue/server/create-app";
import type { ServerDesk } from "@retinue/server/desk";
import { Feeds } from "@retinue/server/feed/feeds";
import { PersonsDesk } from "@retinue/server/feed/persons-desk";
import { createGuard, type RequestGuard, type ServerGuards } from "@retinue/server/guard/create-guard";
import { type ApiRoute, defineRoute } from "@retinue/server/http/route";
import { listen } from "@retinue/server/listen";
import { createLiveProject } from "@retinue/server/live-project";

export const PORT = 7477;
export const ORIGIN = `http://127.0.0.1:${PORT}`;
/** Stands in a file beside the served folder: a client that sees it has got out. */
export const SECRET = "nobody may read this";
/** Stands in the page of the web app. */
export const PAGE = "the web app";

/** A clock that stands until it is moved. */
export type HandClock = Clock & { nowMs: number };

/** A server of a real runtime with small routes, asked without a socket or with one. */
export type Site = {
  readonly app: ServerApp;
  readonly guard: RequestGuard;
  readonly clock: HandClock;
  readonly faults: unknown[];
  /** How often a route changed something. */
  written: number;
  /** Asks as the page itself does, with the key, unless the headers say otherwise; null leaves one out. */
  ask(path: string, init?: Asking): Promise<Response>;
  /** Answers on a port of this machine. */
  serve(patience?: RequestPatience): Promise<{ port: number; origin: string; bearer: string }>;
  /** Sends a request's lines over a socket and gives everything that comes back. */
  send(lines: readonly string[]): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
};

export type Asking = {
  method?: string;
  headers?: Readonly<Record<string, string | null>>;
  body?: string | ReadableStream<Uint8Array>;
  signal?: AbortSignal;
};

export type SiteOptions = {
  guards?: Partial<ServerGuards>;
  routes?: readonly ApiRoute[];
  app?: Partial<AppOptions>;
};

/** Opens one. */
export async function openSite(options: SiteOptions = {}): Promise<Site> {
  const root = mkdtempSync(join(tmpdir(), "retinue-site-"));
  const t = testRuntime({ main: [] }, { lenient: true });
  const clock = handClock();
  const key = Buffer.alloc(32, 7);
  let guard = createGuard({ key, port: PORT, origin: ORIGIN, clock, guards: options.guards ?? {} });
  const desk = await deskOf(t);
  const faults: unknown[] = [];
  const assetsDir = writeAssets(root);
  const routes = options.routes ?? smallRoutes(() => site.written++);
  const make = () =>
    createApp({
      desk,
      routes,
      guard,
      assetsDir,
      onFault: (thrown) => faults.push(thrown),
      ...options.app,
    });
  const endings: (() => unknown)[] = [];
  const site: Site = {
    app: make(),
    guard,
    clock,
    faults,
    written: 0,
    ask: async (path, init = {}) =>
      site.app.request(new Request(`${ORIGIN}${path}`, requestInit(init, guard))),
    async serve(patience) {
      const { server, port, origin } = await listen({ port: 0, ...(patience && { patience }) });
      guard = createGuard({ key, port, origin, clock, guards: options.guards ?? {} });
      const app = make();
      server.on("request", getRequestListener(app.fetch, { overrideGlobalObjects: false }));
      endings.push(() => {
        server.close();
        server.closeAllConnections();
      });
      return { port, origin, bearer: guard.bearer };
    },
    async send(lines) {
      const { port } = await site.serve();
      const own = lines.map((line) => line.replaceAll("PORT", String(port)).replaceAll("KEY", guard.bearer));
      return talk(port, `${own.join("\r\n")}\r\nConnection: close\r\n\r\n`);
    },
    async [Symbol.asyncDispose]() {
      for (const end of endings) await end();
      desk.feeds.close();
      await t.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return site;
}

function handClock(): HandClock {
  const clock: HandClock = {
    nowMs: 1_800_000_000_000,
    monotonicMs: () => clock.nowMs,
    wallMs: () => clock.nowMs,
    timer: () => () => {},
  };
  return clock;
}

async function deskOf({ runtime, projectDir, dataDir }: ReturnType<typeof testRuntime>): Promise<ServerDesk> {
  const options = { projectDir, env: { HOME: dataDir } };
  return {
    runtime,
    project: createLiveProject(options, await loadProject(options)),
    tools: [],
    blobs: createBlobStore(join(dataDir, "blobs")),
    feeds: new Feeds({ runtime, project: projectDir, version: "0", startedAtMs: 0 }),
    person: new PersonsDesk({ approvalMinutes: 0, onChange: () => {} }),
    version: "0.0.0",
    startedAtMs: 0,
    agent: "main",
    model: undefined,
    permissionMode: "default",
    paced: new Set(),
    checkHealth: async () => [],
  };
}

function smallRoutes(wrote: () => void): ApiRoute[] {
  return [
    defineRoute({
      method: "get",
      path: "/api/things/:id",
      summary: "Gives a thing.",
      answer: shape({ id: text }),
      handle: ({ params }) => ({ id: params.id }),
    }),
    defineRoute({
      method: "post",
      path: "/api/things",
      summary: "Makes a thing.",
      body: shape({ word: filledText(2_000_000) }),
      answer: shape({ length: whole }),
      handle: ({ body }) => {
        wrote();
        return { length: body.word.length };
      },
    }),
    defineRoute({
      method: "get",
      path: "/api/events",
      summary: "A stream.",
      answers: "text/event-stream",
      handle: ({ signal }, desk) => desk.feeds.news(signal),
    }),
  ];
}

/** The built app as Vite leaves it, a secret beside it, and a link that leads there. */
function writeAssets(root: string): string {
  const folder = join(root, "web");
  mkdirSync(join(folder, "assets"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), SECRET);
  symlinkSync(join(root, "secret.txt"), join(folder, "linked.txt"));
  const meta = '<meta name="csp-nonce" content="" />';
  writeFileSync(join(folder, "index.html"), `<!doctype html><head>${meta}</head><p>${PAGE}</p>`);
  writeFileSync(join(folder, "assets", "index-B4kT9x_2.js"), "export {};");
  writeFileSync(join(folder, "icon.svg"), "<svg/>");
  return folder;
}

function requestInit(
  { method = "GET", headers = {}, body, signal }: Asking,
  guard: RequestGuard,
): RequestInit {
  const usual: Record<string, string | null> = {
    host: `127.0.0.1:${PORT}`,
    authorization: `Bearer ${guard.bearer}`,
    ...(body !== undefined && { "content-type": "application/json" }),
  };
  const all = Object.entries({ ...usual, ...headers }).flatMap(([name, value]): [string, string][] =>
    value === null ? [] : [[name, value]],
  );
  return {
    method,
    headers: all,
    ...(body !== undefined && { body, duplex: "half" }),
    ...(signal && { signal }),
  };
}

function talk(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.setEncoding("utf8");
    socket.on("data", (part: string) => {
      got += part;
    });
    socket.on("close", () => resolve(got));
    socket.on("error", reject);
  });
}
