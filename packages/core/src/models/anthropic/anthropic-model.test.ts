import { afterEach, beforeEach, expect, test } from "vitest";
import {
  callModel,
  callsOf,
  gather,
  HELLO,
  ofType,
  textOf,
} from "../../../../../test/fixtures/model-calls.ts";
import type { TestServer } from "../../../../../test/fixtures/model-server.ts";
import { events, startServer } from "../../../../../test/fixtures/model-server.ts";
import { createTransport } from "../../net/transport.ts";
import type { Transport } from "../../schema/transport.ts";
import type { StreamingModel } from "../wire/wire-model.ts";
import { createAnthropicModel } from "./anthropic-model.ts";

let transport: Transport;
let server: TestServer;
let model: StreamingModel;
let body: string[];
let contentType: string;

beforeEach(async () => {
  transport = createTransport();
  contentType = "text/event-stream";
  server = await startServer((_, response) => {
    response.writeHead(200, { "content-type": contentType });
    for (const text of body) response.write(text);
    response.end();
  });
  const key = { apiKey: "sk-ant-0123456789", apiKeyEnv: "ANTHROPIC_API_KEY" };
  model = createAnthropicModel({
    provider: "anthropic",
    modelId: "claude-x",
    baseUrl: server.url,
    transport,
    ...key,
  });
});
afterEach(async () => {
  transport.close();
  await server.close();
});

const start = {
  type: "message_start",
  message: {
    id: "msg_1",
    model: "claude-x-1",
    usage: { input_tokens: 5, cache_read_input_tokens: 20, cache_creation_input_tokens: 3, output_tokens: 1 },
  },
};
const block = (index: number, content_block: unknown) => ({
  type: "content_block_start",
  index,
  content_block,
});
const delta = (index: number, value: unknown) => ({ type: "content_block_delta", index, delta: value });
const stop = (index: number) => ({ type: "content_block_stop", index });
const end = (stop_reason: string) => [
  { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];

test("text, metadata, usage and stop reason come out as parts", async () => {
  body = events(
    start,
    block(0, { type: "text", text: "" }),
    { type: "ping" },
    delta(0, { type: "text_delta", text: "Hé" }),
    delta(0, { type: "text_delta", text: "llo" }),
    stop(0),
    ...end("end_turn"),
  );
  const { parts, error } = await callModel(model);
  expect(error).toBeUndefined();
  expect(parts).toEqual([
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "msg_1", modelId: "claude-x-1" },
    { type: "text-start", id: "0" },
    { type: "ping" },
    { type: "text-delta", id: "0", delta: "Hé" },
    { type: "text-delta", id: "0", delta: "llo" },
    { type: "text-end", id: "0" },
    {
      type: "finish",
      finishReason: { unified: "stop", raw: "end_turn" },
      usage: {
        inputTokens: { total: 28, noCache: 5, cacheRead: 20, cacheWrite: 3 },
        outputTokens: { total: 9, text: 9, reasoning: undefined },
      },
    },
  ]);
  const { stream } = await model.doStream({ prompt: HELLO });
  expect(await gather(stream)).toEqual(parts);
});

test("thinking keeps its signature, and redacted thinking its data, so that both can be sent back", async () => {
  body = events(
    start,
    block(0, { type: "thinking", thinking: "" }),
    delta(0, { type: "thinking_delta", thinking: "let me see" }),
    delta(0, { type: "signature_delta", signature: "c2ln" }),
    stop(0),
    block(1, { type: "redacted_thinking", data: "opaque" }),
    stop(1),
    block(2, { type: "text", text: "" }),
    delta(2, { type: "text_delta", text: "done" }),
    stop(2),
    ...end("end_turn"),
  );
  const { content } = await model.doGenerate({ prompt: HELLO });
  expect(content).toEqual([
    { type: "reasoning", text: "let me see", providerMetadata: { anthropic: { signature: "c2ln" } } },
    { type: "reasoning", text: "", providerMetadata: { anthropic: { redactedData: "opaque" } } },
    { type: "text", text: "done" },
  ]);
});

test("parallel tool calls are emitted when the message stops", async () => {
  body = events(
    start,
    block(0, { type: "tool_use", id: "toolu_1", name: "f", input: {} }),
    delta(0, { type: "input_json_delta", partial_json: '{"x"' }),
    delta(0, { type: "input_json_delta", partial_json: ":1}" }),
    stop(0),
    block(1, { type: "tool_use", id: "toolu_1", name: "g", input: {} }),
    stop(1),
    ...end("tool_use"),
  );
  const { parts } = await callModel(model);
  expect(callsOf(parts)).toEqual([
    ["f", '{"x":1}'],
    ["g", "{}"],
  ]);
  expect(new Set(ofType(parts, "tool-call").map((part) => part.toolCallId)).size).toBe(2);
  expect(parts.findIndex((part) => part.type === "tool-call")).toBe(parts.length - 3);
});

test("events, blocks and deltas of unknown kinds pass unread", async () => {
  body = [
    ...events(
      { type: "future_event" },
      start,
      block(0, { type: "server_tool_use", id: "s", name: "web" }),
      delta(0, { type: "input_json_delta", partial_json: "{" }),
    ),
    'event: odd\ndata: {"no":"type"}\n\n',
    ...events(
      stop(0),
      block(1, { type: "text", text: "" }),
      delta(1, { type: "citations_delta" }),
      delta(1, { type: "text_delta", text: "ok" }),
      stop(1),
      ...end("end_turn"),
    ),
  ];
  const { parts, error } = await callModel(model);
  expect(error).toBeUndefined();
  expect([textOf(parts), callsOf(parts)]).toEqual(["ok", []]);
});

test.each([
  ["end_turn", "stop"],
  ["max_tokens", "length"],
  ["refusal", "content-filter"],
  ["constructor", "other"],
  ["pause_turn", "other"],
])("stop reason %s is %s", async (raw, unified) => {
  body = events(start, ...end(raw));
  const { parts } = await callModel(model);
  expect(ofType(parts, "finish")[0]?.finishReason).toEqual({ unified, raw });
});

test("an error inside the stream fails the call by its type", async () => {
  body = events(start, block(0, { type: "text", text: "" }), {
    type: "error",
    error: { type: "overloaded_error", message: "Overloaded" },
  });
  const { parts, error } = await callModel(model);
  expect(error).toMatchObject({
    type: "overloaded",
    recoverable: true,
    message: expect.stringContaining("Overloaded"),
  });
  expect(ofType(parts, "finish")).toEqual([]);
});

test("a server that does not stream is understood", async () => {
  contentType = "application/json";
  const content = [
    { type: "text", text: "hi" },
    { type: "tool_use", id: "t", name: "f", input: { x: 1 } },
  ];
  body = [
    JSON.stringify({
      id: "m",
      model: "claude-x",
      content,
      stop_reason: "tool_use",
      usage: { input_tokens: 1, output_tokens: 2 },
    }),
  ];
  const { parts } = await callModel(model);
  expect([textOf(parts), callsOf(parts)]).toEqual(["hi", [["f", '{"x":1}']]]);
  expect(ofType(parts, "finish")[0]?.usage.outputTokens.total).toBe(2);
});

test("the key and the API version are sent, whether or not the address ends in /v1", async () => {
  body = events(start, ...end("end_turn"));
  for (const baseUrl of [server.url, `${server.url}/v1/`]) {
    await callModel(
      createAnthropicModel({ provider: "anthropic", modelId: "m", baseUrl, transport, apiKey: "k-12345678" }),
    );
  }
  for (const request of server.seen) {
    expect(request).toMatchObject({
      path: "/v1/messages",
      headers: { "x-api-key": "k-12345678", "anthropic-version": "2023-06-01" },
    });
  }
});
