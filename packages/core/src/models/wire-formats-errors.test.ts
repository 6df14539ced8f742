import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { callModel, ofType } from "../../../../test/fixtures/model-calls.ts";
import { startRawServer, startServer } from "../../../../test/fixtures/model-server.ts";
import type { WireFixture } from "../../../../test/fixtures/wire-formats.ts";
import { WIRE_FORMATS } from "../../../../test/fixtures/wire-formats.ts";
import { createTransport } from "../net/transport.ts";
import type { ErrorType } from "../schema/result.ts";
import type { Transport } from "../schema/transport.ts";

const KEY = "AIzaSyDexample0123456789";
let transport: Transport;
beforeAll(() => {
  transport = createTransport({ connectTimeoutMs: 2_000 });
});
afterAll(() => transport.close());

type Answer = { status: number; headers?: Record<string, string>; body: string };

/** What comes of a call whose server gives this answer, and its list of models to those who ask. */
async function awaitOutcome(format: WireFixture, answer: Answer) {
  const server = await startServer((request, response) => {
    if (request.method === "GET" && request.path === format.list.path) return response.end(format.list.body);
    return response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  const key = { apiKey: KEY, apiKeyEnv: "ACME_KEY" };
  const model = format.create({
    provider: "acme",
    modelId: "m-larg",
    baseUrl: server.url,
    transport,
    ...key,
  });
  const outcome = await callModel(model);
  await server.close();
  return { ...outcome, requests: server.seen.length };
}

const statuses: [string, number, string, ErrorType, boolean][] = [
  ["a wrong key", 401, "Incorrect API key provided", "auth", false],
  ["a forbidden model", 403, "no access", "auth", false],
  ["a rate limit", 429, "slow down", "rate_limit", true],
  ["a server error", 500, "oops", "overloaded", true],
  ["an unavailable server", 503, "busy", "overloaded", true],
  ["a gateway time-out", 504, "late", "timeout", true],
  ["a bad request", 400, "temperature must be below 2", "bad_response", false],
  ["a prompt too long", 400, "prompt is too long: 210000 tokens", "context_overflow", false],
];

describe.each(WIRE_FORMATS)("$name", (format) => {
  test.each(statuses)("%s (%i) is one typed failure", async (_, status, message, type, recoverable) => {
    const { parts, error, requests } = await awaitOutcome(format, {
      status,
      body: format.refusal(message, status),
    });
    expect(error).toMatchObject({ type, recoverable, status, message: expect.stringContaining(message) });
    expect([parts, requests]).toEqual([[], 1]);
  });

  test("a refusal never repeats the key, and one for a wrong key says where the key came from", async () => {
    const body = format.refusal(`no such key: ${KEY}`, 401);
    const { error } = await awaitOutcome(format, { status: 401, body });
    expect(error).toMatchObject({ message: expect.stringContaining("no such key: [key]") });
    expect(error).toMatchObject({ hint: "check the key in ACME_KEY" });
  });

  test("an unknown model lists those the server has, closest first", async () => {
    const { error } = await awaitOutcome(format, {
      status: 404,
      body: format.refusal("model not found", 404),
    });
    expect(error).toMatchObject({
      type: "config",
      recoverable: false,
      message: expect.stringMatching(/available: m-large, tiny$/),
    });
  });

  test("Retry-After is honoured on a rate limit and on an overload", async () => {
    for (const status of [429, 503]) {
      const answer = { status, headers: { "retry-after": "7" }, body: format.refusal("wait", status) };
      expect((await awaitOutcome(format, answer)).error).toMatchObject({ retryAfterMs: 7_000 });
    }
  });

  test("the format's own words about waiting are understood, and a header wins over them", async () => {
    for (const [body, waitMs] of format.waits) {
      const { error } = await awaitOutcome(format, { status: 429, body });
      expect(error).toMatchObject({ type: "rate_limit", recoverable: true, retryAfterMs: waitMs });
      const both = await awaitOutcome(format, { status: 429, headers: { "retry-after": "3" }, body });
      expect(both.error).toMatchObject({ retryAfterMs: 3_000 });
    }
    const silent = await awaitOutcome(format, { status: 429, body: format.refusal("wait", 429) });
    expect(silent.error).toMatchObject({ retryAfterMs: undefined });
  });

  test("a failure in the middle of a reply is typed, and nothing of the reply runs", async () => {
    const reply = format.encode({ text: "I pay.", calls: [{ name: "pay", input: '{"amount":100}' }] });
    const body = [...reply.slice(0, -2), format.frame(format.failure.payload)].join("");
    const headers = { "content-type": format.contentType };
    const { parts, error } = await awaitOutcome(format, { status: 200, headers, body });
    expect(error).toMatchObject({ type: format.failure.type, recoverable: true });
    expect([ofType(parts, "tool-call"), ofType(parts, "finish")]).toEqual([[], []]);
  });

  test("a filtered reply says so, where the format can", async () => {
    const body = format.encode({ text: "I", finish: "filter" }).join("");
    const headers = { "content-type": format.contentType };
    const { parts } = await awaitOutcome(format, { status: 200, headers, body });
    const unified = format.name === "ollama" ? "stop" : "content-filter";
    expect(ofType(parts, "finish")[0]?.finishReason.unified).toBe(unified);
  });

  test("a server that is gone, resets or speaks no HTTP is a network failure that names it", async () => {
    const gone = await startServer(() => {});
    await gone.close();
    const resetting = await startRawServer((socket) => socket.resetAndDestroy());
    const odd = await startRawServer((socket) => socket.end("220 mail ready\r\n"));
    for (const { url } of [gone, resetting, odd]) {
      const { error } = await callModel(
        format.create({ provider: "p", modelId: "m", baseUrl: url, transport }),
      );
      expect(error).toMatchObject({
        type: "network",
        recoverable: true,
        message: expect.stringContaining(new URL(url).host),
      });
    }
    await resetting.close();
    await odd.close();
  });
});
