import {
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  type Step,
  say,
  type TestRuntime,
  type TestRuntimeOptions,
} from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { describe, expect, test } from "vitest";
import { type Counted, countedTool, Lives, silence } from "../fixtures/lives.ts";

/** A page of somebody else's. */
const page = defineTool<object>({
  name: "page",
  description: "x",
  input: { type: "object" },
  untrusted: true,
  replay: "safe",
  execute: async () => "page",
});

/** Whether a call of that name has its answer. */
const isAnswered = (t: TestRuntime, tool: string) =>
  t.events.some((event) => event.type === "call.ended" && event.tool === tool);
const endOf = (t: TestRuntime, agent: string) =>
  t.events.flatMap((event) => (event.type === "run.ended" && event.agent === agent ? [event.result] : []))[0];

/** What a resumed run comes to that calls nothing any more: only what is restored can taint it. */
async function resumeSaying(lives: Lives, sessionId: string, tools: Counted["tool"][], worker: Step[] = []) {
  await using t = lives.open({ lead: [say("done")], worker }, { tools });
  return await (await t.runtime.resume(sessionId)).result;
}

describe("a resumed run is tainted by what it knew, although it reads nothing again", () => {
  const stuckTool = () => countedTool("slow", null);

  test("by the answer of a call, before any later turn told of it", async () => {
    using lives = new Lives();
    const stuck = stuckTool();
    const calls = callTools(["page", "slow"].map((tool) => ({ tool, input: {} })));
    const first = lives.open({ lead: [calls] }, { tools: [page, stuck.tool] });
    const sessionId = await lives.abandon(first, () => isAnswered(first, "page") && stuck.runs === 1);
    const ended = await resumeSaying(lives, sessionId, [page, countedTool("slow").tool]);
    expect(ended).toMatchObject({ status: "completed", tainted: true });
  });

  test("by the result of a child, before any later turn told of it", async () => {
    using lives = new Lives();
    const stuck = stuckTool();
    const calls = callTools([
      { tool: "delegate", input: { agent: "worker", task: "read" } },
      { tool: "slow", input: {} },
    ]);
    const worker = [callTool("page", {}), say("read it")];
    const first = lives.open({ lead: [calls], worker }, { tools: [page, stuck.tool] });
    const sessionId = await lives.abandon(first, () => stuck.runs === 1);
    const ended = await resumeSaying(lives, sessionId, [page, countedTool("slow").tool]);
    expect(ended).toMatchObject({ status: "completed", tainted: true });
  });

  test("by a call that was let in to what a tainted run had written, and had no answer yet", async () => {
    using lives = new Lives();
    const stuck = stuckTool();
    const first = lives.open({ lead: [callTool("slow", {})] }, { tools: [stuck.tool] });
    const sessionId = await lives.abandon(first, () => stuck.runs === 1);
    lives.sql(
      `UPDATE messages SET metadata_json = json_set(metadata_json, '$.broughtUntrusted', json('true'))
       WHERE session_id = ? AND request_type = 'tool_call'`,
      sessionId,
    );
    const ended = await resumeSaying(lives, sessionId, [countedTool("slow").tool]);
    expect(ended).toMatchObject({ status: "completed", tainted: true });
  });

  test("by what a call is found to have brought, which was under way", async () => {
    using lives = new Lives();
    let begun = false;
    const fetching = defineTool<object>({
      name: "fetching",
      description: "x",
      input: { type: "object" },
      untrusted: true,
      replay: "lookup",
      lookup: async () => "it was fetched",
      execute: async () => {
        begun = true;
        return new Promise(() => {});
      },
    });
    const first = lives.open({ lead: [callTool("fetching", {})] }, { tools: [fetching] });
    const sessionId = await lives.abandon(first, () => begun);
    const ended = await resumeSaying(lives, sessionId, [fetching]);
    expect(ended).toMatchObject({ status: "completed", tainted: true });
  });

  test("by results that it was told between two turns", async () => {
    using lives = new Lives();
    const stuck = silence();
    const two = ["quick", "slow"].map((task) => ({ tool: "delegate", input: { agent: "worker", task } }));
    const agents = { lead: { subagents: { allow: ["*"], execution: "parallel_streaming" as const } } };
    const first = lives.open(
      {
        lead: [callTools(two), say("not yet"), stuck.step],
        worker: ({ task, turn }) => {
          if (task === "quick") return say("quick result");
          return turn === 0 ? callTool("page", {}) : say("slow result");
        },
      },
      { agents, tools: [page] },
    );
    const sessionId = await lives.abandon(first, () => stuck.reached);
    const ended = await resumeSaying(lives, sessionId, [page]);
    expect(ended).toMatchObject({ status: "completed", tainted: true });
  });

  test("by what stood in its task", async () => {
    using lives = new Lives();
    const stuck = silence();
    const before = lives.open({ lead: [callTool("page", {}), say("of a page")] }, { tools: [page] });
    const report = await before.runtime.run({ agent: "lead", task: "read" });
    const first = lives.open({ lead: [stuck.step] });
    const { sessionId } = await first.runtime.start({ agent: "lead", task: "go", reports: [report] });
    await lives.leave(first, () => stuck.reached);
    lives.sql("DELETE FROM messages WHERE session_id = ? AND request_type = 'continuation'", sessionId);
    const ended = await resumeSaying(lives, sessionId, []);
    expect(ended).toMatchObject({ status: "completed", tainted: true });
  });
});

describe("what the new process forbids binds the children that it goes on with", () => {
  const forbidding: [string, TestRuntimeOptions][] = [
    ["its settings", { settings: { permissions: { ask: [], deny: ["act"] } } }],
    ["a flag", { disallowedTools: ["act"] }],
    ["plan mode", { permissionMode: "plan" }],
  ];
  test.each(forbidding)("by %s", async (_, more) => {
    using lives = new Lives();
    const stuck = silence();
    const act = countedTool("act");
    const tool = { ...act.tool, risk: "medium" as const };
    const agents = { middle: { subagents: ["leaf"] } };
    const first = lives.open(
      { lead: [callDelegate("middle", "m")], middle: [callDelegate("leaf", "l")], leaf: [stuck.step] },
      { tools: [tool], agents },
    );
    const sessionId = await lives.abandon(first, () => stuck.reached);
    await using second = lives.open(
      {
        lead: [say("done")],
        middle: [callTool("act", {}), say("middle is done")],
        leaf: [callTool("act", {}), say("leaf is done")],
      },
      { tools: [tool], agents, ...more },
    );
    await (await second.runtime.resume(sessionId)).result;
    expect(act.runs).toBe(0);
    const told = [second.models.middle, second.models.leaf].map((model) =>
      JSON.stringify(model?.requests[1]?.prompt.at(-1)),
    );
    for (const answer of told) expect(answer).toContain("permission denied: ");
  });

  test("a read-only session stays one, whatever the new process may do", async () => {
    using lives = new Lives();
    const stuck = silence();
    const act = countedTool("act");
    const tool = { ...act.tool, risk: "medium" as const };
    const first = lives.open(
      { lead: [callDelegate("worker", "w")], worker: [stuck.step] },
      { tools: [tool], permissionMode: "plan" },
    );
    const sessionId = await lives.abandon(first, () => stuck.reached);
    await using second = lives.open(
      { lead: [callTool("act", {}), say("done")], worker: [callTool("act", {}), say("worker is done")] },
      { tools: [tool] },
    );
    expect(await (await second.runtime.resume(sessionId)).result).toMatchObject({ status: "completed" });
    expect(act.runs).toBe(0);
  });

  test("a child whose agent was switched off since does not go on", async () => {
    using lives = new Lives();
    const stuck = silence();
    const first = lives.open({ lead: [callDelegate("worker", "w")], worker: [stuck.step] });
    const sessionId = await lives.abandon(first, () => stuck.reached);
    await using second = lives.open(
      { lead: [(request) => say(request.last)], worker: [say("worker went on")] },
      { settings: { disabledAgents: ["worker"] } },
    );
    const ended = await (await second.runtime.resume(sessionId)).result;
    expect(second.models.worker?.requests).toHaveLength(0);
    expect(ended.details).toContain("'worker' is disabled");
  });

  test("children keep the limits they began with, and those that begin now have the smaller ones of now", async () => {
    using lives = new Lives();
    const stuck = silence();
    const note = countedTool("note");
    const tasks = ["open", "late"].map((id) => ({ id, agent: "worker", task: id }));
    const batch = callDelegateMany(tasks, { mode: "sequential" });
    const first = lives.open({ lead: [batch], worker: [stuck.step] }, { tools: [note.tool] });
    const sessionId = await lives.abandon(first, () => stuck.reached);
    await using second = lives.open(
      {
        lead: [say("done")],
        worker: ({ turn, options, task }) =>
          turn === 3 || options.toolChoice?.type === "none"
            ? say(`${task} is done`)
            : callTool("note", { turn }),
      },
      { tools: [note.tool], settings: { limits: { toolCalls: 1 } } },
    );
    await (await second.runtime.resume(sessionId)).result;
    const calls = second.events.flatMap((event) =>
      event.type === "run.ended" && event.agent === "worker" ? [event.result.tool_calls_used] : [],
    );
    expect(calls).toEqual([3, 1]);
    expect(endOf(second, "worker")?.partial).toBe(false);
  });
});
