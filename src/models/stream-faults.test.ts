import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callModel, HELLO, ofType } from "../../test/fixtures/model-calls.ts";
import { chunkedReply, events, startRawServer, startServer } from "../../test/fixtures/model-server.ts";
import { createTransport } from "../net/transport.ts";
import type { Transport } from "../schema/transport.ts";
import { createAnthropicModel } from "./anthropic.ts";
import { ModelError } from "./model-error.ts";
import { createOpenAiChatModel } from "./openai-chat.ts";
import type { StreamingModel, WireSettings } from "./wire/wire-model.ts";

let transport: Transport;
beforeAll(() => {
  transport = createTransport();
});
afterAll(() => transport.close());

const openAiCall = (rest: object) => ({ choices: [{ delta: { tool_calls: [{ index: 0, ...rest }] } }] });
const wireFormats = [
  {
    name: "openai",
    create: createOpenAiChatModel,
    stream: events(
      { id: "c", choices: [{ delta: { content: "ä🤝" } }] },
      openAiCall({ id: "a", function: { name: "pay", arguments: '{"amount":1' } }),
      openAiCall({ function: { arguments: "00}" } }),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      "[DONE]",
    ),
  },
  {
    name: "anthropic",
    create: createAnthropicModel,
    stream: events(
      { type: "message_start", message: { usage: { input_tokens: 1, output_tokens: 1 } } },
      {
        type: "content_block_start",
        index: 0,
        content_block: { type: "tool_use", id: "t", name: "pay", input: {} },
      },
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "input_json_delta", partial_json: '{"amount":1' },
      },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "00}" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ),
  },
];

function modelAt(
  url: string,
  format: { create: (settings: WireSettings) => StreamingModel },
  limits = {},
): StreamingModel {
  return format.create({ provider: "test", modelId: "m", baseUrl: url, transport, limits });
}

/** Tool calls are there only together with `finish`, and then they are whole; everything else is a typed failure. */
function expectWholeOrFailed({ parts, error }: Awaited<ReturnType<typeof callModel>>): "whole" | "failed" {
  const inputs = ofType(parts, "tool-call").map((part) => part.input);
  if (error === undefined) {
    expect(inputs).toEqual(['{"amount":100}']);
    expect(ofType(parts, "finish")).toHaveLength(1);
    return "whole";
  }
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({ recoverable: true });
  expect(["network", "bad_response"]).toContain(error instanceof ModelError && error.type);
  expect(inputs).toEqual([]);
  expect(ofType(parts, "finish")).toEqual([]);
  return "failed";
}

describe.each(wireFormats)("$name", (format) => {
  test.each(["reset", "end"])(
    "a stream cut at any byte by a connection %s never yields a partial call",
    async (how) => {
      const bytes = chunkedReply(format.stream);
      let cut = 0;
      const server = await startRawServer((socket) => {
        if (how === "end" || cut === 0) return socket.end(bytes.subarray(0, cut));
        socket.write(bytes.subarray(0, cut), () => socket.resetAndDestroy());
      });
      const model = modelAt(server.url, format);
      const outcomes: string[] = [];
      for (cut = 0; cut <= bytes.length; cut++) outcomes.push(expectWholeOrFailed(await callModel(model)));
      await server.close();
      expect(outcomes[0]).toBe("failed");
      expect(outcomes.includes("whole")).toBe(true);
      if (how === "end") expect(outcomes.join().replace(/(failed,?)+(whole,?)+/, "")).toBe("");
    },
  );

  test("a body without framing that ends anywhere is whole only after its terminal event", async () => {
    const text = Buffer.from(format.stream.join(""));
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let cut = 0;
    const server = await startRawServer((socket) => {
      socket.end(Buffer.concat([Buffer.from(head), text.subarray(0, cut)]));
    });
    const model = modelAt(server.url, format);
    const outcomes: string[] = [];
    for (cut = 0; cut <= text.length; cut++) outcomes.push(expectWholeOrFailed(await callModel(model)));
    await server.close();
    expect(outcomes.join().replace(/(failed,?)+(whole,?)+/, "")).toBe("");
  });

  test("a stream that drips byte by byte is read like any other", async () => {
    const text = Buffer.from(format.stream.join(""));
    const server = await startServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      let at = 0;
      const next = (): void => {
        if (at === text.length) response.end();
        else response.write(text.subarray(at, ++at), () => setImmediate(next));
      };
      next();
    });
    expect(expectWholeOrFailed(await callModel(modelAt(server.url, format)))).toBe("whole");
    await server.close();
  });

  const broken: [string, string][] = [
    ["nothing at all", ""],
    ["only blank lines", "\n\n\n"],
    ["only a comment", ": hi\n\n"],
    ["malformed JSON", 'data: {"id": \n\n'],
    ["JSON that is no object", "data: [1,2]\n\ndata: null\n\n"],
    ["an HTML page", "<html><body>Log in</body></html>"],
    ["the end mark alone", "data: [DONE]\n\n"],
    ["the stop event alone", 'data: {"type":"message_stop"}\n\n'],
    ["deep nesting", `data: ${"[".repeat(100_000)}\n\n`],
    ["deep nesting of objects", `data: ${'{"choices":'.repeat(50_000)}1${"}".repeat(50_000)}\n\n`],
    [
      "prototype keys",
      'data: {"__proto__":{"finish_reason":"stop"},"constructor":{"prototype":{"polluted":1}}}\n\n',
    ],
  ];
  test.each(broken)("%s is a typed failure, never an empty success", async (_, text) => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(text);
    });
    const outcome = await callModel(modelAt(server.url, format));
    await server.close();
    expect(expectWholeOrFailed(outcome)).toBe("failed");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  test.each([
    ["of one endless line", "x".repeat(1_000), "a line of the stream exceeds"],
    ["of endless comments", `: ${"x".repeat(1_000)}\n`, "the reply exceeds"],
  ])("an endless stream %s is cut off", async (_, text, message) => {
    const closed = Promise.withResolvers<void>();
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.once("close", () => closed.resolve());
      const more = (): void => {
        while (!response.destroyed && response.write(text));
      };
      response.on("drain", more);
      more();
    });
    const limits = { maxLineBytes: 50_000, maxReplyBytes: 200_000 };
    const { error } = await callModel(modelAt(server.url, format, limits));
    expect(error).toMatchObject({ type: "bad_response", message: expect.stringContaining(message) });
    await closed.promise;
    await server.close();
  });

  test("a cancelled call fails as cancelled and a timed out one as timeout, and both drop the connection", async () => {
    for (const type of ["cancelled", "timeout"]) {
      const closed = Promise.withResolvers<void>();
      const controller = new AbortController();
      const server = await startServer((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(format.stream[0] ?? "");
        response.once("close", () => closed.resolve());
      });
      const call = modelAt(server.url, format).stream(
        { prompt: HELLO, abortSignal: controller.signal },
        (part) => {
          if (part.type !== "response-metadata") return;
          controller.abort(type === "timeout" ? new DOMException("late", "TimeoutError") : undefined);
        },
      );
      await expect(call).rejects.toMatchObject({ type, recoverable: type === "timeout" });
      await closed.promise;
      await server.close();
    }
  });

  test("a failure in the middle of a web stream is an error part, after which it closes", async () => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(format.stream[0] ?? "", () => setImmediate(() => response.destroy()));
    });
    const { stream } = await modelAt(server.url, format).doStream({ prompt: HELLO });
    const types: string[] = [];
    for await (const part of stream) types.push(part.type);
    expect(types.at(-1)).toBe("error");
    expect(types).not.toContain("finish");
    await server.close();
  });
});
