import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callModel, HELLO, ofType } from "../../../../test/fixtures/model-calls.ts";
import { chunkedReply, startRawServer, startServer } from "../../../../test/fixtures/model-server.ts";
import { WIRE_FORMATS } from "../../../../test/fixtures/wire-formats.ts";
import { createTransport } from "../net/transport.ts";
import type { Transport } from "../schema/transport.ts";
import { ModelError } from "./model-error.ts";
import type { StreamingModel } from "./wire/wire-model.ts";

let transport: Transport;
beforeAll(() => {
  transport = createTransport();
});
afterAll(() => transport.close());

const CALL = { name: "pay", input: '{"amount":100}' };
const wireFormats = WIRE_FORMATS.map((format) => ({
  ...format,
  stream: format.encode({ text: "ä🤝", calls: [CALL, CALL] }),
}));
type Format = (typeof wireFormats)[number];

function modelAt(url: string, format: Format, limits = {}): StreamingModel {
  return format.create({ provider: "test", modelId: "m", baseUrl: url, transport, limits });
}

/** After how many bytes a stream is cut: after each in the deep tests, otherwise after some of them, the first and the last. */
function listCuts({ length }: Buffer): number[] {
  const step = process.env.RETINUE_DEEP ? 1 : 7;
  return [...Array.from({ length: Math.ceil(length / step) }, (_, index) => index * step), length];
}

/** Tool calls are there only together with `finish`, and then they are whole; everything else is a typed failure. */
function expectWholeOrFailed({ parts, error }: Awaited<ReturnType<typeof callModel>>): "whole" | "failed" {
  const inputs = ofType(parts, "tool-call").map((part) => part.input);
  if (error === undefined) {
    expect(inputs).toEqual([CALL.input, CALL.input]);
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
      const bytes = chunkedReply(format.stream, format.contentType);
      let cut = 0;
      const server = await startRawServer((socket) => {
        if (how === "end" || cut === 0) return socket.end(bytes.subarray(0, cut));
        socket.write(bytes.subarray(0, cut), () => socket.resetAndDestroy());
      });
      const model = modelAt(server.url, format);
      const outcomes: string[] = [];
      for (cut of listCuts(bytes)) outcomes.push(expectWholeOrFailed(await callModel(model)));
      await server.close();
      expect(outcomes[0]).toBe("failed");
      expect(outcomes.includes("whole")).toBe(true);
      if (how === "end") expect(outcomes.join().replace(/(failed,?)+(whole,?)+/, "")).toBe("");
    },
  );

  test("a body without framing that ends anywhere is whole only after its terminal event", async () => {
    const text = Buffer.from(format.stream.join(""));
    const head = `HTTP/1.1 200 OK\r\ncontent-type: ${format.contentType}\r\nconnection: close\r\n\r\n`;
    let cut = 0;
    const server = await startRawServer((socket) => {
      socket.end(Buffer.concat([Buffer.from(head), text.subarray(0, cut)]));
    });
    const model = modelAt(server.url, format);
    const outcomes: string[] = [];
    for (cut of listCuts(text)) outcomes.push(expectWholeOrFailed(await callModel(model)));
    await server.close();
    expect(outcomes.join().replace(/(failed,?)+(whole,?)+/, "")).toBe("");
  });

  const broken: [string, string][] = [
    ["nothing at all", ""],
    ["only blank lines", "\n\n\n"],
    ["only a comment", ": hi\n\n"],
    ["malformed JSON", format.frame('{"id": ')],
    ["JSON that is no object", `${format.frame("[1,2]")}${format.frame("null")}`],
    ["an HTML page", "<html><body>Log in</body></html>"],
    ["the end mark alone", format.frame(format.endMark)],
    ["the beginning alone", format.stream[0] ?? ""],
    ["deep nesting", format.frame("[".repeat(100_000))],
    ["deep nesting of objects", format.frame(`${'{"choices":'.repeat(50_000)}1${"}".repeat(50_000)}`)],
    [
      "prototype keys",
      format.frame(
        '{"__proto__":{"done":true,"finish_reason":"stop"},"constructor":{"prototype":{"polluted":1}}}',
      ),
    ],
  ];
  test.each(broken)("%s is a typed failure, never an empty success", async (_, text) => {
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": format.contentType }).end(text);
    });
    const outcome = await callModel(modelAt(server.url, format));
    await server.close();
    expect(expectWholeOrFailed(outcome)).toBe("failed");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  const inText = format.encode({ text: "x".repeat(2_000) });
  test.each([
    ["of one endless line", "x".repeat(1_000), "a line of the stream exceeds"],
    ["of endless blank lines", "\n".repeat(1_000), "the reply exceeds"],
    ["of endless text", inText.find((piece) => piece.includes("xxx")) ?? "", "the reply exceeds"],
  ])("an endless stream %s is cut off", async (_, text, message) => {
    const closed = Promise.withResolvers<void>();
    const server = await startServer((_request, response) => {
      response.writeHead(200, { "content-type": format.contentType });
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
        response.writeHead(200, { "content-type": format.contentType }).write(format.stream[0] ?? "");
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
      response.writeHead(200, { "content-type": format.contentType });
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
