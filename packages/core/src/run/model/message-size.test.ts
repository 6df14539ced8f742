import { expect, test } from "vitest";
import { sizeOf } from "./message-size.ts";

test("a message is measured with its words, reasoning, calls with their inputs, and answers, in characters and bytes", () => {
  const call = { type: "tool-call" as const, toolCallId: "c", toolName: "read", input: { a: 1 } };
  const answer = (output: { type: "text"; value: string } | { type: "json"; value: { n: number } }) => ({
    role: "tool" as const,
    content: [{ type: "tool-result" as const, toolCallId: "c", toolName: "read", output }],
  });
  expect(sizeOf({ role: "system", content: "grün" })).toEqual({ chars: 4, bytes: 5 });
  const content = [{ type: "text" as const, text: "ab" }, { type: "reasoning" as const, text: "cde" }, call];
  expect(sizeOf({ role: "assistant", content }).chars).toBe(2 + 3 + "read".length + '{"a":1}'.length);
  expect(sizeOf(answer({ type: "text", value: "€" }))).toEqual({ chars: 1, bytes: 3 });
  expect(sizeOf(answer({ type: "json", value: { n: 1 } })).chars).toBe('{"n":1}'.length);
});
