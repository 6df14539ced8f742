import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  callDelegateMany,
  callTool,
  callTools,
  type Script,
  say,
  type TestRuntime,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

let root = "";
let ran: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-park-"));
  ran = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const tool = (name: string) =>
  defineTool<{ to?: string }>({
    name,
    description: "x",
    input: { type: "object" },
    execute: async ({ to = "" }) => {
      ran.push(`${name} ${to}`.trim());
      return `${name} done`;
    },
  });

/** A process of its own on the same record; what nobody answers is left for later. */
function open(scripts: Record<string, Script>): TestRuntime {
  const places = { projectDir: root, dataDir: join(root, "data"), database: join(root, "data", "r.db") };
  const agents = Object.fromEntries(
    Object.keys(scripts).map((name) => [name, { askTools: ["pay"], tools: ["pay", "look"] }]),
  );
  return testRuntime(scripts, {
    ...places,
    tools: [tool("pay"), tool("look")],
    onAsk: "park",
    lenient: true,
    agents,
  });
}

const parkedIn = ({ events }: TestRuntime) =>
  events.flatMap((event) => (event.type === "session.parked" ? [event.approvalIds] : []));

const SIMPLE: Script = ({ turn }) =>
  turn === 0 ? callTool("pay", { to: "Ada" }) : say(turn === 1 ? "settled" : "?");

async function park(scripts: Record<string, Script>) {
  const t = open(scripts);
  const { session_id } = await t.runtime.run({ agent: Object.keys(scripts)[0] ?? "", task: "go" });
  const parked = parkedIn(t);
  const waiting = await t.runtime.record.listApprovals({ state: "waiting" });
  await t.close();
  return { sessionId: session_id, parked, waiting };
}

async function answerAndResume(
  scripts: Record<string, Script>,
  sessionId: string,
  allowed: boolean,
  count = 1,
) {
  const t = open(scripts);
  for (const { approvalId } of (await t.runtime.record.listApprovals({ state: "waiting" })).slice(0, count))
    await t.runtime.record.answerApproval(approvalId, { allowed, by: "Ada", atMs: Date.now() });
  const { result } = await t.runtime.resume(sessionId);
  const ended = await result;
  const parked = parkedIn(t);
  await t.close();
  return { result: ended, parked };
}

test("an ask that nobody answers leaves the session as it is, and a later yes lets it go on", async () => {
  const { sessionId, parked, waiting } = await park({ lead: SIMPLE });
  expect(ran).toEqual([]);
  expect(waiting).toHaveLength(1);
  expect(parked).toEqual([[waiting[0]?.approvalId]]);
  expect(waiting[0]).toMatchObject({
    tool: "pay",
    sessionId,
    request: { input: { to: "Ada" }, chain: ["lead"] },
  });
  const { result, parked: again } = await answerAndResume({ lead: SIMPLE }, sessionId, true);
  expect(ran).toEqual(["pay Ada"]);
  expect(again).toEqual([]);
  expect(result).toMatchObject({ status: "completed", summary: "settled" });
});

test("a later no is told to the agent, which goes on without", async () => {
  const { sessionId } = await park({ lead: SIMPLE });
  const { result } = await answerAndResume({ lead: SIMPLE }, sessionId, false);
  expect(ran).toEqual([]);
  expect(result.status).toBe("completed");
});

test("resumed without an answer it waits again, under the same id", async () => {
  const { sessionId, waiting } = await park({ lead: SIMPLE });
  const { parked } = await answerAndResume({ lead: SIMPLE }, sessionId, true, 0);
  expect(ran).toEqual([]);
  expect(parked).toEqual([[waiting[0]?.approvalId]]);
});

test("a yes holds for the call that was shown and for no other", async () => {
  const { sessionId } = await park({ lead: SIMPLE });
  const other: Script = ({ turn }) => (turn === 1 ? callTool("pay", { to: "Mallory" }) : say("settled"));
  const { parked } = await answerAndResume({ lead: other }, sessionId, true);
  expect(ran).toEqual(["pay Ada"]);
  expect(parked).toHaveLength(1);
});

test("what can go on without the answer goes on first", async () => {
  const scripts: Record<string, Script> = {
    lead: ({ turn }) =>
      turn === 0
        ? callDelegateMany([
            { id: "a", agent: "payer", task: "pay" },
            { id: "b", agent: "looker", task: "look" },
          ])
        : say("all settled"),
    payer: ({ turn }) =>
      turn === 0
        ? callTools([
            { tool: "look", input: {} },
            { tool: "pay", input: { to: "Ada" } },
          ])
        : say("paid"),
    looker: ({ turn }) => (turn < 3 ? callTool("look", { to: String(turn) }) : say("looked")),
  };
  const { sessionId, parked } = await park(scripts);
  expect(parked).toHaveLength(1);
  expect(ran.toSorted()).toEqual(["look", "look 0", "look 1", "look 2"]);
  const { result } = await answerAndResume(scripts, sessionId, true);
  expect(ran.filter((one) => one.startsWith("pay"))).toEqual(["pay Ada"]);
  expect(ran.filter((one) => one.startsWith("look"))).toHaveLength(4);
  expect(result).toMatchObject({ status: "completed", summary: "all settled" });
});

test("a session is not left while another call of the run that asks is still under way", async () => {
  const slow = Promise.withResolvers<string>();
  const read = (name: string, work: () => Promise<string>) =>
    defineTool<object>({
      name,
      description: "x",
      input: { type: "object" },
      replay: "safe",
      risk: "low",
      execute: work,
    });
  const t = testRuntime(
    {
      lead: ({ turn }) =>
        turn === 0
          ? callTools([
              { tool: "slow", input: {} },
              { tool: "see", input: {} },
            ])
          : say("?"),
    },
    {
      ...{ projectDir: root, dataDir: join(root, "data"), database: join(root, "data", "r.db") },
      tools: [read("slow", () => slow.promise), read("see", async () => "seen")],
      onAsk: "park",
      lenient: true,
      agents: { lead: { askTools: ["see"] } },
    },
  );
  const { result } = await t.runtime.start({ agent: "lead", task: "go" });
  await vi.waitFor(async () =>
    expect(await t.runtime.record.listApprovals({ state: "waiting" })).toHaveLength(1),
  );
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(parkedIn(t)).toEqual([]);
  slow.resolve("slow answer");
  await result;
  expect(parkedIn(t)).toHaveLength(1);
  const answers = t.events.flatMap((event) =>
    event.type === "call.ended" ? [[event.tool, event.outcome]] : [],
  );
  expect(answers).toContainEqual(["slow", "ok"]);
  await t.close();
});

test("an answer that another process gives after the question is heard before the session is left", async () => {
  const t = open({ lead: SIMPLE });
  t.runtime.events(async (event) => {
    if (event.type !== "run.waiting" || event.on !== "approval") return;
    const { record } = t.runtime;
    // The question is in the record a moment after the run says that it waits.
    for (let waiting = await record.listApprovals(); ; waiting = await record.listApprovals()) {
      for (const { approvalId } of waiting)
        await record.answerApproval(approvalId, { allowed: true, by: "Ada", atMs: Date.now() });
      if (waiting.length > 0) return;
      await Promise.resolve();
    }
  });
  const result = await t.runtime.run({ agent: "lead", task: "go" });
  expect(ran).toEqual(["pay Ada"]);
  expect(parkedIn(t)).toEqual([]);
  expect(result).toMatchObject({ status: "completed", summary: "settled" });
  await t.close();
});

test("several asks at once are left together", async () => {
  const scripts: Record<string, Script> = {
    lead: ({ turn }) =>
      turn === 0
        ? callDelegateMany(["Ada", "Bob"].map((to) => ({ id: to, agent: "payer", task: to })))
        : say("settled"),
    payer: ({ turn, task }) => (turn === 0 ? callTool("pay", { to: task }) : say("paid")),
  };
  const { sessionId, parked } = await park(scripts);
  expect(parked.flat()).toHaveLength(2);
  const half = await answerAndResume(scripts, sessionId, true, 1);
  expect(half.parked.flat()).toHaveLength(1);
  const { result } = await answerAndResume(scripts, sessionId, true, 1);
  expect(ran.toSorted()).toEqual(["pay Ada", "pay Bob"]);
  expect(result.status).toBe("completed");
});

test("of several calls in one turn that need a person, each is asked about when those before it are done", async () => {
  const script: Script = ({ turn }) =>
    turn === 0
      ? callTools([
          { tool: "pay", input: { to: "Ada" } },
          { tool: "pay", input: { to: "Bob" } },
        ])
      : say("settled");
  const { sessionId, parked } = await park({ lead: script });
  expect(parked.flat()).toHaveLength(1);
  const half = await answerAndResume({ lead: script }, sessionId, true, 1);
  expect(half.parked.flat()).toHaveLength(1);
  expect(ran).toEqual(["pay Ada"]);
  const { result } = await answerAndResume({ lead: script }, sessionId, true, 1);
  expect(ran.toSorted()).toEqual(["pay Ada", "pay Bob"]);
  expect(result.status).toBe("completed");
});
