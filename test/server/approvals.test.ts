import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { write } from "@retinue/code/file-tools/write-tools";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import type { ApprovalRequest } from "@retinue/core/run/ports";
import type { ApprovalView } from "@retinue/core/schema/api/approval";
import type { NewsEvent, StreamEvent } from "@retinue/core/schema/api/stream";
import { callDelegateMany, callTool, type Script, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { PersonsDesk } from "@retinue/server/feed/persons-desk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readEvents } from "./event-reader.ts";
import { type StepClock, stepClock } from "./step-clock.ts";
import {
  clearGround,
  type Ground,
  makeGround,
  openDesk,
  type WorkDesk,
  type WorkOptions,
} from "./work-desk.ts";

let ground: Ground;
let ran: string[];
let clock: StepClock;
beforeEach(() => {
  ground = makeGround();
  ran = [];
  clock = stepClock();
});
afterEach(() => clearGround(ground));

const pay = defineTool<{ to: string }>({
  name: "pay",
  description: "x",
  input: { type: "object" },
  execute: async ({ to }) => {
    ran.push(to);
    return "paid";
  },
});
const lead = {
  tools: ["pay", "write", "delegate"],
  askTools: ["pay", "write"],
  subagents: { allow: ["general-purpose"] },
};
/** Leaves each of these calls to a sub-agent of its own, so that they are asked about at once. */
const sideBySide =
  (...calls: { tool: string; input: object }[]): Script =>
  ({ turn, task }) => {
    if (turn > 0) return say("done");
    const own = calls[Number(task)];
    if (own) return callTool(own.tool, own.input);
    return callDelegateMany(
      calls.map((_, index) => ({ id: `t${index}`, agent: "general-purpose", task: String(index) })),
    );
  };
const open = (script: Script, options: WorkOptions = {}) =>
  openDesk(ground, { lead: script }, { tools: [pay, write], agents: { lead }, clock, ...options });
const never = new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));
async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fits())) await tick();
}
const hasEnded = ({ t }: WorkDesk) => t.events.some((event) => event.type === "session.ended");
const openAsks = async (server: WorkDesk) =>
  (await server.get("/api/approvals?open=1")).body.approvals as ApprovalView[];

/** Starts a task and waits until so many calls wait for a person. */
async function startAndAsk(
  server: WorkDesk,
  count = 1,
): Promise<{ sessionId: string; asks: ApprovalView[] }> {
  const { body } = await server.post("/api/sessions", { task: "go" });
  const { record } = server.t.runtime;
  await until(async () => (await record.listApprovals({ state: "waiting" })).length === count);
  return { sessionId: String(body.sessionId), asks: await openAsks(server) };
}

const PAY_ADA: Script = ({ turn, last }) => (turn === 0 ? callTool("pay", { to: "Ada" }) : say(last));

test("a call waits until the person in the browser allows it, and everybody who watches is told", async () => {
  const server = await open(PAY_ADA);
  const news = readEvents<NewsEvent>(await server.desk.feeds.news(never));
  const { sessionId, asks } = await startAndAsk(server);
  expect(asks).toMatchObject([
    {
      sessionId,
      session: "go",
      tool: "pay",
      input: { to: "Ada" },
      chain: ["lead"],
      isParked: false,
      answer: null,
    },
  ]);
  const reader = readEvents<StreamEvent>(await server.desk.feeds.session(sessionId, 0, never));
  await reader.until(({ event }) => event.kind === "session" && event.asks === 1);
  clock.advance(300);
  await news.until(({ event }) => event.kind === "asks" && event.asks === 1);
  expect((await server.get("/api/sessions?state=needsYou")).body.sessions).toMatchObject([{ asks: 1 }]);
  const path = `/api/approvals/${asks[0]?.approvalId}`;
  expect(ran).toEqual([]);
  const answered = await server.post(path, { allowed: true, note: "for lunch" });
  expect(answered.body.answer).toMatchObject({
    allowed: true,
    by: "the person in the browser",
    note: "for lunch",
  });
  await until(() => hasEnded(server));
  expect(ran).toEqual(["Ada"]);
  clock.advance(300);
  await news.until(({ event }) => event.kind === "asks" && event.asks === 0);
  expect((await server.post(path, { allowed: false })).status).toBe(409);
  expect((await server.post("/api/approvals/apr_none", { allowed: true })).status).toBe(404);
  expect((await server.get("/api/approvals")).body.approvals).toMatchObject([{ answer: { allowed: true } }]);
  await reader.stop();
  await news.stop();
  expect(clock.pending).toBe(0);
  await server.stop();
});

test("a no with its reason reaches the agent; a yes for the run holds for the same call and no other", async () => {
  const script: Script = ({ turn }) =>
    turn < 2 ? callTool("pay", { to: "Ada" }) : turn === 2 ? callTool("pay", { to: "Bob" }) : say("done");
  const server = await open(script);
  const { asks } = await startAndAsk(server);
  await server.post(`/api/approvals/${asks[0]?.approvalId}`, { allowed: true, scope: "run" });
  await until(async () => (await server.t.runtime.record.listApprovals({ state: "waiting" })).length === 1);
  expect(ran).toEqual(["Ada", "Ada"]);
  const [next] = await openAsks(server);
  expect(next?.input).toEqual({ to: "Bob" });
  await server.post(`/api/approvals/${next?.approvalId}`, { allowed: false, note: "not him" });
  await until(() => hasEnded(server));
  expect(ran).toEqual(["Ada", "Ada"]);
  const denied = server.t.models.lead?.requests.at(-1);
  expect(JSON.stringify(denied?.prompt)).toContain("not him");
  await server.stop();
});

test("a question that takes the place of an answered one is news, although as many wait as before", async () => {
  const server = await open(({ turn }) => (turn < 2 ? callTool("pay", { to: `Ada ${turn}` }) : say("done")));
  const news = readEvents<NewsEvent>(await server.desk.feeds.news(never));
  const { asks } = await startAndAsk(server);
  clock.advance(300);
  await news.until(({ event }) => event.kind === "asks" && event.asks === 1);
  await server.post(`/api/approvals/${asks[0]?.approvalId}`, { allowed: true });
  await until(async () => ran.length === 1 && (await server.t.runtime.record.countWaiting({})).count === 1);
  clock.advance(300);
  await news.until(() => news.received.filter(({ event }) => event.kind === "asks").length === 2);
  await news.stop();
  await server.stop();
});

test("an answer from a terminal is heard within a second", async () => {
  const server = await open(PAY_ADA);
  const { asks } = await startAndAsk(server);
  const terminal = createSqliteRecord({ path: ground.database });
  const answer = { allowed: true, by: "ada", atMs: 1 };
  expect(await terminal.answerApproval(asks[0]?.approvalId ?? "", answer)).toBe(true);
  await terminal.close();
  expect(ran).toEqual([]);
  clock.advance(1_000);
  await until(() => hasEnded(server));
  expect(ran).toEqual(["Ada"]);
  await server.stop();
});

test("what nobody answers in time is denied, and says so", async () => {
  const server = await open(PAY_ADA, { approvalMinutes: 2 });
  const { asks } = await startAndAsk(server);
  expect(asks[0]?.expiresAtMs).toBe(clock.wallMs() + 120_000);
  clock.advance(119_000);
  expect(await server.t.runtime.record.listApprovals({ state: "waiting" })).toHaveLength(1);
  clock.advance(1_000);
  await until(() => hasEnded(server));
  expect(ran).toEqual([]);
  const [settled] = await server.t.runtime.record.listApprovals({ state: "answered", ...{ limit: 5 } });
  expect(settled?.answer).toMatchObject({
    allowed: false,
    by: "nobody",
    note: "nobody answered within 2 minutes",
  });
  expect(clock.pending).toBe(0);
  await server.stop();
});

test("the end of a run takes its question away, and leaves it open if the session is only left", async () => {
  const server = await open(PAY_ADA);
  const first = await startAndAsk(server);
  await server.post(`/api/sessions/${first.sessionId}/cancel`);
  await until(() => hasEnded(server));
  expect(await openAsks(server)).toEqual([]);
  const second = await startAndAsk(server);
  await server.stop();
  const record = createSqliteRecord({ path: ground.database });
  expect((await record.listApprovals({ state: "waiting" })).map((one) => one.sessionId)).toEqual([
    second.sessionId,
  ]);
  expect((await record.readSession(second.sessionId))?.status).toBe("running");
  await record.close();
});

test("after a restart the same question stands, and the answer that came meanwhile is found", async () => {
  const first = await open(PAY_ADA);
  const { sessionId, asks } = await startAndAsk(first);
  await first.stop();
  const second = await open(PAY_ADA);
  expect(await openAsks(second)).toMatchObject([{ approvalId: asks[0]?.approvalId, isParked: true }]);
  await second.t.runtime.resume(sessionId);
  await until(() => second.t.events.some((event) => event.type === "approval.requested"));
  expect(await openAsks(second)).toMatchObject([{ approvalId: asks[0]?.approvalId, isParked: false }]);
  await second.post(`/api/approvals/${asks[0]?.approvalId}`, { allowed: true });
  await until(() => hasEnded(second));
  expect(ran).toEqual(["Ada"]);
  await second.stop();
});

test("a yes for the run is not forgotten when the server starts again", async () => {
  const script: Script = ({ turn }) =>
    turn === 0 || turn === 2
      ? callTool("pay", { to: "Ada" })
      : turn === 1
        ? callTool("pay", { to: "Bob" })
        : say("");
  const first = await open(script);
  const { sessionId, asks } = await startAndAsk(first);
  await first.post(`/api/approvals/${asks[0]?.approvalId}`, { allowed: true, scope: "run" });
  await until(async () => (await first.t.runtime.record.listApprovals({ state: "waiting" })).length === 1);
  await first.stop();
  const second = await open(script);
  const [next] = await openAsks(second);
  expect(next).toMatchObject({ sessionId, input: { to: "Bob" } });
  await second.post(`/api/approvals/${next?.approvalId}`, { allowed: false });
  await until(() => hasEnded(second));
  expect(ran).toEqual(["Ada", "Ada"]);
  await second.stop();
});

test("what a terminal asks is answered in the browser, and its session stays with the terminal", async () => {
  const server = await open(PAY_ADA);
  const { projectDir, dataDir, database } = ground;
  const terminal = testRuntime(
    { lead: PAY_ADA },
    {
      ...{ projectDir, dataDir, database, lenient: true, tools: [pay], agents: { lead } },
      approve: (_, signal) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => resolve({ allowed: false, by: "the terminal" })),
        ),
      internals: { clock },
    },
  );
  const news = readEvents<NewsEvent>(await server.desk.feeds.news(never));
  const { sessionId, result } = await terminal.runtime.start({ agent: "lead", task: "pay her" });
  await until(async () => (await terminal.runtime.record.listApprovals({ state: "waiting" })).length === 1);
  clock.advance(1_000);
  await tick();
  clock.advance(300);
  await news.until(({ event }) => event.kind === "asks" && event.asks === 1);
  const [asked] = await openAsks(server);
  expect(asked).toMatchObject({ sessionId, session: "pay her", isParked: false, expiresAtMs: null });
  const reply = await server.post(`/api/approvals/${asked?.approvalId}`, { allowed: true });
  expect(reply.body.answer).toMatchObject({ allowed: true, by: "the person in the browser" });
  clock.advance(1_000);
  expect((await result).success).toBe(true);
  expect(ran).toEqual(["Ada"]);
  expect(server.t.events.filter((event) => event.type === "session.started")).toEqual([]);
  expect(await openAsks(server)).toEqual([]);
  await terminal.close();
  await news.stop();
  await server.stop();
});

test("a session that nobody has goes on once everything in it is answered", async () => {
  const script = sideBySide({ tool: "pay", input: { to: "Ada" } }, { tool: "pay", input: { to: "Bob" } });
  const first = await open(script);
  const { asks } = await startAndAsk(first, 2);
  await first.stop();
  const second = await open(script);
  await second.post(`/api/approvals/${asks[0]?.approvalId}`, { allowed: true });
  expect(second.t.events.some((event) => event.type === "session.started")).toBe(false);
  await second.post(`/api/approvals/${asks[1]?.approvalId}`, { allowed: false });
  await until(() => hasEnded(second));
  expect(ran).toHaveLength(1);
  await second.stop();
});

test("a change of a file is shown as a diff against what is there; outside the project nothing is read", async () => {
  mkdirSync(join(ground.projectDir, "src"));
  writeFileSync(join(ground.projectDir, "src", "a.txt"), "one\ntwo\nthree\n");
  const script = sideBySide(
    { tool: "write", input: { path: "src/a.txt", content: "one\n2\nthree\n" } },
    { tool: "write", input: { path: "new.txt", content: "fresh\n" } },
  );
  const server = await open(script);
  const { asks } = await startAndAsk(server, 2);
  const diffs = asks.map(({ diff, targets }) => `${targets.join()}\n${diff}`).sort();
  expect(diffs[0]).toContain("new.txt\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+fresh");
  expect(diffs[1]).toContain("--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three");
  for (const { approvalId } of asks) await server.post(`/api/approvals/${approvalId}`, { allowed: true });
  await until(() => hasEnded(server));
  expect(readFileSync(join(ground.projectDir, "src", "a.txt"), "utf8")).toBe("one\n2\nthree\n");
  const outside = join(dirname(ground.projectDir), "outside.txt");
  writeFileSync(outside, "secret\n");
  const { record } = server.t.runtime;
  const [session] = (await record.listSessions()).sessions;
  await record.write({
    kind: "session.update",
    sessionId: session?.session_id ?? "",
    change: { status: "running" },
  });
  await record.committed();
  await record.addApproval({
    approvalId: "apr_outside",
    sessionId: session?.session_id ?? "",
    runId: "run_x",
    callId: "c",
    tool: "write",
    inputHash: "h",
    request: { input: { path: outside, content: "x" }, targets: [{ kind: "path", path: outside }] },
    requestedAtMs: 1,
  });
  expect((await server.get("/api/approvals/apr_outside")).body).toMatchObject({ diff: null, risk: "high" });
  await server.stop();
});

test("a key that is typed into a note reaches neither the record nor the agent", async () => {
  const key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789";
  const server = await open(PAY_ADA, { env: { ANTHROPIC_API_KEY: key } });
  const { asks } = await startAndAsk(server);
  const { approvalId } = asks[0] ?? {};
  const answered = await server.post(`/api/approvals/${approvalId}`, { allowed: false, note: `not ${key}` });
  expect(answered.body.answer).toMatchObject({ note: "not [redacted:secret]" });
  await until(() => hasEnded(server));
  expect(JSON.stringify(server.t.models.lead?.requests.at(-1)?.prompt)).not.toContain(key);
  await server.stop();
  expect(readFileSync(ground.database, "utf8")).not.toContain(key);
});

test("a record that is busy when a run ends keeps nobody from hearing of the next", async () => {
  const server = await open(PAY_ADA);
  const { record } = server.t.runtime;
  const first = await startAndAsk(server);
  const busy = vi.spyOn(record, "answerApproval").mockImplementationOnce(() => {
    throw new Error("the database is locked");
  });
  await server.post(`/api/sessions/${first.sessionId}/cancel`);
  await until(() => busy.mock.calls.length === 1 && hasEnded(server));
  const { body } = await server.post("/api/sessions", { task: "again" });
  const sessionId = String(body.sessionId);
  await until(async () => (await record.listApprovals({ sessionId, state: "waiting" })).length === 1);
  await server.post(`/api/sessions/${sessionId}/cancel`);
  await until(async () => (await record.readSession(sessionId))?.status === "cancelled");
  await until(async () => (await record.listApprovals({ sessionId, state: "waiting" })).length === 0);
  expect(await record.listApprovals({ sessionId })).toMatchObject([
    { answer: { by: "the stop of the run" } },
  ]);
  await server.stop();
});

test("every question is on some page, once, in the order it was asked or answered, even if the clock ran backwards", async () => {
  const server = await openDesk(ground, { lead: () => say("done") });
  const { record } = server.t.runtime;
  const count = 450;
  for (const [sessionId, project] of [
    ["ses_mine", ground.projectDir],
    ["ses_other", "/elsewhere"],
  ] as const) {
    await record.startSession({ sessionId, title: "t", project, workspace: "/w" });
    await record.committed();
    for (let index = 0; index < count; index++)
      await record.addApproval({
        approvalId: `apr_${sessionId}_${index}`,
        sessionId,
        runId: `run_${sessionId}`,
        callId: `call_${index}`,
        tool: "send",
        inputHash: "h",
        request: { input: {}, risk: "high", reason: "r", chain: ["lead"], targets: [] },
        requestedAtMs: 1_000_000 - index,
      });
  }
  const waiting = [await record.countWaiting({ project: ground.projectDir }), await record.countWaiting({})];
  expect(waiting.map(({ count }) => count)).toEqual([450, 900]);
  const readAll = async (query: string) => {
    const ids: unknown[] = [];
    const sizes: number[] = [];
    for (let next: unknown = ""; next !== null; ) {
      const after = next === "" ? "" : `&after=${String(next)}`;
      const { status, body } = await server.get(`/api/approvals?${query}${after}`);
      expect(status).toBe(200);
      const page = body.approvals as { approvalId: string }[];
      ids.push(...page.map(({ approvalId }) => approvalId));
      sizes.push(page.length);
      next = body.next;
    }
    return { ids, sizes };
  };
  const asked = Array.from({ length: count }, (_, index) => `apr_ses_mine_${index}`);
  expect(await readAll("open=1")).toEqual({ ids: asked, sizes: [200, 200, 50] });
  for (const [index, approvalId] of asked.slice(0, 300).entries())
    await record.answerApproval(approvalId, { allowed: true, by: "me", atMs: 5_000_000 - (index % 7) });
  expect((await readAll("open=1")).ids).toEqual(asked.slice(300));
  const lastAnswerFirst = asked.slice(0, 300).reverse();
  const answered = await readAll("open=0&limit=70");
  expect(answered).toEqual({ ids: lastAnswerFirst, sizes: [70, 70, 70, 70, 20] });
  const both = await readAll("limit=90");
  expect(both.ids).toEqual([...asked.slice(300), ...lastAnswerFirst]);
  await server.stop();
});

test("an approval does not expire while the machine sleeps, nor because the clock jumps", async () => {
  const clock = { ...stepClock(), wallMs: () => wallMs };
  let wallMs = 1_800_000_000_000;
  const ended: unknown[] = [];
  const desk = new PersonsDesk({ approvalMinutes: 2, onChange: () => {}, clock });
  void desk.approve(request("apr_1"), new AbortController().signal).then((answer) => ended.push(answer));
  for (const jumpMs of [8 * 3_600_000, -20 * 3_600_000, 400 * 86_400_000]) {
    wallMs += jumpMs;
    clock.advance(30_000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toEqual([]);
  }
  expect(desk.expiresAtMs("apr_1")).toBe(wallMs + 30_000);
  clock.advance(31_000);
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toMatchObject([{ allowed: false, by: "nobody" }]);
  desk.close();
});

function request(approvalId: string): ApprovalRequest {
  return {
    approvalId,
    sessionId: "ses_1",
    runId: "run_1",
    callId: "call_1",
    tool: "send",
    groups: [],
    inputHash: "h",
    input: {},
    presented: "x",
    risk: "high",
    reason: "r",
    chain: ["lead"],
    targets: [],
    tainted: false,
    mustConfirm: false,
  };
}
