import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { pushReply, pushResults } from "../run/history.ts";
import type { Reply, ToolCall } from "../run/model/reply.ts";
import type { FlowStep, Run } from "../run/run.ts";
import { defineTool } from "../tools/tool.ts";
import { intentFlow } from "./intent-flow.ts";

const tool = (name: string, more: object = {}) =>
  defineTool<object>({
    name,
    description: `Does ${name}.`,
    input: { type: "object" },
    execute: async () => "",
    ...more,
  });
const TOOLS = [tool("send"), tool("look"), tool("delegate", { delegates: "self-recorded" })];
const reply = (text: string, tools: readonly string[] = [], more: Partial<Reply> = {}): Reply => ({
  ...{ text, reasoning: [], finish: "stop", usage: undefined, modelId: undefined },
  calls: tools.map((name, index) => ({ callId: `${name}${index}`, tool: name, input: "{}" })),
  ...more,
});
const PLAN = reply(JSON.stringify({ tools: ["send"], missing: [] }));
const lastSaid = (run: Run) => JSON.stringify(run.history.at(-1));
const makeIntent = () => makeRun({ tools: TOOLS, flow: intentFlow });

/** Answers the calls of a turn as the tools would. */
function answerAll(run: Run, asked: Reply): void {
  pushReply(run, asked);
  pushResults(
    run,
    asked.calls.map(({ callId, tool: name }) => ({ callId, tool: name, text: "{}", outcome: "ok" })),
  );
}

test("the first step shows no tools but tells of those that can be planned; each step says where it stands", () => {
  const { run, events } = makeIntent();
  const step = intentFlow.enterStep(run);
  expect(step).toMatchObject({ name: "assess", tools: null });
  expect(lastSaid(run)).toContain("- send: Does send.");
  expect(lastSaid(run)).not.toContain("- delegate");
  expect(events).toMatchObject([{ type: "phase.entered", phase: "assess", context: { status: "planning" } }]);
  pushReply(run, PLAN);
  expect(intentFlow.enterStep(run)).toMatchObject({ name: "execute", tools: ["send"], mayCall: true });
  answerAll(run, reply("", ["send"]));
  expect(intentFlow.enterStep(run)).toMatchObject({ name: "format", mayCall: false });
});

test("only planned calls are made, and only while the plan is executed; others are answered without counting", async () => {
  const { run, rows } = makeIntent();
  const answer = async (step: FlowStep | null, name: string) => {
    const make = async ({ callId, tool: made }: ToolCall) => ({
      callId,
      tool: made,
      text: "made",
      outcome: "ok" as const,
    });
    return (await step?.answerCall({ callId: "c", tool: name, input: "{}" }, make, run))?.text;
  };
  expect(await answer(intentFlow.enterStep(run), "send")).toBe("no tool can be called in this phase");
  pushReply(run, PLAN);
  const step = intentFlow.enterStep(run);
  expect([await answer(step, "send"), await answer(step, "look")]).toEqual([
    "made",
    "'look' is not part of the plan; planned: send",
  ]);
  expect(rows.map(({ closing }) => closing?.metadata)).toMatchObject(Array(2).fill({ uncounted: true }));
});

test("after a crash the words of a step are not said a second time, and a reply belongs to the step it was asked in", () => {
  const { run } = makeIntent();
  intentFlow.enterStep(run);
  const { length } = run.history;
  intentFlow.enterStep(run);
  expect(run.history).toHaveLength(length);
  pushReply(run, PLAN);
  expect(intentFlow.findStepOfReply(run)?.name).toBe("assess");
  intentFlow.enterStep(run);
  pushReply(run, reply("", ["send"]));
  expect(intentFlow.findStepOfReply(run)?.name).toBe("execute");
});

test("the last words end the run; if they were cut they are only a part", async () => {
  const end = async (finish: Reply["finish"]) => {
    const { run } = makeIntent();
    pushReply(run, PLAN);
    answerAll(run, reply("", ["send"]));
    const last = reply("It is sent.", [], { finish });
    pushReply(run, last);
    return intentFlow.afterAnswer(run, last);
  };
  expect(await end("stop")).toEqual({ kind: "end", ending: { status: "completed", text: "It is sent." } });
  expect(await end("length")).toMatchObject({ kind: "end", ending: { partial: true } });
  expect(await end("content-filter")).toMatchObject({
    ending: { status: "failed", error: { type: "content_filter" } },
  });
});

test("a limit is kept unless the flow is over anyway", () => {
  const { run } = makeIntent();
  pushReply(run, PLAN);
  const wrapUp = { kind: "wrap_up", reason: "loop_detected" } as const;
  expect(intentFlow.afterCalls(run, wrapUp, 0)).toEqual(wrapUp);
});
