import { expect, test } from "vitest";
import { makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import type { DeliverableVerdict } from "../schema/result.ts";
import { guards } from "./guards.ts";
import { loopFlow, tellOwed } from "./loop-flow.ts";
import type { Reply } from "./model/reply.ts";
import type { ChildRuns } from "./run.ts";

const reply = (text: string, more: Partial<Reply> = {}): Reply => ({
  ...{ text, reasoning: [], calls: [], finish: "stop", usage: undefined, modelId: undefined },
  ...more,
});
const OWED: RunParts = { mandatory: [{ agent: "planner", word: "plan" }] };
const missing: DeliverableVerdict = { deliverable: "a.txt", ok: false, reason: "no such file", files: [] };
const checking = (...rounds: DeliverableVerdict[][]): RunParts => ({
  host: { guards: { ...guards, checkDeliverables: async () => rounds.shift() ?? [] } },
});

test("an answer whose contract is kept ends the run", async () => {
  const { run } = makeRun();
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toMatchObject({
    kind: "end",
    ending: { status: "completed", text: "Done.", partial: false },
  });
});

test("a run repairs what is missing as often as it may, and then ends with what is missing", async () => {
  const { run } = makeRun({ ...checking([missing], [missing]), limits: { repairs: 1 } });
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toEqual({ kind: "turn" });
  expect(JSON.stringify(run.history.at(-1))).toContain("no such file");
  expect(await loopFlow.afterAnswer(run, reply("Really."))).toMatchObject({
    kind: "end",
    ending: { text: "Really.", verdicts: [missing] },
  });
});

test("an empty answer is asked for again once", async () => {
  const { run } = makeRun();
  expect(await loopFlow.afterAnswer(run, reply(" "))).toEqual({ kind: "turn" });
  expect(await loopFlow.afterAnswer(run, reply("\u200b"))).toMatchObject({
    ending: { status: "failed", error: { type: "bad_response" } },
  });
});

test("an answer that was cut goes on, and what broke off then is kept", async () => {
  const { run } = makeRun();
  expect(await loopFlow.afterAnswer(run, reply("one ", { finish: "length" }))).toEqual({ kind: "turn" });
  run.brokenOff = "two";
  expect(loopFlow.keepWork(run, { texts: "", results: "" })).toBe("one two");
  expect(await loopFlow.afterAnswer(run, reply(""))).toMatchObject({
    ending: { text: "one ", partial: true },
  });
});

test.each([
  ["content-filter", "content_filter"],
  ["error", "bad_response"],
] as const)("a reply that ended with %s fails the run", async (finish, type) => {
  expect(await loopFlow.afterAnswer(makeRun().run, reply("x", { finish }))).toMatchObject({
    ending: { status: "failed", error: { type } },
  });
});

test("a run does not end before it has heard of its children and of what a person said", async () => {
  const { run } = makeRun();
  const asked: string[] = [];
  const collectRest = async (how: string) => {
    asked.push(how);
    return asked.length === 1 ? "<subagent_result>late</subagent_result>" : null;
  };
  run.children = { collectRest } as Partial<ChildRuns> as ChildRuns;
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toEqual({ kind: "turn" });
  expect(JSON.stringify(run.history.at(-1))).toContain("late");
  run.steering.push("and the other thing");
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toEqual({ kind: "turn" });
  run.steering.length = 0;
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toMatchObject({ kind: "end" });
  expect(asked).toEqual(["wait", "wait", "wait"]);
});

test("an answer without a mandatory delegation is sent back once; who still owes it then is named", async () => {
  const { run, events } = makeRun(OWED);
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toEqual({ kind: "turn" });
  expect(JSON.stringify(run.history.at(-1))).toContain("planner");
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toMatchObject({ kind: "end" });
  tellOwed(run, { status: "completed", text: "Done." });
  expect(run.warnings).toEqual([expect.stringContaining("without delegating to `planner`")]);
  expect(events).toMatchObject([{ type: "compliance.failed" }]);
});

test("a run that failed, or that has delegated, owes nothing", async () => {
  const failed = makeRun(OWED).run;
  tellOwed(failed, { status: "failed", text: "" });
  const { run } = makeRun(OWED);
  run.children = {
    hasDelegatedTo: () => true,
    collectRest: async () => null,
  } as Partial<ChildRuns> as ChildRuns;
  expect(await loopFlow.afterAnswer(run, reply("Done."))).toMatchObject({ kind: "end" });
  tellOwed(run, { status: "completed", text: "Done." });
  expect([failed.warnings, run.warnings]).toEqual([[], []]);
});

test("a run is told what is left only while it goes on", () => {
  const { run } = makeRun({ limits: { toolCalls: 5 } });
  run.toolCalls = 4;
  const length = run.history.length;
  expect(loopFlow.afterCalls(run, { kind: "wrap_up", reason: "loop_detected" }, 0)).toMatchObject({
    kind: "wrap_up",
  });
  expect(run.history).toHaveLength(length);
  loopFlow.afterCalls(run, { kind: "turn" }, 0);
  expect(run.history).toHaveLength(length + 1);
});
