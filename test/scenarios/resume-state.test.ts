import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool, callTools, failWith, type ScriptRequest, type Step, say } from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
import { type Counted, countedTool, Lives, silence } from "../fixtures/lives.ts";

const isSummary = ({ options }: ScriptRequest) => options.providerOptions?.retinue?.purpose === "summary";

/** A tool that answers until its last run. */
function stopping(before: Counted, last: Counted, runs: number): AnyTool {
  return {
    ...before.tool,
    execute: (input, context) => (before.runs + 1 < runs ? before : last).tool.execute(input, context),
  };
}

const PRICES = { prices: { "scripted/lead": { input: 10, output: 100 } } };

test("what was set aside for an interrupted call counts as spent at once, in money too", async () => {
  using lives = new Lives();
  const stuck = silence();
  const options = { settings: PRICES, agents: { lead: { limits: { costUsd: 1 } } } };
  const first = lives.open({ lead: [stuck.step] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open({ lead: [say("done", { input: 100, output: 10 })] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  const costs = (await second.runtime.record.readRows({ sessionId: sessionId }))
    .filter((row) => row.request_type === "continuation")
    .map((row) => row.cost_usd ?? 0);
  expect(costs[0]).toBeGreaterThan(0.8);
  expect(ended.cost_usd.self).toBeCloseTo(
    costs.reduce((sum, cost) => sum + cost, 0),
    10,
  );
  expect(ended.cost_usd.subtree).toBeCloseTo(ended.cost_usd.self ?? 0, 10);
  const allowed = second.models.lead?.requests[0]?.maxOutputTokens ?? 0;
  expect((costs[0] ?? 0) + allowed * 100e-6).toBeLessThanOrEqual(1);
  await second.close();
});

test("a cost limit that interrupted calls have used up leaves no room for another", async () => {
  using lives = new Lives();
  const stuck = silence();
  const options = { settings: PRICES, agents: { lead: { limits: { costUsd: 0.83 } } } };
  const first = lives.open({ lead: [stuck.step] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open({ lead: [say("paid beyond the limit")] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "failed", error: { type: "budget" } });
  expect(second.models.lead?.requests).toHaveLength(0);
  await second.close();
});

test("calls that were made again and again before a crash still count towards a loop", async () => {
  using lives = new Lives();
  const note = countedTool("note");
  const stuck = silence();
  const same = callTool("note", { n: 1 });
  const first = lives.open({ lead: [same, same, same, same, stuck.step] }, { tools: [note.tool] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open({ lead: [same, say("gave up")] }, { tools: [note.tool] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ bailout_reason: "loop_detected", iteration_count: 5, details: "gave up" });
  await second.close();
});

test("a loop that was complete when the process ended ends the run, without another turn", async () => {
  using lives = new Lives();
  const [note, stuck] = [countedTool("note"), countedTool("note", null)];
  const same = callTool("note", { n: 1 });
  const first = lives.open({ lead: [same, same, same, same, same] }, { tools: [stopping(note, stuck, 5)] });
  const sessionId = await lives.abandon(first, () => stuck.runs === 1);
  const second = lives.open({ lead: [say("gave up")] }, { tools: [note.tool] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ bailout_reason: "loop_detected", iteration_count: 5 });
  await second.close();
});

test("a run that had asked for more calls than it may make ends after a crash, without another turn", async () => {
  using lives = new Lives();
  const [note, stuck] = [countedTool("note"), silence()];
  const options = { tools: [note.tool], agents: { lead: { limits: { toolCalls: 1 } } } };
  const both = callTools([1, 2].map((n) => ({ tool: "note", input: { n } })));
  const first = lives.open({ lead: [both, stuck.step] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  lives.sql("DELETE FROM messages WHERE closed_seq IS NULL AND parent_message_id IS NOT NULL");
  const second = lives.open({ lead: [say("as far as I got")] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ bailout_reason: "max_tool_calls", details: "as far as I got" });
  expect(second.models.lead?.requests.map(({ toolChoice }) => toolChoice?.type)).toEqual(["none"]);
  expect(note.runs).toBe(1);
  await second.close();
});

test("a call of a cut reply is not made after a crash either", async () => {
  using lives = new Lives();
  const [pay, stuck] = [countedTool("pay"), silence()];
  const cut = {
    kind: "reply",
    text: "",
    calls: [{ tool: "pay", input: { amount: 1 } }],
    finish: "length",
  } as const;
  const first = lives.open({ lead: [cut, stuck.step] }, { tools: [pay.tool] });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  lives.sql(
    "DELETE FROM messages WHERE request_type = 'tool_call' OR closed_seq IS NULL AND parent_message_id IS NOT NULL",
  );
  const second = lives.open({ lead: [say("done")] }, { tools: [pay.tool] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toBe("done");
  expect(JSON.stringify(second.models.lead?.requests[0]?.prompt)).toContain("This call was not made.");
  expect(pay.runs).toBe(0);
  await second.close();
});

test("warnings of before are in the result", async () => {
  using lives = new Lives();
  const big = countedTool("big", "x".repeat(9_000));
  const stuck = silence();
  const options = { tools: [big.tool], agents: { lead: { limits: { contextChars: 6_000 } } } };
  const first = lives.open(
    {
      lead: (request) => {
        if (isSummary(request)) return say("short");
        return request.turn === 0 ? callTool("big", {}) : stuck.step();
      },
    },
    options,
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open({ lead: [say("done")] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.warnings).toEqual([expect.stringContaining("the conversation was condensed at turn 1")]);
  await second.close();
});

test("a run that wanted one call too many wraps up, and takes no further turn with tools", async () => {
  using lives = new Lives();
  const [stuck, note] = [countedTool("slow", null), countedTool("note")];
  const agents = { lead: { limits: { toolCalls: 1 } } };
  const calls = callTools([
    { tool: "slow", input: {} },
    { tool: "note", input: {} },
  ]);
  const first = lives.open({ lead: [calls] }, { agents, tools: [stuck.tool, note.tool] });
  const sessionId = await lives.abandon(first, () => stuck.runs === 1);
  const again = countedTool("slow");
  const second = lives.open({ lead: [say("report")] }, { agents, tools: [again.tool, note.tool] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ bailout_reason: "max_tool_calls", tool_calls_used: 1, iteration_count: 1 });
  expect([again.runs, note.runs]).toEqual([1, 0]);
  await second.close();
});

test("calls that had been asked for but not begun are counted when they are made, so that no limit is passed", async () => {
  using lives = new Lives();
  const stuck = countedTool("note", null);
  const agents = { lead: { limits: { toolCalls: 2 } } };
  const calls = callTools([1, 2, 3, 4].map((n) => ({ tool: "note", input: { n } })));
  const first = lives.open({ lead: [calls] }, { agents, tools: [stuck.tool] });
  const sessionId = await lives.abandon(first, () => stuck.runs === 1);
  lives.sql("DELETE FROM messages WHERE session_id = ? AND request_type = 'tool_call'", sessionId);
  const note = countedTool("note");
  const second = lives.open({ lead: [say("report")] }, { agents, tools: [note.tool] });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(note.runs).toBe(2);
  expect(ended).toMatchObject({ bailout_reason: "max_tool_calls", tool_calls_used: 2 });
  await second.close();
});

test("a call with wrong input, which did not count before, does not count after a crash", async () => {
  using lives = new Lives();
  const [slow, note] = [countedTool("slow", null), countedTool("note")];
  const agents = { lead: { limits: { toolCalls: 2 } } };
  const calls = callTools([
    { tool: "note", input: "[1]" },
    { tool: "slow", input: {} },
  ]);
  const first = lives.open({ lead: [calls] }, { agents, tools: [slow.tool, note.tool] });
  const sessionId = await lives.abandon(first, () => slow.runs === 1);
  const again = countedTool("slow");
  const tools = [again.tool, note.tool];
  const second = lives.open({ lead: [callTool("note", {}), say("done")] }, { agents, tools });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "completed", partial: false, tool_calls_used: 2 });
  expect(note.runs).toBe(1);
  await second.close();
});

test("a conversation that was condensed for an overflow is not condensed for another after a crash", async () => {
  using lives = new Lives();
  const note = countedTool("note", "y".repeat(2_000));
  const stuck = silence();
  const overflow = failWith("context_overflow", "too long");
  const steps = [callTool("note", {}), overflow];
  const first = lives.open(
    { lead: (request) => (isSummary(request) ? say("short") : (steps.shift() ?? stuck.step())) },
    { tools: [note.tool] },
  );
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const again = [overflow];
  const second = lives.open(
    { lead: (request) => (isSummary(request) ? say("short") : (again.shift() ?? say("condensed again"))) },
    { tools: [note.tool] },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "failed", error: { type: "context_overflow" } });
  await second.close();
});

test("the model that took over for one that was not available stays", async () => {
  using lives = new Lives();
  const note = countedTool("note");
  const stuck = silence();
  const settings = { fallbacks: { "scripted/lead": ["spare"] } };
  const options = { tools: [note.tool], settings };
  const down = failWith("overloaded", "down");
  const first = lives.open({ lead: [down], spare: [callTool("note", {}), stuck.step] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open(
    { lead: [say("of the first model")], spare: [say("of the spare model")] },
    options,
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toBe("of the spare model");
  expect(ended.warnings).toEqual([expect.stringContaining("scripted/spare takes over")]);
  await second.close();
});

test("the model that took over is no fallback for itself after a crash", async () => {
  using lives = new Lives();
  const note = countedTool("note");
  const stuck = silence();
  const options = { tools: [note.tool], settings: { fallbacks: { "scripted/lead": ["spare"] } } };
  const down = failWith("overloaded", "down");
  const first = lives.open({ lead: [down], spare: [callTool("note", {}), stuck.step] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  const second = lives.open({ lead: [], spare: [down, say("asked once more")] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "failed", error: { type: "overloaded" } });
  expect(second.models.spare?.requests).toHaveLength(1);
  await second.close();
});

test("why a run was wrapping up is known after two crashes", async () => {
  using lives = new Lives();
  const note = countedTool("note");
  const agents = { lead: { limits: { turns: 1 } } };
  const [one, two] = [silence(), silence()];
  const first = lives.open({ lead: [callTool("note", {}), one.step] }, { agents, tools: [note.tool] });
  const sessionId = await lives.abandon(first, () => one.reached);
  const second = lives.open({ lead: [two.step] }, { agents, tools: [note.tool] });
  await second.runtime.resume(sessionId);
  await lives.leave(second, () => two.reached);
  const third = lives.open({ lead: [say("report")] }, { agents, tools: [note.tool] });
  const ended = await (await third.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ bailout_reason: "max_iterations", details: "report", partial: true });
  await third.close();
});

test("a file that was there before a run is not its deliverable, also if it was killed before its first turn", async () => {
  using lives = new Lives();
  const stuck = silence();
  const agents = { lead: { deliverables: [{ file: "project:report.txt" }] } };
  writeFileSync(join(lives.root, "report.txt"), "of somebody else");
  const first = lives.open({ lead: [stuck.step] }, { agents });
  const sessionId = await lives.abandon(first, () => stuck.reached);
  lives.sql("DELETE FROM messages WHERE session_id = ? AND request_type = 'continuation'", sessionId);
  const second = lives.open({ lead: [say("done"), say("really done")] }, { agents });
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ status: "failed", error: { type: "deliverable" } });
  await second.close();
});

test("a file that a sibling had made before a crash is still the sibling's", async () => {
  using lives = new Lives();
  const make = defineTool<object>({
    name: "make",
    description: "x",
    input: { type: "object" },
    replay: "safe",
    execute: async (_, context) => {
      const path = join(context.projectDir, "report.txt");
      writeFileSync(path, "made");
      context.changed(path, "created");
      return "made";
    },
  });
  const [stuck, done] = [silence(), silence()];
  const agents = { reporter: { deliverables: [{ file: "project:report.txt" }] } };
  const both = callTools(
    ["maker", "reporter"].map((agent) => ({ tool: "delegate", input: { agent, task: "go" } })),
  );
  const first = lives.open(
    {
      lead: [both],
      maker: [callTool("make", {}), done.step],
      reporter: [stuck.step],
    },
    { agents, tools: [make] },
  );
  const sessionId = await lives.abandon(first, () => done.reached && stuck.reached);
  const second = lives.open(
    {
      lead: [(request) => say(request.last)],
      maker: [say("made it")],
      reporter: [say("here it is"), say("really")],
    },
    { agents, tools: [make] },
  );
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended.details).toContain("COMPLIANCE ERROR: reporter");
  await second.close();
});

test("the time that a run had worked before a crash counts, also if it comes late in its time", async () => {
  using lives = new Lives();
  const stuck = silence();
  const note = countedTool("note");
  const options = { tools: [note.tool], agents: { lead: { limits: { minutes: 60 } } } };
  const first = lives.open({ lead: [callTool("note", {}), stuck.step] }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  lives.sql(
    "UPDATE messages SET metadata_json = json_set(metadata_json, '$.elapsedMs', ?) WHERE request_type = 'continuation'",
    55 * 60_000,
  );
  await using second = lives.open({ lead: [say("what there is")] }, options);
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(ended).toMatchObject({ partial: true, bailout_reason: "deadline", summary: "what there is" });
  expect(ended.duration_ms).toBeGreaterThanOrEqual(55 * 60_000);
});

test("a resumed run knows that it holds private data by the answers of its last turn", async () => {
  using lives = new Lives();
  const wait = (answer: Promise<string> | string) =>
    defineTool<object>({
      name: "wait",
      description: "x",
      input: { type: "object" },
      replay: "safe",
      isPublic: true,
      execute: async () => answer,
    });
  const note = countedTool("note");
  const options = (answer: Promise<string> | string) => ({ tools: [note.tool, wait(answer)] });
  const calls = callTools(["note", "wait"].map((tool) => ({ tool, input: {} })));
  const isNoted = () => first.events.some((event) => event.type === "call.ended" && event.tool === "note");
  const first = lives.open({ lead: [calls] }, options(new Promise(() => {})));
  const sessionId = await lives.abandon(first, isNoted);
  await using second = lives.open({ lead: [say("done")] }, options("waited"));
  const ended = await (await second.runtime.resume(sessionId)).result;
  expect(note.runs).toBe(1);
  expect(ended).toMatchObject({ status: "completed", private_data: true });
});

test("a warning of before is in the result once, however often the run goes on", async () => {
  using lives = new Lives();
  const big = countedTool("big", "x".repeat(9_000));
  const note = countedTool("note");
  const options = { tools: [big.tool, note.tool], agents: { lead: { limits: { contextChars: 6_000 } } } };
  const play =
    (...steps: Step[]) =>
    (request: ScriptRequest) =>
      isSummary(request) ? say("short") : (steps.shift() ?? stuck.step());
  let stuck = silence();
  const first = lives.open({ lead: play(callTool("big", {})) }, options);
  const sessionId = await lives.abandon(first, () => stuck.reached);
  stuck = silence();
  const second = lives.open({ lead: play(callTool("note", {})) }, options);
  await second.runtime.resume(sessionId);
  await lives.leave(second, () => stuck.reached);
  await using third = lives.open({ lead: [say("done")] }, options);
  const ended = await (await third.runtime.resume(sessionId)).result;
  expect(ended.warnings.filter((text) => text.includes("condensed at turn 1"))).toHaveLength(1);
});
