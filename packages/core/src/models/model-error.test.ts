import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel } from "../../../../test/fixtures/model-calls.ts";
import { events, startRawServer, startServer } from "../../../../test/fixtures/model-server.ts";
import { createTransport } from "../net/transport.ts";
import type { ErrorType } from "../schema/result.ts";
import type { Transport } from "../schema/transport.ts";
import { createAnthropicModel } from "./anthropic/anthropic-model.ts";
import { createOpenAiChatModel } from "./openai/openai-chat-model.ts";
import { retryAfterMs } from "./wire/classify-error.ts";
import type { WireSettings } from "./wire/wire-model.ts";

const KEY = "sk-secret-0123456789abcdef";
let transport: Transport;
beforeAll(() => {
  transport = createTransport();
});
afterAll(() => transport.close());

type Answer = { status: number; headers?: Record<string, string>; body: unknown };

/** The error of a call whose server gives this answer, and its list of models to those who ask. */
async function catchError(
  answer: Answer,
  create: (settings: WireSettings) => ReturnType<typeof createOpenAiChatModel> = createOpenAiChatModel,
): Promise<unknown> {
  const server = await startServer((request, response) => {
    if (request.method === "GET")
      return response.end(JSON.stringify({ data: [{ id: "tiny" }, { id: "m-large" }, { id: 5 }] }));
    const body = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
    return response.writeHead(answer.status, answer.headers).end(body);
  });
  const settings = {
    provider: "acme",
    modelId: "m-larg",
    baseUrl: server.url,
    transport,
    apiKey: KEY,
    apiKeyEnv: "ACME_KEY",
  };
  const { error } = await callModel(create(settings));
  await server.close();
  return error;
}

const said = (message: string, more: object = {}) => ({ error: { message, ...more } });
const answers: [string, ErrorType, boolean, number, unknown][] = [
  ["a wrong key", "auth", false, 401, said("Incorrect API key provided")],
  ["a forbidden model", "auth", false, 403, said("no access")],
  ["no credit", "auth", false, 402, said("Insufficient credits")],
  [
    "a used up quota",
    "auth",
    false,
    429,
    said("You exceeded your current quota", { code: "insufficient_quota" }),
  ],
  [
    "Anthropic without credit",
    "auth",
    false,
    400,
    { type: "error", error: { type: "invalid_request_error", message: "Your credit balance is too low" } },
  ],
  ["a rate limit", "rate_limit", true, 429, said("Rate limit reached for requests")],
  [
    "a rate limit on tokens",
    "rate_limit",
    true,
    429,
    said("Request too large: limit 30000 tokens per min, too many tokens"),
  ],
  ["a server error", "overloaded", true, 500, "Internal Server Error"],
  ["a bad gateway", "overloaded", true, 502, "<html><style>p{}</style><h1>Bad gateway</h1></html>"],
  ["an unavailable server", "overloaded", true, 503, ""],
  [
    "Anthropic overloaded",
    "overloaded",
    true,
    529,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ],
  ["a gateway time-out", "timeout", true, 504, ""],
  ["a bad request", "bad_response", false, 400, said("temperature must be below 2")],
  ["a filtered prompt", "content_filter", false, 400, said("refused", { code: "content_filter" })],
  [
    "overflow at OpenAI",
    "context_overflow",
    false,
    400,
    said("This model's maximum context length is 128000 tokens.", { code: "context_length_exceeded" }),
  ],
  [
    "overflow at Anthropic",
    "context_overflow",
    false,
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum" },
    },
  ],
  [
    "overflow with max_tokens at Anthropic",
    "context_overflow",
    false,
    400,
    said("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
  ],
  [
    "a request too large",
    "context_overflow",
    false,
    413,
    { type: "error", error: { type: "request_too_large", message: "Request exceeds the maximum size" } },
  ],
  [
    "overflow at llama.cpp",
    "context_overflow",
    false,
    400,
    said("the request exceeds the available context size, try increasing it", {
      type: "exceed_context_size_error",
    }),
  ],
  [
    "overflow at vLLM",
    "context_overflow",
    false,
    400,
    {
      object: "error",
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
    },
  ],
  [
    "overflow at LM Studio",
    "context_overflow",
    false,
    400,
    {
      error:
        "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
    },
  ],
  ["overflow at Ollama", "context_overflow", false, 500, said("input length exceeds maximum context length")],
  [
    "overflow at Gemini",
    "context_overflow",
    false,
    400,
    [said("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")],
  ],
];

test.each(answers)("%s is %s", async (_, type, recoverable, status, body) => {
  expect(await catchError({ status, body })).toMatchObject({ type, recoverable, status });
});

test("a message names provider, model, host, status and what the server said, with a hint and without the key", async () => {
  const error = await catchError({
    status: 401,
    body: said(`Incorrect API key provided: ${KEY}. Also sk-proj-*******wxyz.`),
  });
  expect(error).toMatchObject({
    message: expect.stringMatching(
      /^acme\/m-larg at 127\.0\.0\.1:\d+ answered 401: Incorrect API key provided: \[key\]\. Also \[key\] \(check the key in ACME_KEY\)$/,
    ),
  });
});

test("an unknown model lists those the server has, closest first", async () => {
  for (const create of [createOpenAiChatModel, createAnthropicModel]) {
    const error = await catchError(
      { status: 404, body: said("model m-larg not found", { type: "not_found_error" }) },
      create,
    );
    expect(error).toMatchObject({
      type: "config",
      recoverable: false,
      message: expect.stringMatching(/available: m-large, tiny$/),
    });
  }
});

test("a long error text is cut and put on one line", async () => {
  const error = await catchError({ status: 400, body: `line\n\n${"x".repeat(200_000)}` });
  expect(error instanceof Error && error.message.length).toBeLessThan(700);
  expect(error instanceof Error && error.message).not.toContain("\n");
});

test("an error inside an accepted stream is typed by its code", async () => {
  const inStream = (error: unknown) => ({
    status: 200,
    headers: { "content-type": "text/event-stream" },
    body: events({ error }).join(""),
  });
  expect(await catchError(inStream({ message: "slow down", code: 429 }))).toMatchObject({
    type: "rate_limit",
  });
  expect(await catchError(inStream({ message: "upstream", code: 502 }))).toMatchObject({
    type: "overloaded",
  });
  expect(await catchError(inStream({ message: "oops", type: "server_error" }))).toMatchObject({
    type: "overloaded",
  });
  expect(await catchError(inStream("just text"))).toMatchObject({
    type: "bad_response",
    message: expect.stringContaining("just text"),
  });
  const asDocument = {
    status: 200,
    headers: { "content-type": "application/json" },
    body: said("no such thing"),
  };
  expect(await catchError(asDocument)).toMatchObject({
    type: "bad_response",
    message: expect.stringContaining("no such thing"),
  });
});

test("the time to wait is passed on", async () => {
  expect(
    await catchError({ status: 429, headers: { "retry-after": "7" }, body: said("wait") }),
  ).toMatchObject({
    retryAfterMs: 7_000,
  });
});

test.each([
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 9_000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
  [{ "retry-after": "-5" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "" }, undefined],
  [{}, undefined],
])("the headers %j ask to wait %s ms", (headers, expected) => {
  expect(retryAfterMs(headers, 1_000)).toBe(expected);
});

test("a server that cannot be reached, resets or redirects is a typed failure that names its host", async () => {
  const gone = await startServer(() => {});
  await gone.close();
  const reset = await startRawServer((socket) => socket.resetAndDestroy());
  const moved = await startServer((_, response) =>
    response.writeHead(308, { location: "https://new.example/v1" }).end(),
  );
  const at = async (baseUrl: string) =>
    (await callModel(createOpenAiChatModel({ provider: "p", modelId: "m", baseUrl, transport }))).error;
  expect(await at(gone.url)).toMatchObject({
    type: "network",
    recoverable: true,
    message: expect.stringContaining(gone.url.slice(7)),
  });
  expect(await at(reset.url)).toMatchObject({ type: "network", recoverable: true });
  expect(await at(moved.url)).toMatchObject({
    type: "config",
    recoverable: false,
    message: expect.stringContaining("https://new.example/v1"),
  });
  await reset.close();
  await moved.close();
});
