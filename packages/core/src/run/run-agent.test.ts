import { expect, test } from "vitest";
import { makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import type { RunResult } from "../schema/result.ts";
import type { CallResult, Reply, ToolCall } from "./model/reply.ts";
import type { ModelOutcome, Resumption } from "./outcome.ts";
import { type Run, UNMEASURED } from "./run.ts";
import { runAgent } from "./run-agent.ts";

const reply = (text: string, ...tools: string[]): ModelOutcome & { kind: "reply" } => ({
  kind: "reply",
  tokens: 100,
  reply: {
    ...{ text, reasoning: [], finish: "stop", usage: undefined, modelId: undefined },
    calls: tools.map((tool, index) => ({ callId: `${tool}${index}`, tool, input: "{}" })),
  },
});
const failure = (type: "timeout" | "failed"): ModelOutcome => ({
  kind: "failed",
  error: { type, message: `it was ${type}`, recoverable: false },
});
const noRoom = (resource: "tokens" | "cost"): ModelOutcome => ({ kind: "unaffordable", resource });

type Play = RunParts & {
  /** Before each model call, with how many there were before it. */
  before?: (run: Run, nth: number) => void;
  /** Where the run stood, if it goes on after a crash. */
  resumption?: Resumption;
};

/** Plays a run whose model calls end so; `made` are the calls of tools that were made. */
async function play(outcomes: readonly ModelOutcome[], { before, resumption, ...parts }: Play = {}) {
  const made: string[] = [];
  const purposes: string[] = [];
  const callModel = async (run: Run, { purpose }: { purpose: string }) => {
    before?.(run, purposes.length);
    purposes.push(purpose);
    return outcomes[purposes.length - 1] ?? reply("The end.");
  };
  const makeCall = async (run: Run, { callId, tool }: ToolCall): Promise<CallResult> => {
    made.push(callId);
    run.toolCalls++;
    return { callId, tool, text: `${tool} ran`, outcome: "ok" };
  };
  const place = makeRun({ ...parts, host: { callModel, makeCall, ...parts.host } });
  if (resumption) place.run.resumption = resumption;
  const result: RunResult = await runAgent(place.run);
  return { ...place, made, purposes, result };
}

test("a run asks its model, answers the calls, and ends with the first reply that has none", async () => {
  const { run, result, made } = await play([reply("I look.", "read", "grep"), reply("Done.")]);
  expect(result).toMatchObject({ status: "completed", success: true, summary: "Done.", iteration_count: 2 });
  expect(made).toEqual(["read0", "grep1"]);
  expect(run.history.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant"]);
  expect(run.measured).toEqual({ tokens: 100, bytes: run.contextBytes });
});

test("a count of tokens that cannot be believed measures nothing", async () => {
  const { run } = await play([reply("I look.", "read"), { ...reply("Done."), tokens: null }]);
  expect(run.measured).toBe(UNMEASURED);
});

test("a run without room for a first call fails; later it reports what there is, and the turn does not count", async () => {
  const first = await play([noRoom("cost")]);
  expect(first.result).toMatchObject({ status: "failed", error: { type: "budget" }, iteration_count: 0 });
  for (const [resource, bailout] of [
    ["cost", "max_cost"],
    ["tokens", "max_tokens"],
  ] as const) {
    const later = await play([reply("I look.", "read"), noRoom(resource), reply("What there is.")]);
    expect(later.result).toMatchObject({ bailout_reason: bailout, partial: true, iteration_count: 1 });
    expect(later.purposes).toEqual(["turn", "turn", "wrap_up"]);
  }
});

test("a model that fails ends the run with what was gathered; one that falls silent as a time-out", async () => {
  const { result } = await play([reply("I look.", "read"), failure("failed")]);
  expect(result).toMatchObject({ status: "failed", details: expect.stringContaining("read ran") });
  expect((await play([failure("timeout")])).result.status).toBe("timeout");
});

test("what a person says enters before the next turn, is told in its row, and makes its addresses known", async () => {
  const { run, events } = await play([reply("I look.", "read"), reply("Done.")], {
    before: (run, nth) => nth === 0 && run.steering.push("see https://a.example/x"),
  });
  expect(run.history.map(({ role }) => role).slice(2)).toEqual(["assistant", "tool", "user", "assistant"]);
  expect([run.steered, run.session.addresses.has("https://a.example/x")]).toEqual([
    ["see https://a.example/x"],
    true,
  ]);
  expect(events).toMatchObject([{ type: "run.steered" }]);
});

test("a paused run takes no turn until it goes on, also when it is paused again at once", async () => {
  const ended: string[] = [];
  const callModel = async () => {
    ended.push("turn");
    return reply("Done.");
  };
  const { run } = makeRun({ host: { callModel } });
  run.pause();
  const going = runAgent(run);
  const first = run.paused;
  first?.resume();
  run.pause();
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toEqual([]);
  run.paused?.resume();
  expect((await going).status).toBe("completed");
});

test("a run that is stopped between turns ends as it was told", async () => {
  const { result } = await play([reply("I look.", "read")], {
    before: (run) => run.interrupt({ status: "cancelled", bailout: "cancelled", message: "by a person" }),
  });
  expect(result).toMatchObject({ status: "cancelled", error: { message: "by a person" } });
});

test("a run that goes in circles is told at the third time, and reports at the fifth", async () => {
  const same = reply("Again.", "read");
  const { run, result, made } = await play([same, same, same, same, same, reply("I went in circles.")]);
  expect([made.length, result.bailout_reason]).toEqual([5, "loop_detected"]);
  expect(JSON.stringify(run.history)).toMatch(/same call|repeat/i);
});

test("calls between two empty answers begin the count of them anew, and end an answer that was cut", async () => {
  const cut: ModelOutcome = { ...reply("half"), reply: { ...reply("half").reply, finish: "length" } };
  const { result } = await play([
    reply(""),
    reply("", "read"),
    reply(""),
    cut,
    reply("", "grep"),
    reply("Done."),
  ]);
  expect(result).toMatchObject({ status: "completed", details: "Done." });
});

test("a task that is longer than the context fails before a call is made", async () => {
  const { result, purposes } = await play([], { task: "x".repeat(1_000), limits: { contextChars: 500 } });
  expect([result.error?.type, purposes]).toEqual(["context_overflow", []]);
});

test("no turn begins while the record cannot be written, where somebody watches", async () => {
  const journal = {
    open: () => 1,
    close: () => {},
    committed: async () => Promise.reject(new Error("disk full")),
  };
  const { result, purposes } = await play([], { host: { watched: () => true }, session: { journal } });
  expect([result.error?.message, purposes]).toEqual(["the record could not be written: disk full", []]);
});

const answer: Reply = reply("Done.").reply;
const call = (callId: string): ToolCall => ({
  callId,
  tool: "read",
  input: "{}",
  resumed: { rowId: null, counted: true },
});

test("after a crash an answer or a report that was given is not asked for again", async () => {
  const answered = await play([], { resumption: { kind: "answer", reply: answer } });
  expect([answered.result.details, answered.purposes]).toEqual(["Done.", []]);
  const reported = await play([], { resumption: { kind: "wrap_up", reason: "deadline", reply: answer } });
  expect([reported.result.bailout_reason, reported.purposes]).toEqual(["deadline", []]);
  const asked = await play([], { resumption: { kind: "wrap_up", reason: "deadline", reply: null } });
  expect([asked.result.bailout_reason, asked.purposes]).toEqual(["deadline", ["wrap_up"]]);
});

test("after a crash calls that were answered are not made again, the others are, and a loop is still one", async () => {
  const kept: CallResult = { callId: "c1", tool: "read", text: "kept", outcome: "ok" };
  const resume = (repeating: "no" | "stop") =>
    play([reply("Done.")], {
      resumption: {
        kind: "calls",
        calls: [call("c1"), call("c2")],
        answered: new Map([["c1", kept]]),
        repeating,
      },
    });
  const { made, run, result } = await resume("no");
  expect([made, result.details]).toEqual([["c2"], "Done."]);
  expect(JSON.stringify(run.history)).toContain("kept");
  expect((await resume("stop")).result.bailout_reason).toBe("loop_detected");
});

test("files that were there before a run are noted when it begins, not when it goes on", async () => {
  const taken: string[] = [];
  const takeBaseline = async () => {
    taken.push("taken");
    return new Map();
  };
  const parts: Play = { deliverables: [{ command: "true" }], workplace: { takeBaseline } };
  await play([], parts);
  expect(taken).toEqual(["taken"]);
  await play([], { ...parts, resumption: { kind: "turn" } });
  expect(taken).toEqual(["taken"]);
});
