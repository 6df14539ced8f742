import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { callModel, callsOf, gather, HELLO, ofType, textOf } from "../../../../test/fixtures/model-calls.ts";
import type { TestServer } from "../../../../test/fixtures/model-server.ts";
import { startServer } from "../../../../test/fixtures/model-server.ts";
import type { PlainReply } from "../../../../test/fixtures/wire-formats.ts";
import { ANSWERED_BY, USED, WIRE_FORMATS } from "../../../../test/fixtures/wire-formats.ts";
import { createTransport } from "../net/transport.ts";
import { PROVIDER_KINDS } from "../schema/settings.ts";
import type { Transport } from "../schema/transport.ts";
import { computeCost, readUsage } from "./prices.ts";
import type { Emit } from "./wire/read-reply.ts";
import type { StreamingModel } from "./wire/wire-model.ts";

let transport: Transport;
beforeAll(() => {
  transport = createTransport();
});
afterAll(() => transport.close());

const CALLS = [
  { name: "pay", input: '{"amount":100,"to":"ä🤝"}' },
  { name: "pay", input: '{"amount":200}' },
  { name: "look", input: "{}" },
];
/** Replies, and what must come of them in every format. */
const replies: [string, PlainReply][] = [
  ["text", { text: "Hé, llo 🤝" }],
  ["reasoning and text", { reasoning: "let me seé", text: "done" }],
  ["parallel calls", { calls: CALLS }],
  ["reasoning, text and parallel calls", { reasoning: "two of them", text: "I pay.", calls: CALLS }],
  ["a call whose input is no JSON", { calls: [{ name: "pay", input: '{"amount": 1' }] }],
  ["a reply that was cut off", { text: "and then", finish: "length" }],
  ["fields nobody knows", { text: "ok", calls: CALLS, extra: { brandNew: { deep: [1, null] } } }],
];

test("every wire format that settings may name is tried here", () => {
  expect(WIRE_FORMATS.map(({ name }) => name).toSorted()).toEqual(PROVIDER_KINDS.toSorted());
});

describe.each(WIRE_FORMATS)("$name", (format) => {
  let server: TestServer;
  let model: StreamingModel;
  let pieces: readonly (string | Buffer)[];

  beforeEach(async () => {
    server = await startServer((_, response) => {
      response.writeHead(200, { "content-type": format.contentType });
      const next = (at: number): void => {
        const piece = pieces[at];
        if (piece === undefined) response.end();
        else response.write(piece, () => setImmediate(next, at + 1));
      };
      next(0);
    });
    model = format.create({ provider: format.name, modelId: "m", baseUrl: server.url, transport });
  });
  afterEach(() => server.close());

  test.each(replies)("%s comes out whole, once, and in order", async (_, reply) => {
    pieces = format.encode(reply);
    const { parts, error } = await callModel(model);
    expect(error).toBeUndefined();
    expect(textOf(parts)).toBe(reply.text ?? "");
    expect(joinReasoning(parts)).toBe(reply.reasoning ?? "");
    expect(callsOf(parts)).toEqual((reply.calls ?? []).map(({ name, input }) => [name, input]));
    const ids = ofType(parts, "tool-call").map((part) => part.toolCallId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => id !== "")).toBe(true);
    const unified = reply.finish ?? (reply.calls ? "tool-calls" : "stop");
    expect(parts.at(-1)).toMatchObject({ type: "finish", finishReason: { unified } });
    expect(ofType(parts, "finish")).toHaveLength(1);
    expect(ofType(parts, "response-metadata")[0]?.modelId).toBe(ANSWERED_BY);
  });

  test("the callback, the web stream and the whole result say the same", async () => {
    pieces = format.encode({ reasoning: "hm", text: "yes", calls: CALLS });
    const { parts } = await callModel(model);
    const { stream } = await model.doStream({ prompt: HELLO });
    expect(withoutIds(await gather(stream))).toEqual(withoutIds(parts));
    const { content, response, finishReason } = await model.doGenerate({ prompt: HELLO });
    expect(content.map((part) => part.type)).toEqual([
      "reasoning",
      "text",
      "tool-call",
      "tool-call",
      "tool-call",
    ]);
    expect([response?.modelId, finishReason.unified]).toEqual([ANSWERED_BY, "tool-calls"]);
  });

  test("usage is told in our terms and priced: cached tokens within the input, reasoning within the output", async () => {
    pieces = format.encode({ reasoning: "hm", text: "yes" });
    const { parts } = await callModel(model);
    const [finish] = ofType(parts, "finish");
    const usage = finish ? readUsage(finish.usage) : null;
    const cacheReadTokens = format.told.cached ? USED.cached : 0;
    const reasoningTokens = format.told.reasoning ? USED.reasoning : 0;
    expect(usage).toEqual({
      inputTokens: USED.input,
      outputTokens: USED.output,
      cacheReadTokens,
      cacheWriteTokens: 0,
      reasoningTokens,
    });
    const price = { input: 1, output: 2, cacheRead: 0.1, reasoning: 3 };
    const input = format.told.cached ? 60 * 1 + 40 * 0.1 : 100 * 1;
    const output = format.told.reasoning ? 20 * 2 + 10 * 3 : 30 * 2;
    expect(computeCost(usage, price)).toBeCloseTo((input + output) / 1_000_000, 12);
  });

  test("a reply that drips byte by byte is read like any other", async () => {
    const encoded = format.encode({ reasoning: "seé", text: "ä🤝", calls: CALLS });
    pieces = encoded;
    const whole = await callModel(model);
    pieces = [...Buffer.from(encoded.join(""))].map((byte) => Buffer.from([byte]));
    const dripped = await callModel(model);
    expect(dripped.error).toBeUndefined();
    expect(withoutIds(dripped.parts)).toEqual(withoutIds(whole.parts));
  });

  test("wherever the bytes are cut, the parts are the same", async () => {
    const bytes = Buffer.from(format.encode({ reasoning: "seé", text: "ä🤝", calls: CALLS }).join(""));
    const whole = withoutIds(await partsOfChunks([bytes]));
    for (let cut = 1; cut < bytes.length; cut++) {
      const parts = await partsOfChunks([bytes.subarray(0, cut), bytes.subarray(cut)]);
      expect(withoutIds(parts)).toEqual(whole);
    }
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(cuts, async (at) => {
        const edges = [0, ...at.toSorted((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        expect(withoutIds(await partsOfChunks(chunks))).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  /** Reads a body that arrives in these chunks, without a network in between that could join them. */
  async function partsOfChunks(chunks: readonly Buffer[]): Promise<LanguageModelV4StreamPart[]> {
    const parts: LanguageModelV4StreamPart[] = [];
    const fake = format.create({
      provider: format.name,
      modelId: "m",
      baseUrl: "http://127.0.0.1:1",
      transport: { ...transport, post: async () => createReply(chunks, format.contentType) },
    });
    await fake.stream({ prompt: HELLO }, (part) => parts.push(part));
    return parts;
  }
});

type Reply = Awaited<ReturnType<Transport["post"]>>;

function createReply(chunks: readonly Buffer[], contentType: string): Reply {
  let released = false;
  return {
    status: 200,
    headers: { "content-type": contentType },
    read(reader) {
      for (const chunk of chunks) if (!released) reader.chunk(chunk);
      if (!released) reader.end();
    },
    text: async () => "",
    pause() {},
    resume() {},
    release() {
      released = true;
    },
    destroy() {},
  };
}

function joinReasoning(parts: Parameters<Emit>[0][]): string {
  return ofType(parts, "reasoning-delta")
    .map((part) => part.delta)
    .join("");
}

/** Ids that Retinue gives itself differ from call to call. */
function withoutIds(parts: readonly LanguageModelV4StreamPart[]): unknown {
  const names = new Map<string, string>();
  return JSON.parse(
    JSON.stringify(parts).replace(/call_[0-9a-f]{32}/g, (id) => {
      if (!names.has(id)) names.set(id, `call-${names.size}`);
      return names.get(id) ?? id;
    }),
  );
}
