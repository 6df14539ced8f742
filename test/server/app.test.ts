import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RetinueError, type RetinueErrorCode } from "@retinue/core/schema/error";
import { shape, text, whole } from "@retinue/core/schema/shape";
import { Conflict, NotFound } from "@retinue/server/http/http-errors";
import { type ApiRoute, defineRoute } from "@retinue/server/http/route";
import { describeApi } from "@retinue/server/openapi";
import { ALL_ROUTES } from "@retinue/server/routes/all-routes";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { openSite, PAGE } from "./site.ts";

type ApiDocument = {
  openapi: string;
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
};

/** A route that throws what it is given. */
function throwing(thrown: unknown): ApiRoute {
  const handle = () => {
    throw thrown;
  };
  return defineRoute({ method: "get", path: "/api/broken", summary: "Breaks.", answer: {}, handle });
}

async function errorOf(thrown: unknown): Promise<{ status: number; error: unknown; faults: unknown[] }> {
  await using site = await openSite({ routes: [throwing(thrown)] });
  const response = await site.ask("/api/broken");
  const body: { error: unknown } = JSON.parse(await response.text());
  expect(Object.keys(body)).toEqual(["error"]);
  return { status: response.status, error: body.error, faults: site.faults };
}

test("every kind of error has its status, its code and what to do next", async () => {
  const codes: Record<RetinueErrorCode, number> = {
    usage: 400,
    auth: 422,
    input: 422,
    config: 422,
    limit: 409,
    denied: 403,
    store: 500,
    failed: 500,
  };
  for (const [code, status] of Object.entries(codes) as [RetinueErrorCode, number][]) {
    const { faults, ...told } = await errorOf(new RetinueError(code, "it is wrong", "do this"));
    expect(told).toEqual({ status, error: { code, message: "it is wrong", hint: "do this" } });
    expect(faults).toEqual([]);
  }
  expect(await errorOf(new NotFound("no agent 'x'", "see the list"))).toMatchObject({
    status: 404,
    error: { code: "not_found", message: "no agent 'x'", hint: "see the list" },
  });
  expect(await errorOf(new Conflict("the file has changed"))).toMatchObject({
    status: 409,
    error: { code: "conflict", hint: null },
  });
});

test("a defect tells the person who asks nothing of its insides, and the one who runs the server everything", async () => {
  const defect = new TypeError("cannot read /home/ada/.secret of undefined");
  const { status, error, faults } = await errorOf(defect);
  expect(status).toBe(500);
  expect(JSON.stringify(error)).not.toMatch(/secret|TypeError|at /);
  expect(faults).toEqual([defect]);
});

test("an unknown route is 404 and a wrong method 405, both in JSON", async () => {
  await using site = await openSite();
  const unknown = await site.ask("/api/nothing/here");
  expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: "not_found" } }]);
  const wrong = await site.ask("/api/things/x", { method: "DELETE" });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET"]);
  expect((await site.ask("/api/events", { method: "HEAD" })).status).toBe(405);
  expect((await site.ask("/runs", { method: "POST" })).status).toBe(405);
});

test("what does not fit a route's schemas never reaches it, and the answer says why", async () => {
  await using site = await openSite();
  const post = async (body: string, type = "application/json") => {
    const response = await site.ask("/api/things", {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    return [response.status, await response.text()] as const;
  };
  expect(await post("{}")).toEqual([400, expect.stringContaining("word")]);
  expect(await post('{"word":1}')).toEqual([400, expect.stringContaining("word")]);
  expect(await post('{"word":"x","more":1}')).toEqual([400, expect.stringContaining("more")]);
  expect(await post('{"word":"x","__proto__":{}}')).toEqual([400, expect.stringContaining("__proto__")]);
  expect(await post("{")).toEqual([400, expect.stringContaining("not valid JSON")]);
  expect(await post("word=x", "application/x-www-form-urlencoded")).toEqual([415, expect.any(String)]);
  expect(await post('{"word":"x"}', "text/plain")).toEqual([415, expect.any(String)]);
  expect((await site.ask("/api/things/x?more=1")).status).toBe(400);
  expect((await site.ask("/api/things/x?a=1&a=2")).status).toBe(400);
  for (const part of ["%00", "a%2Fb", "a%5Cb", "x".repeat(301), "%0a"])
    expect([part, (await site.ask(`/api/things/${part}`)).status]).toEqual([part, 404]);
  expect(site.written).toBe(0);
});

test("in tests an answer that its schema does not say is a fault that names itself", async () => {
  const route = defineRoute({
    method: "get",
    path: "/api/count",
    summary: "Counts.",
    answer: shape({ count: whole }),
    handle: () => ({ count: 1.5 }),
  });
  await using strict = await openSite({ routes: [route], app: { checkAnswers: true } });
  const response = await strict.ask("/api/count");
  expect([response.status, await response.text()]).toEqual([
    500,
    expect.stringMatching(/get \/api\/count .*count/),
  ]);
  await using lax = await openSite({ routes: [route] });
  expect(await (await lax.ask("/api/count")).json()).toEqual({ count: 1.5 });
});

test("every place of the app gives the page, with a new nonce each time that its policy names", async () => {
  await using site = await openSite();
  const nonces = new Set<string>();
  for (const path of [
    "/",
    "/runs",
    "/trace/ses_x",
    "/agents/code-reviewer",
    "/agents/%E6%97%A5.md",
    "/runs/",
  ]) {
    const response = await site.ask(path);
    const page = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    expect(page).toContain(PAGE);
    const nonce = /<meta name="csp-nonce" content="([\w-]{22})">/.exec(page)?.[1] ?? "none";
    expect(response.headers.get("content-security-policy")).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    nonces.add(nonce);
  }
  expect(nonces.size).toBe(6);
});

test("files are given with their types; those whose names change with their content are kept for ever", async () => {
  await using site = await openSite();
  const script = await site.ask("/assets/index-B4kT9x_2.js");
  expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(script.headers.get("cache-control")).toContain("immutable");
  const icon = await site.ask("/icon.svg");
  expect(icon.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
  expect(icon.headers.get("cache-control")).toBe("no-store");
  for (const path of ["/none.js", "/assets/none-B4kT9x_2.js", "/linked.txt", "/index.html"])
    expect([path, (await site.ask(path)).status]).toEqual([path, 404]);
});

test("without a built app a page says what to do", async () => {
  const assetsDir = join(mkdtempSync(join(tmpdir(), "retinue-unbuilt-")), "web");
  await using site = await openSite({ app: { assetsDir } });
  const response = await site.ask("/");
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining("npm run build")]);
});

test("the API describes itself, all of it, in valid OpenAPI", async () => {
  await using site = await openSite({ routes: ALL_ROUTES });
  const document: ApiDocument = JSON.parse(await (await site.ask("/api/openapi.json")).text());
  const { valid, errors } = await new Validator().validate(structuredClone(document));
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  expect(document.openapi).toBe("3.1.0");
  for (const { method, path } of site.app.routes.filter((route) => route.path.startsWith("/api/"))) {
    const operation = document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
    expect(operation, `${method} ${path}`).toBeDefined();
    expect(operation?.responses["401"]).toBeDefined();
  }
  expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(["/api/links", "/api/openapi.json"]));
});

test("parts of a path, queries and bodies are described as the route takes them", () => {
  const route = defineRoute({
    method: "post",
    path: "/api/runs/:id/steps/:step",
    summary: "Notes something.",
    query: shape({ "after?": text, kind: text }),
    body: shape({ note: text }),
    answer: shape({ done: whole }),
    handle: () => ({ done: 1 }),
  });
  const { paths } = describeApi([route], "1.2.3");
  expect(paths).toMatchObject({
    "/api/runs/{id}/steps/{step}": {
      post: {
        operationId: "post_runs_by_id_steps_by_step",
        parameters: [
          { name: "id", in: "path", required: true },
          { name: "step", in: "path", required: true },
          { name: "after", in: "query", required: false },
          { name: "kind", in: "query", required: true },
        ],
        requestBody: { required: true, content: { "application/json": { schema: route.body } } },
        responses: { "200": { content: { "application/json": { schema: route.answer } } } },
      },
    },
  });
});

test("no route of the API answers without a cookie or the key", async () => {
  await using site = await openSite({ routes: ALL_ROUTES });
  const routes = site.app.routes.filter(({ path }) => path.startsWith("/api/"));
  expect(routes.length).toBeGreaterThan(1);
  for (const { method, path } of routes) {
    const place = path.replaceAll(/:\w+/g, "x");
    const headers = { authorization: null, origin: "http://127.0.0.1:7477" };
    const response = await site.ask(place, { method, headers });
    expect([method, path, response.status]).toEqual([method, path, 401]);
  }
});

test("a body that breaks off is the sender's fault, not a defect", async () => {
  await using site = await openSite();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error("aborted"));
    },
  });
  const response = await site.ask("/api/things", { method: "POST", body });
  expect([response.status, site.faults, site.written]).toEqual([400, [], 0]);
});
