import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import type { BailoutReason } from "../schema/result.ts";
import { endReported, fail, gatherWork, interrupted, reportGathered, wrapUp } from "./ending.ts";
import { pushReply, pushResults } from "./history.ts";
import type { Reply } from "./model/reply.ts";
import type { ModelOutcome } from "./outcome.ts";
import type { ChildRuns, Run } from "./run.ts";

const reply = (more: Partial<Reply>): Reply => ({
  ...{ text: "", reasoning: [], calls: [], finish: "stop", usage: undefined, modelId: undefined },
  ...more,
});
const call = (callId: string) => ({ callId, tool: "read", input: "{}" });
const NOTHING = { texts: "", results: "" };

/** A run that has said something and read something. */
function makeWorkingRun(outcome?: ModelOutcome): Run {
  const { run } = makeRun({ host: { callModel: async () => outcome ?? { kind: "interrupted" } } });
  pushReply(run, reply({ text: "I look.", calls: [call("c1")] }));
  pushResults(run, [{ callId: "c1", tool: "read", text: "the file", outcome: "ok" }]);
  return run;
}

test("work that was gathered is what the model said and its tools answered to this task, not what failed or the host said", () => {
  const { run } = makeRun();
  const [system, task] = [...run.history];
  const earlier = {
    role: "assistant" as const,
    content: [{ type: "text" as const, text: "of an earlier task" }],
  };
  if (system && task) run.replaceHistory([system, earlier, task]);
  pushReply(run, reply({ text: "I look.", calls: [call("c1"), call("c2"), call("c3")] }));
  pushResults(run, [
    { callId: "c1", tool: "read", text: "the file", outcome: "ok" },
    { callId: "c2", tool: "read", text: "no such file", outcome: "error" },
    { callId: "c3", tool: "delegate", text: "<subagent_result>half</subagent_result>", outcome: "error" },
  ]);
  run.pushUser("Go on.");
  run.pushUser("<earlier_work>a summary</earlier_work>");
  expect(gatherWork(run)).toEqual({
    texts: "I look.",
    results: [
      "read:\nthe file",
      "delegate:\n<subagent_result>half</subagent_result>",
      "<earlier_work>a summary</earlier_work>",
    ].join("\n\n"),
  });
});

test("of much work the latest is kept", () => {
  const { run } = makeRun();
  for (let index = 0; index < 40; index++)
    pushReply(run, reply({ text: `${index}: ${"x".repeat(1_000)}`, calls: [call(`c${index}`)] }));
  const { texts } = gatherWork(run);
  expect(texts).toContain("39: x");
  expect(texts).not.toContain("\n0: x");
  expect(texts).toMatch(/^\(\d+ earlier ones are in the trace\)/);
});

test("a run that was stopped keeps its last words, one whose time was over all of its work", () => {
  const ending = (status: "cancelled" | "timeout") => {
    const run = makeWorkingRun();
    run.interrupt({ status, bailout: status, message: "over" });
    return interrupted(run);
  };
  expect(ending("cancelled")).toMatchObject({ status: "cancelled", text: "I look.", partial: true });
  expect(ending("timeout")).toMatchObject({
    status: "timeout",
    text: expect.stringContaining("the file"),
    partial: true,
  });
  expect(ending("timeout").error).toEqual({ type: "timeout", message: "over", recoverable: false });
});

test("only a bad response is a failure that another attempt may fix", () => {
  const recoverable = (type: "bad_response" | "failed") => {
    const next = fail("", type, "x");
    return next.kind === "end" && next.ending.error?.recoverable;
  };
  expect([recoverable("bad_response"), recoverable("failed")]).toEqual([true, false]);
});

test("a last report ends a run as partial; words beside a call are none", () => {
  const run = makeWorkingRun();
  const reason = "max_iterations";
  expect(endReported(run, { reason }, reply({ text: "The report." }))).toEqual({
    ...{ status: "completed", text: "The report.", partial: true, bailout: reason },
  });
  const beside = endReported(run, { reason }, reply({ text: "Let me look.", calls: [call("c9")] }));
  expect(beside.text).toContain("the file");
  const empty = endReported(makeRun().run, { reason, gathered: NOTHING }, reply({ text: " \u200b" }));
  expect(empty).toMatchObject({ status: "failed", error: { type: "budget" }, partial: true });
});

test("what the tools had answered stands behind the model's words, which are not said twice", () => {
  expect(reportGathered({ texts: "One.", results: "" }, "One.")).toBe("One.");
  expect(reportGathered({ texts: "One.", results: "r" }, "Two.")).toBe(
    "One.\n\nTwo.\n\nThere was no last report. This is what the tools had answered:\n\nr",
  );
});

test("a run at its limit stops its children, and hears what they had, before it reports", async () => {
  const asked: string[] = [];
  const collectRest = async (how: string) => {
    asked.push(how);
    return "<subagent_result>half</subagent_result>";
  };
  const run = makeWorkingRun({ kind: "reply", reply: reply({ text: "The report." }), tokens: null });
  run.children = { collectRest } as Partial<ChildRuns> as ChildRuns;
  expect(await wrapUp(run, "max_iterations")).toMatchObject({ text: "The report.", partial: true });
  expect(asked).toEqual(["stop"]);
  expect(JSON.stringify(run.history.at(-1))).toContain("half");
  expect(run.wrapUpReason).toBe("max_iterations");
});

test("a report that could not be asked for is told, and the work is kept in its place", async () => {
  const error = { type: "failed" as const, message: "no model", recoverable: false };
  const run = makeWorkingRun({ kind: "failed", error });
  expect((await wrapUp(run, "max_iterations")).text).toContain("the file");
  expect(run.warnings).toEqual(["there is no last report: no model"]);
});

test("an answer that was cut is the report: nobody is asked for another", async () => {
  const run = makeWorkingRun();
  run.cutAnswer = ["half an ", "answer"];
  expect(await wrapUp(run, "deadline")).toMatchObject({
    text: "half an answer",
    partial: true,
    bailout: "deadline",
  });
});

test("room for the last report is made without the model where neither time nor tokens are left", async () => {
  const purposesAt = async (reason: BailoutReason) => {
    const purposes: string[] = [];
    const callModel = async (_: Run, { purpose }: { purpose: string }): Promise<ModelOutcome> => {
      purposes.push(purpose);
      return { kind: "reply", reply: reply({ text: "Short." }), tokens: null };
    };
    const { run } = makeRun({ limits: { contextChars: 2_000 }, host: { callModel } });
    for (let turn = 0; turn < 6; turn++)
      pushReply(run, reply({ text: "x".repeat(500), calls: [call(`c${turn}`)] }));
    await wrapUp(run, reason);
    return purposes;
  };
  expect(await purposesAt("max_iterations")).toEqual(["summary", "wrap_up"]);
  expect(await purposesAt("deadline")).toEqual(["wrap_up"]);
});
