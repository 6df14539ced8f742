import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { type AnyTool, defineTool } from "../tools/tool.ts";
import { divideOutstanding, intentState, outstanding } from "./intent-state.ts";

const tool = (name: string, more: Partial<Parameters<typeof defineTool<object>>[0]> = {}): AnyTool =>
  defineTool<object>({ name, description: "", input: { type: "object" }, execute: async () => "", ...more });
const tools = new Map(
  [
    tool("look", { risk: "low", replay: "safe" }),
    tool("send"),
    tool("book"),
    tool("delegate", { delegates: "self-recorded" }),
  ].map((one) => [one.name, one]),
);

const says = (text: string, ...calls: string[]): LanguageModelV4Message => ({
  role: "assistant",
  content: [
    { type: "text", text },
    ...calls.map((name, index) => ({
      ...{ type: "tool-call" as const, toolCallId: `${name}${index}`, toolName: name, input: {} },
    })),
  ],
});
const answers = (...results: [tool: string, ok: boolean, text?: string][]): LanguageModelV4Message => ({
  role: "tool",
  content: results.map(([toolName, ok, value = ok ? "done" : "'x' failed: no"], index) => ({
    ...{ type: "tool-result", toolCallId: `${toolName}${index}`, toolName },
    output: { type: ok ? "text" : "error-text", value },
  })),
});
const plans = (...sequence: string[]) =>
  says(JSON.stringify({ tools: [...new Set(sequence)], sequence, missing: [] }));
const stateOf = (...history: LanguageModelV4Message[]) => intentState({ history, tools, begunAt: 0 });

test("a run assesses, executes until all that was planned has succeeded, and then says what came of it", () => {
  const one = [plans("look", "send"), says("", "look"), answers(["look", true])];
  expect([stateOf().phase, stateOf(...one).phase, outstanding(stateOf(...one))]).toEqual([
    "assess",
    "execute",
    ["send"],
  ]);
  const all = [...one, says("", "send"), answers(["send", true])];
  expect(stateOf(...all)).toMatchObject({ phase: "format", iteration: 2 });
  expect(stateOf(...all, says("It is sent."))).toMatchObject({ phase: "done", summary: "It is sent." });
});

test("an assessment may be written twice; with tools that there are not, or that delegate, it is none", () => {
  const bad = stateOf(plans("delegate", "fly"));
  expect([bad.phase, bad.problem]).toEqual(["assess", "there is no tool 'delegate', 'fly' here"]);
  expect(stateOf(says("no json"), plans("look")).phase).toBe("execute");
  expect(stateOf(says("no json"), says("no json"))).toMatchObject({ phase: "done", assessment: null });
  expect(stateOf(says('{"tools":["send"],"missing":["to whom"]}')).phase).toBe("done");
});

test("execution ends after three turns with calls, with a fault that another try cannot help, or when the model stops", () => {
  const failing = [says("", "send"), answers(["send", false])];
  expect(stateOf(plans("send"), ...failing, ...failing).phase).toBe("execute");
  expect(stateOf(plans("send"), ...failing, ...failing, ...failing).phase).toBe("format");
  const denied = [says("", "send"), answers(["send", false, "permission denied: no"])];
  expect(stateOf(plans("send"), ...denied).phase).toBe("format");
  expect(stateOf(plans("send"), says("I cannot."))).toMatchObject({ phase: "format", said: "I cannot." });
});

test("of a tool that is planned several times each call needs its own success", () => {
  const state = stateOf(plans("send", "send", "look"), says("", "send"), answers(["send", true]));
  expect(divideOutstanding(state)).toEqual({ writes: ["send"], reads: ["look"] });
});

test("a write that failed besides is outstanding until a later turn has made it again, one success for one failure", () => {
  const first = [plans("send"), says("", "send", "send", "send")];
  const once = stateOf(...first, answers(["send", true], ["send", false], ["send", false]));
  expect(outstanding(once)).toEqual(["send", "send"]);
  const again = [says("", "send"), answers(["send", true])];
  const later = stateOf(...first, answers(["send", true], ["send", false], ["send", false]), ...again);
  expect(outstanding(later)).toEqual(["send"]);
});

test("refused calls of other phases and an earlier conversation tell nothing of this run", () => {
  const refused = stateOf(says("{}", "send"), answers(["send", false]), plans("look"));
  expect(refused.calls).toEqual([]);
  const history = [plans("send"), says("", "send"), answers(["send", true]), plans("look")];
  expect(intentState({ history, tools, begunAt: 3 })).toMatchObject({ phase: "execute", calls: [] });
});
