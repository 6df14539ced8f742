import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageRow } from "@retinue/core/schema/record";
import {
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  hang,
  type Script,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
  testRuntime,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "retinue-resume-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A runtime on the folders and the database of this test; the next one finds what the last one left. */
function open(scripts: Record<string, Script>, options: TestRuntimeOptions = {}): TestRuntime {
  const places = {
    projectDir: root,
    dataDir: join(root, "data"),
    database: join(root, "data", "retinue.db"),
  };
  return testRuntime(scripts, { ...places, lenient: true, ...options });
}

/** Starts a run and leaves it as a killed process would: rows as they are, nothing settled. */
async function abandon(t: TestRuntime, until: () => boolean): Promise<string> {
  const { sessionId } = await t.runtime.start({ agent: "lead", task: "the task" });
  while (!until()) await new Promise((resolve) => setImmediate(resolve));
  await t.runtime.record.committed();
  return sessionId;
}

const openRows = (rows: readonly MessageRow[]) => rows.filter((row) => row.closed_seq === null);

test("finished children and answered turns are reused, and what was open goes on in place", async () => {
  const tasks = [
    { id: "a", agent: "worker", task: "fast" },
    { id: "b", agent: "worker", task: "slow" },
  ];
  let hung = false;
  const first = open({
    lead: [callDelegateMany(tasks)],
    worker: (request) => {
      if (request.task === "fast") return say("fast result");
      hung = request.turn === 1;
      return request.turn === 0 ? callTool("nothing", {}) : hang();
    },
  });
  const sessionId = await abandon(first, () => hung);
  const second = open({
    lead: [(request) => say(`final: ${request.last}`)],
    worker: (request) => {
      expect(request.task).toBe("slow");
      expect(request.turn).toBe(1);
      return say("slow result");
    },
  });
  const { result } = await second.runtime.resume(sessionId);
  const ended = await result;
  expect(ended).toMatchObject({ status: "completed", iteration_count: 2 });
  expect(ended.details).toContain("fast result");
  expect(ended.details).toContain("slow result");
  expect(second.models.worker?.requests).toHaveLength(1);
  expect(second.models.lead?.requests).toHaveLength(1);
  const rows = await second.runtime.record.readRows({ sessionId: sessionId });
  expect(rows.filter((row) => row.request_type === "delegation")).toHaveLength(2);
  expect(rows.filter((row) => row.request_type === "prompt")).toHaveLength(1);
  expect((await second.runtime.record.readSession(sessionId))?.status).toBe("completed");
  await second.close();
});

const NOT_KNOWN = "it is not known whether 'act' took effect";
test.each([
  ["safe", "ran", "it happened"],
  ["lookup", "it happened", "it happened"],
  // The outside says that it did not happen.
  ["lookup", "ran", null],
  // The outside cannot be asked.
  ["lookup", NOT_KNOWN, new Error("no connection")],
  ["never", NOT_KNOWN, "it happened"],
] as const)(
  "an open call of the class %s is answered after a crash with: %s",
  async (replay, answer, told) => {
    const ran: string[] = [];
    let begun = 0;
    const tool = (stuck: boolean) =>
      defineTool<object>({
        name: "act",
        description: "x",
        input: { type: "object" },
        replay,
        lookup: async () => {
          if (told instanceof Error) throw told;
          return told;
        },
        execute: async () => {
          begun++;
          if (stuck) return new Promise(() => {});
          ran.push("act");
          return "ran";
        },
      });
    const first = open({ lead: [callTool("act", {})] }, { tools: [tool(true)] });
    const sessionId = await abandon(first, () => begun === 1);
    const second = open({ lead: [(request) => say(request.last)] }, { tools: [tool(false)] });
    const ended = await (await second.runtime.resume(sessionId)).result;
    expect(ran).toEqual(answer === "ran" ? ["act"] : []);
    expect(ended.details).toContain(answer);
    expect(ended.private_data).toBe(true);
    const warned = second.events.some((event) => event.type === "notice.raised" && event.level === "warning");
    expect(warned).toBe(answer === NOT_KNOWN);
    expect(openRows(await second.runtime.record.readRows({ sessionId })).length).toBe(0);
    await second.close();
  },
);

test("counters, limits, taint and rights are those of before, whatever the agent's file says now", async () => {
  let hung = false;
  const untrusted = defineTool<object>({
    name: "page",
    description: "x",
    input: { type: "object" },
    untrusted: true,
    replay: "safe",
    execute: async () => "page",
  });
  const other = defineTool<object>({
    name: "other",
    description: "x",
    input: { type: "object" },
    execute: async () => "other",
  });
  const note = defineTool<object>({
    name: "note",
    description: "x",
    input: { type: "object" },
    execute: async () => "noted",
  });
  const first = open(
    {
      lead: [
        callTool("page", {}),
        () => {
          hung = true;
          return hang();
        },
      ],
    },
    {
      tools: [untrusted, other, note],
      agents: { lead: { tools: ["page", "note"], limits: { turns: 3, toolCalls: 2 }, prompt: "OLD PROMPT" } },
    },
  );
  const sessionId = await abandon(first, () => hung);
  const second = open(
    // It reads nothing untrusted again, so that only what is restored can taint it.
    { lead: [callTool("other", {}), callTool("note", {}), (request) => say(request.prompt)] },
    { tools: [untrusted, other, note], agents: { lead: { prompt: "NEW PROMPT" } } },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ tainted: true, partial: true, bailout_reason: "max_iterations" });
  expect(ended.details).toContain("OLD PROMPT");
  expect(ended.details).toContain("permission denied: ");
  await second.close();
});

test("what was spent before counts against the budget", async () => {
  let hung = false;
  const agents = { lead: { limits: { tokens: 60_000 } } };
  const first = open(
    {
      lead: [
        callTool("nothing", {}, { input: 9_000, output: 2_000 }),
        () => {
          hung = true;
          return hang();
        },
      ],
    },
    { agents },
  );
  const sessionId = await abandon(first, () => hung);
  const second = open({ lead: [say("done", { input: 100, output: 10 })] }, { agents });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.tokens.self).toBeGreaterThan(11_000);
  await second.close();
});

test("a nested child goes on below its own parent", async () => {
  let hung = false;
  const agents = { middle: { subagents: ["leaf"] } };
  const first = open(
    {
      lead: [callDelegate("middle", "m")],
      middle: [callDelegate("leaf", "l")],
      leaf: () => {
        hung = true;
        return hang();
      },
    },
    { agents },
  );
  const sessionId = await abandon(first, () => hung);
  const second = open(
    {
      lead: [(request) => say(request.last)],
      middle: [(request) => say(`middle of ${/leaf result/.exec(request.last)?.[0]}`)],
      leaf: [say("leaf result")],
    },
    { agents },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("middle of leaf result");
  expect(second.trace()).toEqual([
    "lead > middle > leaf: completed",
    "lead > middle: completed",
    "lead: completed",
  ]);
  await second.close();
});

test("a session that ended or was stopped stays as it is", async () => {
  await using t = open({ lead: [say("done")] });
  const { session_id } = await t.runtime.run({ agent: "lead", task: "x" });
  await expect(t.runtime.resume(session_id)).rejects.toThrow(/has ended \(completed\)/);
});

test("a call whose input held a secret is not made with the placeholder that was kept", async () => {
  const got: string[] = [];
  let begun = false;
  const tool = (stuck: boolean) =>
    defineTool<{ text: string }>({
      name: "keep",
      description: "x",
      input: { type: "object", properties: { text: { type: "string" } } },
      replay: "safe",
      execute: async ({ text }) => {
        begun = true;
        if (stuck) return new Promise(() => {});
        got.push(text);
        return "kept";
      },
    });
  const secret = `sk-ant-api03-${"a1B2c3D4".repeat(12)}`;
  const first = open({ lead: [callTool("keep", { text: secret })] }, { tools: [tool(true)] });
  const sessionId = await abandon(first, () => begun);
  const second = open({ lead: [(request) => say(request.last)] }, { tools: [tool(false)] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(got).toEqual([]);
  expect(ended.details).toContain("held a secret that was not kept");
  await second.close();
});

test("a resume that cannot begin changes nothing, and denies of now hold for what goes on", async () => {
  let hung = false;
  const ran: string[] = [];
  const tool = defineTool<object>({
    name: "act",
    description: "x",
    input: { type: "object" },
    execute: async () => `${ran.push("act")}`,
  });
  const first = open(
    {
      lead: () => {
        hung = true;
        return hang();
      },
    },
    { tools: [tool] },
  );
  const sessionId = await abandon(first, () => hung);
  const other = open({ somebody: [] }, { tools: [tool] });
  await expect(other.runtime.resume(sessionId)).rejects.toThrow();
  expect((await other.runtime.record.readSession(sessionId))?.status).toBe("running");
  await other.close();
  const second = open(
    { lead: [callTool("act", {}), say("done")] },
    { tools: [tool], disallowedTools: ["act"] },
  );
  expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({ status: "completed" });
  expect(ran).toEqual([]);
  await second.close();
});

test("children that a streaming parent was told are running go on, and are collected", async () => {
  const agents = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
  let waiting = false;
  const two = ["quick", "slow"].map((task) => ({ tool: "delegate", input: { agent: "worker", task } }));
  const first = open(
    {
      lead: [
        callTools(two),
        () => {
          waiting = true;
          return hang();
        },
      ],
      worker: (request) => (request.task === "slow" ? hang() : say("quick result")),
    },
    { agents },
  );
  const sessionId = await abandon(first, () => waiting);
  const second = open(
    {
      lead: [
        (request) => {
          expect(request.options.prompt.at(-1)?.role).toBe("tool");
          expect(request.last).toMatch(/still running: run_\w+ \(worker\): slow/);
          return callTool("collect_results", { wait: "all" });
        },
        (request) => say(request.last),
      ],
      worker: [say("slow result")],
    },
    { agents },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("slow result");
  expect(openRows(await second.runtime.record.readRows({ sessionId: sessionId }))).toEqual([]);
  await second.close();
});

test("calls are counted as before, and time between processes is nobody's", async () => {
  let hung = false;
  const note = defineTool<object>({
    name: "note",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async () => "noted",
  });
  const agents = { lead: { limits: { toolCalls: 3, minutes: 1 } } };
  const first = open(
    {
      lead: [
        callTools([
          { tool: "note", input: {} },
          { tool: "unheard_of", input: {} },
          { tool: "unheard_of", input: {} },
        ]),
        () => {
          hung = true;
          return hang();
        },
      ],
    },
    { tools: [note], agents },
  );
  const sessionId = await abandon(first, () => hung);
  const second = open(
    { lead: [callTool("note", { n: 1 }), callTool("note", { n: 2 }), say("done")] },
    { tools: [note], agents },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({
    status: "completed",
    partial: false,
    tool_calls_used: 3,
    tools_used: ["note"],
  });
  await second.close();
});
