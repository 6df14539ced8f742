import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { createRedactor } from "../../redact/create-redactor.ts";
import { distinctCalls, hideSecrets, type Reply, ReplyReader, type ToolCall } from "./reply.ts";

const SECRET = 'swordfish"4711\\tango';
const redactor = createRedactor({ secrets: [SECRET] });
const reply = (more: Partial<Reply>): Reply => ({
  ...{ text: "", reasoning: [], calls: [], finish: "stop", usage: undefined, modelId: undefined },
  ...more,
});
const call = (callId: string, input = "{}"): ToolCall => ({ callId, tool: "read", input });

function read(...parts: LanguageModelV4StreamPart[]): ReplyReader {
  const reader = new ReplyReader();
  for (const part of parts) reader.take(part);
  return reader;
}

test("a reply is put together from its parts, and finished only by its finish", () => {
  const metadata = { test: { signature: "s" } };
  const parts: LanguageModelV4StreamPart[] = [
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "hm" },
    { type: "reasoning-end", id: "r", providerMetadata: metadata },
    { type: "text-delta", id: "t", delta: "one " },
    { type: "text-delta", id: "t", delta: "two" },
    { type: "tool-call", toolCallId: "c1", toolName: "read", input: "{}" },
    { type: "tool-call", toolCallId: "c2", toolName: "web", input: "{}", providerExecuted: true },
  ];
  const reader = read(...parts);
  expect(reader.finished).toBe(false);
  expect(reader.reply).toMatchObject({
    ...{ text: "one two", reasoning: [{ text: "hm", metadata }], calls: [{ callId: "c1", tool: "read" }] },
    finish: "other",
  });
});

test("every character that came is counted once, also of inputs that came in pieces before their call", () => {
  const input = (delta: string): LanguageModelV4StreamPart => ({ type: "tool-input-delta", id: "c", delta });
  const whole = (text: string): LanguageModelV4StreamPart => ({
    ...{ type: "tool-call", toolCallId: "c", toolName: "read", input: text },
  });
  expect(read(input("{}"), whole("{}")).chars).toBe(2);
  expect(read(input("{}"), whole("{}"), whole("{12}")).chars).toBe(6);
  expect(read({ type: "text-delta", id: "t", delta: "abc" }, whole("{}")).chars).toBe(5);
});

test("every call has an id of its own in its run: what the model sent, if it is short and new", () => {
  const run = { turn: 3, callIds: new Set(["taken", "call_3_1"]) };
  const ids = distinctCalls(
    run,
    ["new", "taken", "new", "", "x".repeat(129)].map((id) => call(id)),
  ).map(({ callId }) => callId);
  expect(ids).toEqual(["new", "call_3_1_2", "call_3_2", "call_3_3", "call_3_4"]);
  expect(distinctCalls(run, [call("new")])[0]?.callId).toBe("call_3_0");
});

test("secrets are hidden in all that is kept; a tool still gets what the model wrote", () => {
  const written = reply({
    text: `It is ${SECRET}.`,
    reasoning: [{ text: `so ${SECRET}` }, { text: "so" }],
    calls: [call("c1", JSON.stringify({ key: SECRET })), call("c2"), call(SECRET)],
    modelId: SECRET,
  });
  hideSecrets(written, redactor);
  expect(written).toMatchObject({
    text: "It is [redacted:secret].",
    reasoning: [{ text: "so" }],
    calls: [
      { callId: "c1", input: '{"key":"[redacted:secret]"}', rawInput: JSON.stringify({ key: SECRET }) },
      { callId: "c2", input: "{}" },
      { callId: "" },
    ],
    modelId: "[redacted:secret]",
  });
  expect(written.calls[1]?.rawInput).toBeUndefined();
});

test("a secret that is written with the escapes of JSON is hidden as well", () => {
  const plain = "swordfish-4711-tango";
  const input = `{"key":"\\u0073${plain.slice(1)}"}`;
  const written = reply({ calls: [call("c1", input)] });
  hideSecrets(written, createRedactor({ secrets: [plain] }));
  expect(written.calls[0]).toMatchObject({ input: '{"key":"[redacted:secret]"}', rawInput: input });
});

test("of a reply that was cut the beginning of a secret at its end is left out", () => {
  const cut = (finish: Reply["finish"]) => {
    const written = reply({ text: `It is ${SECRET.slice(0, 12)}`, finish });
    hideSecrets(written, redactor);
    return written.text;
  };
  expect([cut("length"), cut("stop")]).toEqual(["It is ", `It is ${SECRET.slice(0, 12)}`]);
});
