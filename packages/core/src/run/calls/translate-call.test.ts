import { expect, test } from "vitest";
import { type AnyTool, defineTool, type ToolDefinition } from "../../tools/tool.ts";
import type { ToolCall } from "../model/reply.ts";
import { translateCall } from "./translate-call.ts";

const tool = (name: string, more: Partial<ToolDefinition<unknown>> = {}): AnyTool =>
  defineTool<unknown>({
    name,
    description: "",
    input: {
      type: "object",
      properties: { path: { type: "string" }, limit: { type: "integer" } },
      additionalProperties: false,
    },
    words: { file_path: "path" },
    execute: async () => "",
    ...more,
  });
const read = tool("read", { risk: "low" });

/** A call as it is after it was translated for a run with these tools. */
function translate(tools: Readonly<Record<string, AnyTool>>, name: string, input: unknown): ToolCall {
  const call = { callId: "c1", tool: name, input: typeof input === "string" ? input : JSON.stringify(input) };
  translateCall(new Map(Object.entries(tools)), call);
  return call;
}

test("another system's tool with its words is taken for ours, and the words that were used are kept for faults", () => {
  expect(translate({ read }, "Read", { file_path: "a", limit: "5" })).toEqual({
    ...{ callId: "c1", tool: "read", used: ["file_path", "limit"] },
    input: '{"path":"a","limit":5}',
  });
});

test("of several tools that a name may mean the one is taken that the run has; without any the first is named", () => {
  expect(translate({ write: tool("write") }, "editFiles", {}).tool).toBe("write");
  expect(translate({}, "editFiles", {}).tool).toBe("edit");
  expect(translate({}, "never_heard_of", {}).tool).toBe("never_heard_of");
});

test("a tool that is known by a second name is called by its own", () => {
  expect(translate({ old_read: read }, "old_read", {}).tool).toBe("read");
});

test("unknown words are left out and told where a tool only reads; a writer keeps them, so that it refuses", () => {
  const input = { path: "a", colour: "red", reason: "I want to" };
  expect(translate({ read }, "read", input)).toMatchObject({ input: '{"path":"a"}', ignored: ["colour"] });
  const written = translate({ write: tool("write") }, "write", input);
  expect(written).toMatchObject({ input: '{"path":"a","colour":"red"}' });
  expect(written.ignored).toBeUndefined();
});

test("limits that a tool wants exactly are left as they were written", () => {
  expect(translate({ read: tool("read", { exact: ["limit"] }) }, "read", { limit: "5" }).input).toBe(
    '{"limit":"5"}',
  );
});

test("what is ours already, or cannot be read, stays as it was written", () => {
  expect(translate({ read }, "read", '{ "path": "a" }')).toEqual({
    callId: "c1",
    tool: "read",
    input: '{ "path": "a" }',
  });
  expect(translate({ read }, "read", "{broken").input).toBe("{broken");
});
