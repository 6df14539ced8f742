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
import type { BodyReader, Transport, TransportReply } from "../../schema/transport.ts";
import type { StreamingModel } from "../wire/wire-model.ts";
import { createOpenAiChatModel } from "./openai-chat-model.ts";

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
  const key = { apiKey: "sk-test-0123456789", apiKeyEnv: "TEST_KEY" };
  model = createOpenAiChatModel({
    provider: "local",
    modelId: "m",
    baseUrl: `${server.url}/v1/`,
    transport,
    ...key,
  });
});
afterEach(async () => {
  transport.close();
  await server.close();
});

const delta = (value: unknown, finish: string | null = null) => ({
  id: "c1",
  model: "m-1",
  choices: [{ index: 0, delta: value, finish_reason: finish }],
});
const piece = (value: unknown) => delta({ tool_calls: [value] });
const end = (reason: string) => delta({}, reason);

test("text, metadata, usage and finish reason come out as parts", async () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  };
  body = events(
    delta({ role: "assistant", content: "" }),
    delta({ content: "Grüß" }),
    delta({ content: " Gott 🤝" }),
    end("stop"),
    { choices: [], usage },
    "[DONE]",
  );
  const { parts, error } = await callModel(model);
  expect(error).toBeUndefined();
  expect(parts).toEqual([
    { type: "stream-start", warnings: [] },
    { type: "response-metadata", id: "c1", modelId: "m-1" },
    { type: "text-start", id: "0" },
    { type: "text-delta", id: "0", delta: "Grüß" },
    { type: "text-delta", id: "0", delta: " Gott 🤝" },
    { type: "text-end", id: "0" },
    {
      type: "finish",
      finishReason: { unified: "stop", raw: "stop" },
      usage: {
        inputTokens: { total: 10, noCache: 6, cacheRead: 4, cacheWrite: undefined },
        outputTokens: { total: 7, text: 5, reasoning: 2 },
      },
    },
  ]);
});

test("the web stream carries the same parts as the callback", async () => {
  body = events(delta({ content: "one" }), delta({ content: "two" }), end("stop"), "[DONE]");
  const { parts } = await callModel(model);
  const { stream } = await model.doStream({ prompt: HELLO });
  expect(await gather(stream)).toEqual(parts);
});

test("a web stream delivers more parts than it buffers, and can be cancelled", async () => {
  const words = Array.from({ length: 2_000 }, (_, at) => delta({ content: `word ${at} ` }));
  body = events(...words, end("stop"), "[DONE]");
  const { stream } = await model.doStream({ prompt: HELLO });
  expect(textOf(await gather(stream))).toMatch(/^word 0 .*word 1999 $/);
  const second = await model.doStream({ prompt: HELLO });
  const reader = second.stream.getReader();
  await reader.read();
  await reader.cancel();
});

test("a web stream that nobody reads holds the sender back until it is read", async () => {
  const calls: string[] = [];
  let reader: BodyReader | undefined;
  const reply: TransportReply = {
    status: 200,
    headers: {},
    read: (given) => {
      reader = given;
    },
    text: async () => "",
    pause: () => calls.push("pause"),
    resume: () => calls.push("resume"),
    release: () => calls.push("release"),
    destroy: () => calls.push("destroy"),
  };
  const fake: Transport = { post: async () => reply, get: async () => reply, close: () => {} };
  const slow = createOpenAiChatModel({
    provider: "p",
    modelId: "m",
    baseUrl: "http://h/v1",
    transport: fake,
  });
  const { stream } = await slow.doStream({ prompt: HELLO });
  for (let at = 0; at < 300; at++) reader?.chunk(Buffer.from(events(delta({ content: "x" })).join("")));
  expect(calls).toEqual(["pause"]);
  const parts = stream.getReader();
  for (let at = 0; at < 300; at++) await parts.read();
  expect(calls).toEqual(["pause", "resume"]);
  await parts.cancel();
  expect(calls).toEqual(["pause", "resume", "destroy"]);
});

test("doGenerate gathers the whole reply", async () => {
  const call = { index: 0, id: "a", function: { name: "note", arguments: '{"x":1}' } };
  body = events(
    delta({ reasoning_content: "hm" }),
    delta({ content: "Ok" }),
    delta({ content: "." }),
    piece(call),
    end("tool_calls"),
    "[DONE]",
  );
  const result = await model.doGenerate({ prompt: HELLO });
  expect(result.content).toEqual([
    { type: "reasoning", text: "hm", providerMetadata: { local: { field: "reasoning_content" } } },
    { type: "text", text: "Ok." },
    { type: "tool-call", toolCallId: "a", toolName: "note", input: '{"x":1}' },
  ]);
  expect(result.finishReason.unified).toBe("tool-calls");
});

test("reasoning and text are separate blocks, in either field", async () => {
  for (const field of ["reasoning_content", "reasoning"]) {
    body = events(
      delta({ [field]: "think" }),
      delta({ [field]: " more" }),
      delta({ content: "say" }),
      end("stop"),
      "[DONE]",
    );
    const { parts } = await callModel(model);
    expect(ofType(parts, "reasoning-delta").map((part) => part.delta)).toEqual(["think", " more"]);
    expect(ofType(parts, "reasoning-end")).toMatchObject([{ providerMetadata: { local: { field } } }]);
    expect(textOf(parts)).toBe("say");
  }
});

const calls: [string, unknown[], [string, string][]][] = [
  [
    "parallel calls interleaved by index",
    [
      piece({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
      piece({ index: 1, id: "b", function: { name: "g", arguments: '{"y"' } }),
      piece({ index: 0, function: { arguments: '{"x":1}' } }),
      piece({ index: 1, function: { arguments: ":2}" } }),
    ],
    [
      ["f", '{"x":1}'],
      ["g", '{"y":2}'],
    ],
  ],
  [
    "whole calls in one chunk without index or ids",
    [
      delta({
        tool_calls: [
          { function: { name: "f", arguments: "{}" } },
          { function: { name: "f", arguments: '{"x":2}' } },
        ],
      }),
    ],
    [
      ["f", "{}"],
      ["f", '{"x":2}'],
    ],
  ],
  [
    "one index for different calls",
    [
      piece({ index: 0, id: "a", function: { name: "f", arguments: '{"x":1}' } }),
      piece({ index: 0, id: "b", function: { name: "f", arguments: '{"x":2}' } }),
      piece({ index: 0, id: "", function: { name: "g", arguments: "{}" } }),
    ],
    [
      ["f", '{"x":1}'],
      ["f", '{"x":2}'],
      ["g", "{}"],
    ],
  ],
  [
    "id and name repeated in every piece",
    [
      piece({ index: 0, id: "a", function: { name: "f", arguments: '{"x"' } }),
      piece({ index: 0, id: "a", function: { name: "f", arguments: ":1}" } }),
      piece({ index: 0, id: "a", function: { name: "f", arguments: "" } }),
    ],
    [["f", '{"x":1}']],
  ],
  [
    "a fresh id in every piece",
    [
      piece({ index: 0, id: "a", function: { name: "f", arguments: '{"x"' } }),
      piece({ index: 0, id: "b", function: { arguments: ":1}" } }),
    ],
    [["f", '{"x":1}']],
  ],
  [
    "arguments as an object",
    [piece({ index: 0, id: "a", function: { name: "f", arguments: { x: 1 } } })],
    [["f", '{"x":1}']],
  ],
  ["no arguments at all", [piece({ index: 0, id: "a", function: { name: "f" } })], [["f", "{}"]]],
  [
    "malformed arguments",
    [piece({ index: 0, id: "a", function: { name: "f", arguments: '{"x":' } })],
    [["f", '{"x":']],
  ],
  ["a call without a name", [piece({ index: 0, id: "a", function: { arguments: "{}" } })], [["", "{}"]]],
  [
    "a huge index",
    [piece({ index: 2 ** 40, id: "a", function: { name: "f", arguments: "{}" } })],
    [["f", "{}"]],
  ],
];

test.each(calls)("tool calls: %s", async (_, chunks, expected) => {
  body = events(...chunks, end("tool_calls"), "[DONE]");
  const { parts, error } = await callModel(model);
  expect(error).toBeUndefined();
  expect(callsOf(parts)).toEqual(expected);
  const ids = ofType(parts, "tool-call").map((part) => part.toolCallId);
  expect(new Set(ids).size).toBe(expected.length);
  expect(ids.every((id) => id !== "")).toBe(true);
});

test("an id that an earlier turn used is replaced", async () => {
  body = events(
    piece({ index: 0, id: "call_0", function: { name: "f", arguments: "{}" } }),
    end("tool_calls"),
    "[DONE]",
  );
  const { parts } = await callModel(model, {
    prompt: [
      ...HELLO,
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "call_0", toolName: "f", input: {} }] },
    ],
  });
  expect(ofType(parts, "tool-call")[0]?.toolCallId).toMatch(/^call_[0-9a-f]{32}$/);
});

test("a call cut off by the token limit before its input never looks like a call without input", async () => {
  body = events(
    piece({ index: 0, id: "a", function: { name: "delete_all", arguments: "" } }),
    end("length"),
    "[DONE]",
  );
  const { parts } = await callModel(model);
  expect(callsOf(parts)).toEqual([["delete_all", ""]]);
  expect(ofType(parts, "finish")[0]?.finishReason.unified).toBe("length");
});

test.each([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "content-filter"],
  ["model_length", "length"],
  ["error", "error"],
  ["insufficient_system_resource", "error"],
  ["something_new", "other"],
])("finish reason %s is %s", async (raw, unified) => {
  body = events(delta({ content: "x" }), end(raw), "[DONE]");
  const { parts } = await callModel(model);
  expect(ofType(parts, "finish")[0]?.finishReason).toEqual({ unified, raw });
});

test("a server that sends no usage leaves it unknown, and senseless counts do not count", async () => {
  for (const usage of [
    undefined,
    null,
    { prompt_tokens: -1, completion_tokens: "7" },
    { prompt_tokens: 1.5 },
  ]) {
    body = events({ ...delta({ content: "x" }, "stop"), usage }, "[DONE]");
    const { parts } = await callModel(model);
    const finish = ofType(parts, "finish")[0];
    expect([finish?.usage.inputTokens.total, finish?.usage.outputTokens.total]).toEqual([
      undefined,
      undefined,
    ]);
  }
});

test("a server that ends the body after the finish reason, without [DONE], is understood", async () => {
  body = events(delta({ content: "x" }), end("stop"));
  expect((await callModel(model)).error).toBeUndefined();
});

test("a server that does not stream is understood", async () => {
  contentType = "application/json; charset=utf-8";
  const message = { content: "hi", tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }] };
  body = [
    JSON.stringify({
      id: "c",
      model: "m",
      choices: [{ message, finish_reason: "tool_calls" }],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    }),
  ];
  const { parts } = await callModel(model);
  expect([textOf(parts), callsOf(parts)]).toEqual(["hi", [["f", "{}"]]]);
});

test("comments are signs of life and unknown fields and events pass", async () => {
  body = [
    ": PROCESSING\n\n",
    "event: custom\n",
    ...events({ object: "custom", foo: 1 }, delta({ content: "x", annotations: [] }), end("stop"), "[DONE]"),
    "data: after the end\n\n",
  ];
  const { parts, error } = await callModel(model);
  expect(error).toBeUndefined();
  expect(parts.map((part) => part.type)).toContain("ping");
  expect(textOf(parts)).toBe("x");
});

test("the key is sent as a bearer token and the request asks for usage", async () => {
  body = events(end("stop"), "[DONE]");
  await callModel(model);
  expect(server.seen[0]).toMatchObject({
    path: "/v1/chat/completions",
    headers: { authorization: "Bearer sk-test-0123456789" },
  });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toMatchObject({
    model: "m",
    stream: true,
    stream_options: { include_usage: true },
  });
});
