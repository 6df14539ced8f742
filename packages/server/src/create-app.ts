import type { HttpBindings } from "@hono/node-server";
import { shape, text } from "@retinue/core/schema/shape";
import { type Context, Hono } from "hono";
import { type Assets, isPlaceInApp, loadAssets } from "./assets.ts";
import type { ServerDesk } from "./desk.ts";
import { answerAdmission, noticePage } from "./guard/answer-admission.ts";
import type { RequestGuard } from "./guard/create-guard.ts";
import { createNonce } from "./guard/security-headers.ts";
import { callRoute } from "./http/call-route.ts";
import { answerError, answerThrown, BadRequest, NotFound } from "./http/http-errors.ts";
import { type ApiRoute, defineRoute } from "./http/route.ts";
import { createOpenApiRoute } from "./openapi.ts";

/** What an app is made of. */
export type AppOptions = {
  readonly desk: ServerDesk;
  readonly routes: readonly ApiRoute[];
  readonly guard: RequestGuard;
  /** The built web app. */
  readonly assetsDir: string;
  /** Tests check every JSON answer by its route's schema. */
  readonly checkAnswers?: boolean;
  /** Told of every defect, with the request it came up in. */
  readonly onFault?: (thrown: unknown, request: string) => void;
};

type AppEnv = {
  Bindings: Partial<HttpBindings> | undefined;
  Variables: { nonce: string; client: string; isLasting: boolean };
};

/** The whole server as one function from requests to answers, guarded on every path. */
export type ServerApp = Hono<AppEnv>;

/** Creates it. */
export function createApp(options: AppOptions): ServerApp {
  const { guard, assetsDir, desk } = options;
  const described = [...options.routes, createLinkRoute(guard)];
  const routes = [...described, createOpenApiRoute(described, desk.version)];
  const assets = loadAssets(assetsDir);
  const app: ServerApp = new Hono<AppEnv>();
  const answer = (thrown: unknown, c: Context<AppEnv>) =>
    answerThrown(thrown, (fault) => options.onFault?.(fault, `${c.req.method} ${c.req.path}`));
  // Stands before everything; whatever comes of a request, its answer leaves with the protecting headers.
  app.use("*", async (c, next) => {
    const nonce = createNonce();
    c.set("nonce", nonce);
    const { method, headers, url } = c.req.raw;
    const admission = guard.admit({ method, url: new URL(url), headers, target: c.env?.incoming?.url });
    if (admission.kind === "admitted") {
      c.set("client", admission.client);
      await next().catch((thrown) => {
        c.res = answer(thrown, c);
      });
    } else c.res = answerAdmission(admission, { isApi: isApi(c), nonce });
    guard.guards.protect(c.res.headers, { isApi: isApi(c), isLasting: c.get("isLasting") ?? false, nonce });
  });
  for (const route of routes)
    app.on(route.method.toUpperCase(), route.path, (c) => callIt(c, route, options));
  app.notFound((c) => (isApi(c) ? refuseUnknown(c, routes) : giveFile(c, assets)));
  app.onError(answer);
  return app;
}

async function callIt(c: Context<AppEnv>, route: ApiRoute, options: AppOptions): Promise<Response> {
  const { guard, desk, checkAnswers = false } = options;
  if (c.req.raw.method === "HEAD") throw new BadRequest(405, "the API has no HEAD", { code: "method" });
  const release = route.answers === "text/event-stream" ? holdStream(c, guard) : undefined;
  const { maxBodyBytes } = guard.guards;
  try {
    return await callRoute({
      route,
      request: c.req.raw,
      params: c.req.param(),
      maxBodyBytes,
      desk,
      checkAnswers,
    });
  } catch (thrown) {
    release?.();
    throw thrown;
  }
}

/** A stream counts until its connection is gone. */
function holdStream(c: Context<AppEnv>, guard: RequestGuard): () => void {
  const release = guard.openStream(c.get("client"));
  if (!release)
    throw new BadRequest(429, `more than ${guard.guards.maxStreams} event streams are open`, {
      code: "rate",
      hint: "close other tabs of Retinue",
      headers: { "retry-after": "5" },
    });
  c.env?.outgoing?.once("close", release);
  c.req.raw.signal.addEventListener("abort", release, { once: true });
  return release;
}

function refuseUnknown(c: Context<AppEnv>, routes: readonly ApiRoute[]): Response {
  const methods = findMethods(routes, c.req.path);
  if (methods.length === 0) throw new NotFound("there is no such route", "see GET /api/openapi.json");
  const allow = methods.join(", ");
  const message = `${c.req.method} is not possible here; ${allow} is`;
  throw new BadRequest(405, message, { code: "method", headers: { allow } });
}

async function giveFile(c: Context<AppEnv>, assets: Assets): Promise<Response> {
  const { pathname } = new URL(c.req.url);
  if (c.req.method !== "GET" && c.req.method !== "HEAD")
    return answerError(
      405,
      { code: "method", message: "files can only be read", hint: null },
      { allow: "GET" },
    );
  const asset = assets.find(pathname);
  if (asset) {
    c.set("isLasting", asset.isLasting);
    return new Response(await asset.read(), { headers: { "content-type": asset.type } });
  }
  if (!isPlaceInApp(pathname)) return html(noSuchPage(c.get("nonce")), 404);
  const page = await assets.page(c.get("nonce"));
  return page === null ? html(notBuilt(c.get("nonce")), 503) : html(page, 200);
}

function noSuchPage(nonce: string): string {
  const link = { href: "/", label: "Open Retinue" };
  return noticePage({ title: "There is no such page", sentences: [], link }, nonce);
}

function notBuilt(nonce: string): string {
  const sentences = [
    "The web app has not been built.",
    "Run `npm run build` in Retinue's folder, then `retinue serve` again.",
  ];
  return noticePage({ title: "Something is missing", sentences }, nonce);
}

function html(text: string, status: number): Response {
  return new Response(text, { status, headers: { "content-type": "text/html; charset=utf-8" } });
}

function isApi(c: Context<AppEnv>): boolean {
  return c.req.path === "/api" || c.req.path.startsWith("/api/");
}

/** The route by which a known browser or program makes a link for another browser. */
function createLinkRoute(guard: Pick<RequestGuard, "link">): ApiRoute {
  return defineRoute({
    method: "post",
    path: "/api/links",
    summary: "Makes a link that lets one browser in, once and within ten minutes.",
    answer: shape({ url: text }),
    handle: () => ({ url: guard.link() }),
  });
}

/** The methods that a path of the API can be asked with; none if there is no such path. */
function findMethods(routes: readonly ApiRoute[], path: string): string[] {
  const asked = path.split("/");
  return routes
    .filter((route) => fits(route.path.split("/"), asked))
    .map(({ method }) => method.toUpperCase());
}

function fits(parts: readonly string[], asked: readonly string[]): boolean {
  if (parts.length !== asked.length) return false;
  return parts.every((part, index) => (part.startsWith(":") ? asked[index] !== "" : part === asked[index]));
}
