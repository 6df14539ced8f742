import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtInTools } from "@retinue/builtin/built-in-tools";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import type { ExecutionPlan } from "@retinue/core/schema/plan";
import { callTool, say } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import type { ApiRoute } from "@retinue/server/http/route";
import { ALL_ROUTES } from "@retinue/server/routes/all-routes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOSTILE_BODIES, HOSTILE_PARTS, HOSTILE_VALUES, HOSTILE_WORDS } from "../fixtures/hostile-json.ts";
import { answerPlan, step } from "../fixtures/plans.ts";
import { writeSession } from "../fixtures/recorded-session.ts";
import { clearGround, type Ground, makeGround, openDesk, type WorkDesk } from "./work-desk.ts";

const SECRET = "nobody may read this";
const AGENT = "---\nname: helper\ndescription: Helps.\n---\nDo it.\n";

let ground: Ground;
let server: WorkDesk;
/** What is there, by the name that a route's path has for it. */
const ids = {
  session: "ses_own",
  run: "run_ses_own_0",
  message: "1",
  approval: "",
  plan: "",
  agent: "helper",
};

const pay = defineTool({
  name: "pay",
  description: "x",
  input: { type: "object" },
  execute: async () => "paid",
});

beforeAll(async () => {
  ground = makeGround();
  server = await openDesk(
    ground,
    {
      main: () => say("done"),
      payer: ({ turn }) => (turn === 0 ? callTool("pay", { to: "Ada" }) : say("paid")),
      planner: () => answerPlan(step("look")),
      worker: () => say("did it"),
    },
    {
      tools: [pay],
      agents: { payer: { tools: ["pay"], askTools: ["pay"] } },
      guards: { writes: { burst: 1e9, perSecond: 1e9 }, maxStreams: 1e9 },
      desk: { tools: builtInTools },
    },
  );
  writeFileSync(join(ground.root, "secret.txt"), SECRET);
  mkdirSync(join(ground.projectDir, ".retinue", "agents"), { recursive: true });
  writeFileSync(join(ground.projectDir, ".retinue", "agents", "helper.md"), AGENT);
  await record();
  await begin();
});
afterAll(async () => {
  await server.stop();
  clearGround(ground);
});

/** A session of this project, whose workspace has links that lead out of it, and one of another project. */
async function record(): Promise<void> {
  const workspace = join(ground.dataDir, "sessions", "ses_own");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(ground.dataDir, "sessions", "secret.txt"), SECRET);
  symlinkSync(join(ground.root, "secret.txt"), join(workspace, "link.txt"));
  symlinkSync(ground.root, join(workspace, "up"));
  const { record } = server.t.runtime;
  const run = { agent: "main", from: 0, to: 9, calls: [{ tool: "read", input: {}, from: 1, to: 2 }] };
  const own = { sessionId: "ses_own", title: "own", project: ground.projectDir, workspace };
  await writeSession(record, { ...own, runs: [{ ...run, task: "own" }] });
  await record.write({
    kind: "session.update",
    sessionId: "ses_own",
    change: { metadata: { limits: {}, maxDepth: 3, readOnly: false } },
  });
  const other = { sessionId: "ses_other", title: SECRET, project: "/elsewhere" };
  await writeSession(record, { ...other, runs: [{ ...run, task: SECRET, answer: SECRET }] });
}

/** A question that waits, and a plan. */
async function begin(): Promise<void> {
  const { record } = server.t.runtime;
  await server.post("/api/sessions", { task: "pay", agent: "payer" });
  await server.post("/api/plans", { goal: "Make it right" });
  const plans = async () => (await server.get("/api/plans")).body.plans as ExecutionPlan[];
  while ((await record.listApprovals({ state: "waiting" })).length === 0 || (await plans()).length === 0)
    await new Promise((resolve) => setImmediate(resolve));
  ids.approval = (await record.listApprovals({ state: "waiting" }))[0]?.approvalId ?? "";
  ids.plan = (await plans())[0]?.id ?? "";
}

/** Bodies that routes take; what is hostile is put into each of their places in turn. */
const BODIES: Readonly<Record<string, unknown>> = {
  "post /api/sessions": { task: "go", agent: "main", model: "m", sessionId: "ses_own", paced: false },
  "post /api/sessions/removal": { sessionIds: ["ses_own"], dryRun: true },
  "post /api/sessions/:id/messages": { text: "go", agent: "main", model: "m" },
  "post /api/runs/:id/steer": { text: "go on" },
  "post /api/approvals/:id": { allowed: false, scope: "once", note: "no" },
  "post /api/plans": { goal: "g", agent: "main", model: "m" },
  "put /api/plans/:id": { goal: "g", summary: "s", steps: [step("look", ["look"], { files: ["a.ts"] })] },
  "post /api/plans/:id/run": { model: "m", onFailure: "stop" },
  "post /api/agents/edit": {
    text: AGENT,
    format: "native",
    name: "helper",
    change: {
      name: "helper",
      description: "d",
      tools: ["read"],
      grants: ["read"],
      subagents: { allow: ["a"], deny: ["b"], execution: "parallel", maxConcurrent: 1, recursive: false },
      limits: { turns: 1, perTool: { read: 1 } },
      icon: "x",
      color: "red",
      prompt: "p",
    },
  },
  "post /api/agents/review": { text: AGENT, name: "helper", scope: "project", parents: ["main"] },
  "post /api/agents/try": {
    text: AGENT,
    name: "helper",
    parents: ["main"],
    tool: "write",
    input: { path: "a.txt", content: "x" },
  },
  "post /api/agents": { text: AGENT, hash: null, scope: "project" },
  "put /api/agents/:name": { text: AGENT, hash: "0", scope: "project" },
};

/** Queries without which a route takes nothing. */
const QUERIES: Readonly<Record<string, Record<string, string>>> = {
  "get /api/sessions/:id/files": { path: "report.md" },
  "get /api/sessions/:id/export": { format: "json" },
  "delete /api/agents/:name": { hash: "0" },
};

const keyOf = ({ method, path }: ApiRoute) => `${method} ${path}`;

function pathOf({ path }: ApiRoute): string {
  const kind = path.split("/")[2]?.replace(/s$/, "") ?? "";
  return path.replace(/:\w+/, (Object.entries(ids).find(([name]) => name === kind) ?? [])[1] ?? "x");
}

type Sent = { query?: Readonly<Record<string, string>>; body?: string | Uint8Array<ArrayBuffer> };

/** Asks, and checks that what comes back is one of the allowed answers. */
async function ask(route: ApiRoute, path: string, { query = {}, body }: Sent = {}): Promise<number> {
  const stop = new AbortController();
  const search = new URLSearchParams({ ...QUERIES[keyOf(route)], ...query }).toString();
  const sent = body ?? (route.body ? JSON.stringify(BODIES[keyOf(route)]) : undefined);
  const response = await server.raw(`${path}${search && `?${search}`}`, {
    method: route.method.toUpperCase(),
    signal: stop.signal,
    ...(sent !== undefined && { body: sent }),
  });
  const asked = `${keyOf(route)} ${path.slice(0, 200)} ${JSON.stringify(query).slice(0, 200)} ${String(sent).slice(0, 200)}`;
  const isStream = response.ok && route.answers === "text/event-stream";
  const text = isStream ? "" : await response.text();
  stop.abort();
  expect(response.status, `${asked} ${text}`).toBeLessThan(500);
  expect(text, asked).not.toContain(SECRET);
  expect(text, asked).not.toMatch(/^\s*at .+:\d+:\d+\)?$|node:internal|node_modules/m);
  if (!response.ok) expect([asked, shapeOf(text)]).toEqual([asked, "code message hint"]);
  return response.status;
}

/** The names in an error's answer, if it is one. */
function shapeOf(text: string): string {
  const { error, ...more }: Record<string, unknown> = JSON.parse(text);
  const isError = typeof error === "object" && error !== null && Object.keys(more).length === 0;
  const texts = isError
    ? Object.values(error).filter((value) => value === null || typeof value === "string")
    : [];
  return isError && texts.length === 3 ? Object.keys(error).join(" ") : text;
}

/** Every JSON of a value in which one place is another. */
function* replaced(value: unknown, place: string): Generator<string> {
  yield place;
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value))
    for (const text of replaced(inner, place)) {
      const parts = Object.entries({ ...value, [name]: undefined }).map(([key, kept]) =>
        key === name ? text : JSON.stringify(kept),
      );
      const names = Object.keys(value);
      yield Array.isArray(value)
        ? `[${parts.join(",")}]`
        : `{${parts.map((part, index) => `${JSON.stringify(names[index])}:${part}`).join(",")}}`;
    }
}

test("what is hostile in a path names nothing for any route", async () => {
  for (const route of ALL_ROUTES.filter(({ path }) => path.includes(":")))
    for (const part of HOSTILE_PARTS) {
      const status = await ask(route, route.path.replace(/:\w+/, part));
      const names = route.path.split("/").length === route.path.replace(/:\w+/, part).split("/").length;
      if (names && !/^\.{1,2}$|^%2e%2e$/.test(part))
        expect([keyOf(route), part, status >= 400]).toEqual([keyOf(route), part, true]);
    }
});

test("a path without end that is no place of the app is told so at once", async () => {
  for (const path of [`/${"a".repeat(5_000)}!`, `/${"a/".repeat(5_000)}!`, `/agents/${"a".repeat(5_000)}/!`])
    expect((await server.raw(path)).status).toBe(404);
});

test("what is hostile in a query is refused or only looked for", async () => {
  for (const route of ALL_ROUTES) {
    const known = Object.keys((route.query?.properties as Record<string, JsonSchema>) ?? {});
    for (const name of [...known, "__proto__", "constructor", "nobody-knows"])
      for (const word of known.includes(name) ? HOSTILE_WORDS : ["x"]) {
        const status = await ask(route, pathOf(route), { query: { [name]: word } });
        if (!known.includes(name)) expect([keyOf(route), name, status]).toEqual([keyOf(route), name, 400]);
      }
  }
});

test("every route that takes a body is asked here, with one that it would take", async () => {
  const taking = ALL_ROUTES.filter(({ body }) => body).map(keyOf);
  expect(Object.keys(BODIES).toSorted()).toEqual(taking.toSorted());
  for (const route of ALL_ROUTES.filter(({ body }) => body))
    expect([keyOf(route), await ask(route, pathOf(route))]).not.toEqual([keyOf(route), 400]);
});

test("whole bodies that are none are refused", async () => {
  for (const route of ALL_ROUTES.filter(({ body }) => body))
    for (const body of HOSTILE_BODIES) expect(await ask(route, pathOf(route), { body })).toBeLessThan(500);
});

test.for(Object.keys(BODIES))("%s takes or refuses what is hostile in any place of its body", async (key) => {
  const route = ALL_ROUTES.find((one) => keyOf(one) === key);
  if (!route) throw new Error(`no route ${key}`);
  const before = readdirSync(ground.root);
  const values = [...HOSTILE_WORDS.map((word) => JSON.stringify(word)), ...HOSTILE_VALUES];
  // In the deep tests everything in every place, otherwise everything somewhere and something else in every place.
  const every = process.env.RETINUE_DEEP ? 1 : 4;
  for (const [at, value] of values.entries())
    for (const [index, body] of [...replaced(BODIES[key], value)].entries())
      if ((at + index) % every === 0) await ask(route, pathOf(route), { body });
  expect("polluted" in {}).toBe(false);
  expect(readdirSync(ground.root)).toEqual(before);
});
