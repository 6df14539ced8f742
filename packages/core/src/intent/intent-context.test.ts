import { expect, test } from "vitest";
import { contextForRecord, contextText, readCallData, resultOf } from "./intent-context.ts";
import type { IntentContext } from "./intent-shapes.ts";
import { type IntentCall, intentState } from "./intent-state.ts";

const fault = { type: "tool_error", message: "no", tool: "send", recoverable: false, final: false } as const;
const call = (tool: string, text: string, more: Partial<IntentCall> = {}): IntentCall => ({
  ...{ tool, text, fault: null, turn: 1 },
  ...more,
});
const given = (...calls: IntentCall[]) =>
  resultOf({ ...intentState({ history: [], tools: new Map(), begunAt: 0 }), calls });
const context: IntentContext = {
  ...{ request: "mail ada", tools: ["send"], params: { to: "ada" }, status: "complete", notes: "none" },
  result: { id: "m1" },
};

test("fields of what calls gave stand side by side; several answers of one tool are a list, failed ones nothing", () => {
  expect(given(call("look", '{"id":"a","n":1}'), call("send", '{"id":"b"}'))).toEqual({ id: "b", n: 1 });
  expect(given(call("look", '{"id":"a"}'), call("look", "plain"))).toEqual({ look: [{ id: "a" }, "plain"] });
  expect(given(call("look", "plain"))).toEqual({ look: "plain" });
  expect(given(call("send", '{"id":"x"}', { fault }))).toEqual({});
  expect(readCallData("{broken")).toBe("{broken");
});

test("a model reads the six fields as lines", () => {
  expect(contextText(context).split("\n")).toEqual([
    ...["REQUEST: mail ada", "TOOLS: [send]", 'PARAMS: {"to":"ada"}', "STATUS: complete"],
    ...['RESULT: {"id":"m1"}', "Notes: none"],
  ]);
});

test("a row keeps short results, and of long ones their length", () => {
  const { result } = contextForRecord({ ...context, result: { id: "m1", body: "x".repeat(3_000) } });
  expect(result).toEqual({ id: "m1", body: "(3002 characters; the call's own row has them)" });
});
