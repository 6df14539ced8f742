import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRecordJournal } from "@retinue/core/record/record-journal";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { SqliteRecordPorts } from "@retinue/core/record/sqlite/record-writer";
import type { NewsEvent, StreamEvent } from "@retinue/core/schema/api/stream";
import { after, callDelegate, callDelegateMany, callTool, hang, say } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readEvents } from "./event-reader.ts";
import { stepClock } from "./step-clock.ts";
import { clearGround, type Ground, makeGround, openDesk } from "./work-desk.ts";

let ground: Ground;
beforeEach(() => {
  ground = makeGround();
});
afterEach(() => clearGround(ground));

const never = new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));
async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fits())) await tick();
}

test("a task is started, followed live by two readers, and stands in every view when it has ended", async () => {
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  const server = await openDesk(ground, {
    lead: [
      callDelegateMany([
        { id: "a", agent: "worker", task: "one" },
        { id: "b", agent: "worker", task: "two" },
      ]),
      say("all done"),
    ],
    worker: (request) => after(gate, say(`did ${request.task}`)),
  });
  const { status, body } = await server.post("/api/sessions", { task: "the task" });
  expect(status).toBe(200);
  const id = String(body.sessionId);
  const early = readEvents<StreamEvent>(await server.raw(`/api/sessions/${id}/events`));
  await early.until(({ event }) => event.kind === "snapshot");
  await until(() => server.t.events.filter((event) => event.type === "turn.started").length === 3);
  const detail = await server.get(`/api/sessions/${id}`);
  expect(detail.body).toMatchObject({ session: { state: "running", holder: "here", agent: "lead" } });
  expect(detail.body.runs).toHaveLength(3);
  const late = readEvents<StreamEvent>(
    await server.raw(`/api/sessions/${id}/events?after=${detail.body.seq}`),
  );
  await late.until(({ event }) => event.kind === "snapshot");
  go();
  for (const reader of [early, late]) {
    await reader.until(({ event }) => event.kind === "session" && event.state === "completed");
    const changed = reader.received.flatMap(({ event }) => (event.kind === "changed" ? event.runs : []));
    const ended = changed.filter((run) => run.status === "completed").map((run) => run.summary);
    expect(ended.sort()).toEqual(["all done", "did one", "did two"]);
  }
  const after0 = early.received.flatMap(({ event }) => (event.kind === "changed" ? [event.seq] : []));
  expect(after0).toEqual([...after0].sort((one, other) => one - other));
  expect((await server.get("/api/sessions?state=done")).body.sessions).toMatchObject([
    { session_id: id, runs: 3 },
  ]);
  expect((await server.get("/api/sessions?state=running")).body.sessions).toEqual([]);
  expect((await server.get("/api/sessions?search=nowhere")).body.sessions).toEqual([]);
  const steps = await server.get(`/api/sessions/${id}/steps?limit=2`);
  expect(steps.body.steps).toHaveLength(2);
  const rest = await server.get(`/api/sessions/${id}/steps?after=${steps.body.next}`);
  expect(rest.body).toMatchObject({ next: null });
  const all = await server.get(`/api/sessions/${id}/moments`);
  expect(all.body).toMatchObject({ tools: ["delegate_many"], tool: [null, 0, null, null, null], next: null });
  expect(all.body.run).toEqual([0, 0, 1, 2, 0]);
  const firstTwo = await server.get(`/api/sessions/${id}/moments?limit=2`);
  const others = await server.get(`/api/sessions/${id}/moments?after=${firstTwo.body.next}`);
  for (const column of ["startedAtMs", "endedAtMs", "tokens", "costUsd"])
    expect([firstTwo.body[column], others.body[column]].flat()).toEqual(all.body[column]);
  const trace = await server.get(`/api/sessions/${id}/trace`);
  expect(trace.body).toMatchObject({ totals: { runs: 3 }, runs: [{ agent: "lead", children: [{}, {}] }] });
  const run = await server.get(`/api/runs/${body.runId}`);
  expect(run.body).toMatchObject({
    text: "all done",
    task: "the task",
    delegatesTo: ["worker", "general-purpose"],
  });
  expect(run.body.rights).toContainEqual(expect.objectContaining({ tool: "read", kind: "tool" }));
  expect((await server.get(`/api/runs/${body.runId}/steps`)).body).toMatchObject({ next: null });
  expect((await server.get(`/api/runs/${body.runId}/diff`)).body).toEqual({ folders: [], unkept: [] });
  const row = run.body.row as { id: number };
  expect((await server.get(`/api/messages/${row.id}`)).body).toMatchObject({ row: { run_id: body.runId } });
  expect((await server.get("/api/stats?by=role")).body).toMatchObject({
    total: { runs: 3 },
    days: [{ runs: 3, successes: 3 }],
  });
  expect((await server.get("/api/about")).body).toMatchObject({ agent: "lead", model: { isOffline: false } });
  expect((await server.get("/api/health")).body.checks).toHaveLength(1);
  for (const [format, start] of Object.entries({ md: "# the task", json: "{" })) {
    const saved = await server.raw(`/api/sessions/${id}/export?format=${format}`);
    expect(saved.headers.get("content-disposition")).toBe(`attachment; filename="${id}.${format}"`);
    expect((await saved.text()).startsWith(start)).toBe(true);
  }
  await early.stop();
  await late.stop();
  await server.stop();
});

test("a message reaches the task under way, or begins the next one in the same session", async () => {
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  const server = await openDesk(ground, {
    lead: [
      () => after(gate, callTool("nothing", {})),
      (request) => say(`heard ${request.prompt.includes("hurry up")}`),
      (request) => say(`again ${request.prompt.includes("the task")}`),
    ],
  });
  const { body } = await server.post("/api/sessions", { task: "the task" });
  const path = `/api/sessions/${body.sessionId}`;
  expect((await server.post(`${path}/messages`, { text: "hurry up" })).body).toEqual({
    steered: true,
    sessionId: body.sessionId,
    runId: body.runId,
  });
  go();
  await until(() => server.t.events.some((event) => event.type === "session.ended"));
  const next = await server.post(`${path}/messages`, { text: "and now?" });
  expect(next.body).toMatchObject({ steered: false, sessionId: body.sessionId });
  await until(() => server.t.events.filter((event) => event.type === "session.ended").length === 2);
  const runs = (await server.get(path)).body.runs as { summary: string }[];
  expect(runs.map((run) => run.summary)).toEqual(["heard true", "again true"]);
  await server.stop();
});

test("a subtree is ended alone, and so is a whole session", async () => {
  const server = await openDesk(
    ground,
    {
      lead: ({ turn }) =>
        turn === 0
          ? callDelegateMany([
              { id: "a", agent: "middle", task: "deep" },
              { id: "b", agent: "leaf", task: "wait" },
            ])
          : hang(),
      middle: [callDelegate("leaf", "wait")],
      leaf: () => hang(),
    },
    { agents: { middle: { subagents: { allow: ["*"] } } } },
  );
  const { body } = await server.post("/api/sessions", { task: "go" });
  await until(() => server.t.events.filter((event) => event.type === "turn.started").length === 4);
  const runs = (await server.get(`/api/sessions/${body.sessionId}`)).body.runs as {
    runId: string;
    agent: string;
    parentRunId: string;
  }[];
  const middle = runs.find((run) => run.agent === "middle");
  expect((await server.post(`/api/runs/${middle?.runId}/cancel`)).body).toEqual({ done: true });
  await until(() => server.t.events.filter((event) => event.type === "run.ended").length === 2);
  const now = (await server.get(`/api/sessions/${body.sessionId}`)).body.runs as {
    agent: string;
    status: string;
    parentRunId: string;
  }[];
  expect(now.map(({ agent, status }) => `${agent} ${status}`).sort()).toEqual([
    "lead running",
    "leaf cancelled",
    "leaf running",
    "middle cancelled",
  ]);
  expect((await server.post(`/api/runs/${middle?.runId}/cancel`)).body).toEqual({ done: false });
  expect((await server.post(`/api/sessions/${body.sessionId}/cancel`)).body).toEqual({ done: true });
  await until(() => server.t.events.some((event) => event.type === "session.ended"));
  expect((await server.get(`/api/sessions/${body.sessionId}`)).body).toMatchObject({
    session: { state: "cancelled" },
  });
  expect((await server.post(`/api/sessions/${body.sessionId}/cancel`)).body).toEqual({ done: false });
  await server.stop();
});

test("a pause is shown at once and ends with its end; what is not live cannot be held or steered", async () => {
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  const clock = stepClock();
  const server = await openDesk(
    ground,
    { lead: [after(gate, callTool("nothing", {})), say("done")] },
    { clock },
  );
  const { body } = await server.post("/api/sessions", { task: "go" });
  const reader = readEvents<StreamEvent>(await server.desk.feeds.session(String(body.sessionId), 0, never));
  await reader.until(({ event }) => event.kind === "snapshot");
  const pausedOf = () =>
    reader.received.flatMap(({ event }) =>
      event.kind === "live" ? [event.runs[String(body.runId)]?.isPaused ?? []].flat() : [],
    );
  expect((await server.post(`/api/runs/${body.runId}/pause`)).body).toEqual({ done: true });
  clock.advance(50);
  await until(() => pausedOf().length === 1);
  go();
  await until(() => server.t.events.some((event) => event.type === "run.waiting" && event.on === "pause"));
  expect((await server.post(`/api/runs/${body.runId}/unpause`)).body).toEqual({ done: true });
  await until(() => server.t.events.some((event) => event.type === "session.ended"));
  clock.advance(50);
  await tick();
  expect(pausedOf()[0]).toBe(true);
  for (const act of ["pause", "unpause"])
    expect((await server.post(`/api/runs/${body.runId}/${act}`)).status).toBe(409);
  expect((await server.post(`/api/runs/${body.runId}/steer`, { text: "x" })).status).toBe(409);
  await reader.stop();
  await server.stop();
});

test("a session of another process is followed and can be stopped; its runs cannot be steered from here", async () => {
  const clock = stepClock();
  const server = await openDesk(ground, { lead: [say("x")] }, { clock });
  const other = createSqliteRecord({ path: ground.database });
  const about = { title: "theirs", project: ground.projectDir, workspace: join(ground.root, "w") };
  await other.startSession({ sessionId: "ses_theirs", ...about });
  await other.takeLease("ses_theirs");
  const journal = await createRecordJournal(other);
  const open = (index: number) =>
    journal.open({
      sessionId: "ses_theirs",
      parentId: null,
      runId: `run_${index}`,
      type: "prompt",
      agentRole: "main",
      depth: 0,
      startedAtMs: index,
      requestContent: `task ${index}`,
    });
  const first = open(1);
  await other.committed();
  const news = readEvents<NewsEvent>(await server.desk.feeds.news(never));
  const reader = readEvents<StreamEvent>(await server.desk.feeds.session("ses_theirs", 0, never));
  await reader.until(({ event }) => event.kind === "snapshot");
  expect(reader.received.map(({ event }) => event)).toContainEqual({
    kind: "session",
    state: "running",
    holder: "elsewhere",
    asks: 0,
  });
  open(2);
  journal.close(first, "ses_theirs", { status: "completed", completedAtMs: 5, durationMs: 4 });
  await other.committed();
  for (let round = 0; round < 4; round++) {
    clock.advance(500);
    await tick();
  }
  await reader.until(
    ({ event }) => event.kind === "changed" && event.runs.some((run) => run.runId === "run_2"),
  );
  await news.until(({ event }) => event.kind === "sessions" && event.ids.includes("ses_theirs"));
  expect((await server.post("/api/runs/run_2/steer", { text: "x" })).status).toBe(409);
  expect((await server.post("/api/sessions/ses_theirs/messages", { text: "x" })).status).toBe(409);
  expect((await server.post("/api/sessions/ses_theirs/resume")).status).toBe(409);
  expect((await server.post("/api/runs/run_2/cancel")).body).toEqual({ done: true });
  expect(await other.listStops("ses_theirs")).toEqual([{ sessionId: "ses_theirs", id: "run_2" }]);
  await reader.stop();
  await news.stop();
  expect(clock.pending).toBe(0);
  await other.close();
  await server.stop();
});

test("sessions, runs, messages and streams of other projects are not there, and no stream carries another's", async () => {
  const clock = stepClock();
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  const server = await openDesk(ground, { lead: () => after(gate, say("the secret word")) }, { clock });
  const other = createSqliteRecord({ path: ground.database });
  await other.startSession({ sessionId: "ses_foreign", title: "t", project: "/elsewhere", workspace: "/w" });
  const row = (await createRecordJournal(other)).open({
    sessionId: "ses_foreign",
    parentId: null,
    runId: "run_foreign",
    type: "prompt",
    agentRole: "main",
    depth: 0,
    startedAtMs: 1,
  });
  await other.committed();
  for (const path of [
    "/api/sessions/ses_foreign",
    "/api/sessions/ses_foreign/steps",
    "/api/sessions/ses_foreign/trace",
    "/api/sessions/ses_foreign/export?format=json",
    "/api/sessions/ses_foreign/events",
    "/api/sessions/ses_foreign/files?path=x",
    "/api/sessions/ses_nowhere/events",
    "/api/runs/run_foreign",
    "/api/runs/run_foreign/diff",
    "/api/runs/run_foreign/steps",
    `/api/messages/${row}`,
    "/api/messages/999999",
    "/api/messages/x",
    "/api/plans/pln_x",
  ])
    expect([path, (await server.get(path)).status]).toEqual([path, 404]);
  for (const path of ["/api/sessions/ses_foreign/cancel", "/api/runs/run_foreign/cancel"])
    expect((await server.post(path)).status).toBe(404);
  expect((await server.get("/api/sessions")).body.sessions).toEqual([]);
  const one = await server.post("/api/sessions", { task: "one" });
  const two = await server.post("/api/sessions", { task: "two" });
  const watching = readEvents<StreamEvent>(
    await server.desk.feeds.session(String(one.body.sessionId), 0, never),
  );
  await watching.until(({ event }) => event.kind === "snapshot");
  await server.post(`/api/sessions/${one.body.sessionId}/cancel`);
  go();
  await until(() => server.t.events.filter((event) => event.type === "session.ended").length === 2);
  clock.advance(1_000);
  await tick();
  expect(JSON.stringify(watching.received)).not.toContain(String(two.body.runId));
  expect(JSON.stringify(watching.received)).not.toContain("the secret word");
  await watching.stop();
  await other.close();
  await server.stop();
});

test("news tell what lists show, and end with the server", async () => {
  const clock = stepClock();
  const server = await openDesk(ground, { lead: [say("x")] }, { clock });
  const news = readEvents<NewsEvent>(await server.raw("/api/events"));
  await news.until(({ event }) => event.kind === "hello" && event.startedAtMs === 1 && event.asks === 0);
  const { body } = await server.post("/api/sessions", { task: "go" });
  await until(() => server.t.events.some((event) => event.type === "session.ended"));
  clock.advance(500);
  await news.until(({ event }) => event.kind === "sessions" && event.ids.includes(String(body.sessionId)));
  server.desk.feeds.agentsChanged();
  await news.until(({ event }) => event.kind === "agents");
  await server.stop();
  expect(await news.ended).toBe("closed");
});

test("files that a run made are listed, and those of the workspace can be opened", async () => {
  const make = defineTool<{ path: string }>({
    name: "make",
    description: "x",
    input: { type: "object" },
    execute: async ({ path }, { workspaceDir, projectDir, changed }) => {
      for (const root of [workspaceDir, projectDir]) {
        writeFileSync(join(root, path), "made");
        changed(join(root, path), "created");
      }
      return "made";
    },
  });
  const server = await openDesk(
    ground,
    { lead: [callTool("make", { path: "report.html" }), say("done")] },
    { tools: [make] },
  );
  const { body } = await server.post("/api/sessions", { task: "go" });
  await until(() => server.t.events.some((event) => event.type === "session.ended"));
  const { body: run } = await server.get(`/api/runs/${body.runId}`);
  expect(run.files).toEqual([
    { path: "report.html", root: "workspace", exists: true },
    { path: "report.html", root: "project", exists: true },
  ]);
  const file = await server.raw(`/api/sessions/${body.sessionId}/files?path=report.html`);
  expect([file.status, await file.text()]).toEqual([200, "made"]);
  await server.stop();
});

test("while nothing can be written, starting a session fails with the reason instead of waiting", async () => {
  let isFull = false;
  const execute: SqliteRecordPorts["execute"] = (write) => {
    if (isFull) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    write();
  };
  const server = await openDesk(
    ground,
    { lead: () => say("done") },
    { internals: { recordPorts: { execute, schedule: () => () => {} } } },
  );
  const { record } = server.t.runtime;
  isFull = true;
  const starting = record.startSession({
    sessionId: "ses_x",
    title: "t",
    project: ground.projectDir,
    workspace: "/w",
  });
  await until(async () => (await record.writeProblem()) !== null);
  for (const [path, body] of [
    ["/api/sessions", { task: "go" }],
    ["/api/plans", { goal: "go" }],
  ] as const) {
    const response = await server.raw(path, { method: "POST", body: JSON.stringify(body) });
    expect([response.status, JSON.parse(await response.text())]).toMatchObject([
      500,
      { error: { code: "store", message: expect.stringContaining("full"), hint: "Free some disk space." } },
    ]);
  }
  isFull = false;
  await server.stop();
  await starting;
});

test("a cancel that a full disk does not keep is answered with an error, and one that is answered as done outlives a kill", async () => {
  const disk = { isFull: false };
  const execute: SqliteRecordPorts["execute"] = (write) => {
    if (disk.isFull) throw Object.assign(new Error("database or disk is full"), { errcode: 13 });
    write();
  };
  const server = await openDesk(
    ground,
    { lead: () => hang() },
    { internals: { recordPorts: { execute, schedule: () => () => {} } } },
  );
  const { body } = await server.post("/api/sessions", { task: "go" });
  const path = `/api/sessions/${body.sessionId}/cancel`;
  disk.isFull = true;
  const refused = await server.raw(path, { method: "POST" });
  expect([refused.status, JSON.parse(await refused.text())]).toMatchObject([
    500,
    { error: { code: "store", message: expect.stringContaining("not written yet") } },
  ]);
  const other = createSqliteRecord({ path: ground.database });
  expect((await other.readSession(String(body.sessionId)))?.status).toBe("running");
  disk.isFull = false;
  expect(await server.post(path)).toMatchObject({ status: 200, body: { done: true } });
  expect((await other.readSession(String(body.sessionId)))?.status).toBe("cancelled");
  await other.close();
  await server.stop();
});

test("the cancel of a run is kept beyond the process before it is answered as done", async () => {
  const server = await openDesk(ground, {
    lead: [callDelegate("worker", "x"), say("done")],
    worker: () => hang(),
  });
  const { body } = await server.post("/api/sessions", { task: "go" });
  await until(() =>
    server.t.events.some(
      (event) => event.type === "turn.started" && event.turn === 1 && event.runId !== body.runId,
    ),
  );
  const worker = (
    await server.t.runtime.record.readRows({ sessionId: String(body.sessionId), kind: "runs" })
  ).find((row) => row.agent_depth === 1);
  const kept: Promise<unknown>[] = [];
  const { cancel } = server.t.runtime;
  server.t.runtime.cancel = (id) => {
    kept.push(server.t.runtime.record.listStops());
    return cancel(id);
  };
  expect(await server.post(`/api/runs/${worker?.run_id}/cancel`)).toMatchObject({ body: { done: true } });
  expect(await Promise.all(kept)).toEqual([[{ sessionId: body.sessionId, id: worker?.run_id }]]);
  await until(() => server.t.events.some((event) => event.type === "session.ended"));
  await server.stop();
});

test("what the machine refuses is told as such, not as a defect", async () => {
  for (const code of ["ENOSPC", "EDQUOT", "EIO", "EROFS"]) {
    const fault = Object.assign(new Error(`${code}: refused, write`), { code });
    const server = await openDesk(ground, { lead: () => say("x") }, {});
    server.t.runtime.start = () => Promise.reject(new Error("cannot begin", { cause: fault }));
    const response = await server.raw("/api/sessions", {
      method: "POST",
      body: JSON.stringify({ task: "go" }),
    });
    expect([response.status, JSON.parse(await response.text())]).toMatchObject([
      500,
      { error: { code: "store", hint: expect.stringMatching(/disk/i) } },
    ]);
    await server.stop();
  }
});

test("sessions of this project that have ended are removed, and what would go is said first", async () => {
  const server = await openDesk(ground, { lead: ({ task }) => (task === "wait" ? hang() : say("done")) });
  const { record } = server.t.runtime;
  const done = String((await server.post("/api/sessions", { task: "go" })).body.sessionId);
  await until(() => server.t.events.some((event) => event.type === "session.ended"));
  await until(async () => (await record.whyKept(done)) === null);
  const open = String((await server.post("/api/sessions", { task: "wait" })).body.sessionId);
  const sessionIds = [done, open];
  const kept = [{ sessionId: open, title: "wait", why: "it has not ended" }];
  const going = [{ sessionId: done, title: "go", bytes: expect.any(Number) }];
  const plan = await server.post("/api/sessions/removal", { sessionIds, dryRun: true });
  expect(plan).toMatchObject({ status: 200, body: { sessions: 1, bytes: expect.any(Number), going, kept } });
  expect((await record.readSession(done))?.status).toBe("completed");
  expect(await server.post("/api/sessions/removal", { sessionIds })).toMatchObject({
    body: { sessions: 1, kept },
  });
  expect([await record.readSession(done), (await record.readSession(open))?.status]).toEqual([
    undefined,
    "running",
  ]);
  expect(existsSync(join(ground.dataDir, "sessions", done))).toBe(false);
  expect((await server.get("/api/sessions")).body.sessions).toMatchObject([{ session_id: open }]);
  await record.startSession({
    sessionId: "ses_theirs",
    title: "",
    project: "/elsewhere",
    workspace: "",
    status: "completed",
  });
  await record.committed();
  const absent = ["ses_theirs", "ses_nobody", done];
  expect(await server.post("/api/sessions/removal", { sessionIds: absent })).toMatchObject({
    status: 200,
    body: { sessions: 0, kept: absent.map((sessionId) => ({ sessionId, why: "it is not there" })) },
  });
  expect((await record.readSession("ses_theirs"))?.status).toBe("completed");
  expect(await server.get("/api/storage")).toMatchObject({
    status: 200,
    body: { databaseBytes: expect.any(Number) },
  });
  await server.stop();
});
