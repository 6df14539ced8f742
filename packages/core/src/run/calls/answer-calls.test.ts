import { expect, test } from "vitest";
import { makeRun } from "../../../../../test/fixtures/hand-made-run.ts";
import { type AnyTool, defineTool, type ToolDefinition } from "../../tools/tool.ts";
import { guards } from "../guards.ts";
import type { CallResult, ToolCall } from "../model/reply.ts";
import { answerCalls } from "./answer-calls.ts";

const tool = (name: string, more: Partial<ToolDefinition<object>> = {}): AnyTool =>
  defineTool<object>({ name, description: "", input: { type: "object" }, execute: async () => "", ...more });
const TOOLS = [
  tool("read", { risk: "low", replay: "safe" }),
  tool("write"),
  tool("commit", { outbound: true }),
  tool("delegate", { delegates: "self-recorded" }),
];
const call = (name: string, index: number): ToolCall => ({ callId: `c${index}`, tool: name, input: "{}" });
const result = ({ callId, tool }: ToolCall, outcome: CallResult["outcome"] = "ok"): CallResult => ({
  ...{ callId, tool, outcome, text: outcome },
});

/** Which calls were under way at once, group by group. */
async function playGroups(names: readonly string[]): Promise<string[]> {
  const { run } = makeRun({ tools: TOOLS });
  const groups: string[][] = [];
  let open: string[] | null = null;
  const calls = names.map(call);
  const results = await answerCalls(run, calls, async (one) => {
    if (!open) {
      open = [];
      groups.push(open);
    }
    open.push(one.tool);
    await new Promise((resolve) => setImmediate(resolve));
    open = null;
    return result(one);
  });
  expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ callId }) => callId));
  return groups.map((group) => group.join("+"));
}

test("calls that only read run together, delegations run together, any other alone and in order", async () => {
  expect(
    await playGroups(["read", "unknown", "write", "write", "read", "delegate", "delegate", "read"]),
  ).toEqual([...["read+unknown", "write", "write", "read", "delegate+delegate", "read"]]);
});

test("every call behind a change that failed knows of the first that did", async () => {
  const { run } = makeRun({ tools: TOOLS });
  const calls = ["read", "write", "write", "read", "commit"].map(call);
  await answerCalls(run, calls, async (one) =>
    result(one, one.callId === "c4" ? "ok" : one.callId === "c2" ? "denied" : "error"),
  );
  const behind = calls.map((one) => one.behind);
  expect(behind).toEqual([undefined, undefined, ...Array(3).fill("'write' failed (error)")]);
});

test("after a stop no further call is made, and each is still answered", async () => {
  const { run, rows } = makeRun({ tools: TOOLS });
  const made: string[] = [];
  const results = await answerCalls(run, ["write", "read", "write"].map(call), async (one) => {
    made.push(one.callId);
    run.interrupt({ status: "cancelled", bailout: "cancelled", message: "stopped" });
    return result(one);
  });
  expect(made).toEqual(["c0"]);
  expect(results.map(({ outcome }) => outcome)).toEqual(["ok", "error", "error"]);
  expect(rows.map(({ closing }) => closing?.metadata)).toMatchObject(Array(2).fill({ uncounted: true }));
});

test("of too many calls in a turn the first are made, and the others are told so without counting", async () => {
  const { run, rows } = makeRun({ tools: TOOLS, host: { guards: { ...guards, maxCallsPerTurn: 2 } } });
  const results = await answerCalls(run, ["read", "read", "read"].map(call), async (one) => result(one));
  expect(results.map(({ outcome }) => outcome)).toEqual(["ok", "ok", "error"]);
  expect(rows).toMatchObject([{ callId: "c2", closing: { metadata: { uncounted: true } } }]);
});
