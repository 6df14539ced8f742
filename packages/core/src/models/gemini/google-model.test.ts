import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel, HELLO, ofType } from "../../../../../test/fixtures/model-calls.ts";
import { events, startServer } from "../../../../../test/fixtures/model-server.ts";
import { createTransport } from "../../net/transport.ts";
import type { Transport } from "../../schema/transport.ts";
import { createGoogleModel, googleUsage, writeGoogleRequest } from "./google-model.ts";

let transport: Transport;
beforeAll(() => {
  transport = createTransport();
});
afterAll(() => transport.close());

/** What comes of a stream of these chunks. */
async function awaitOutcome(chunks: readonly unknown[], modelId = "gemini-x") {
  const server = await startServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events(...chunks).join(""));
  });
  const model = createGoogleModel({
    provider: "google",
    modelId,
    baseUrl: `${server.url}/v1beta/`,
    transport,
    apiKey: "k",
  });
  const outcome = await callModel(model);
  await server.close();
  return { ...outcome, seen: server.seen };
}

const chunk = (parts: unknown[], more: object = {}) => ({ candidates: [{ content: { parts }, ...more }] });
const stop = chunk([], { finishReason: "STOP" });

function written(options: Partial<LanguageModelV4CallOptions>, modelId = "gemini-2.5-flash") {
  return JSON.parse(writeGoogleRequest({ prompt: HELLO, ...options }, modelId).body);
}

test("the key goes into a header, and the id into the address without leading elsewhere", async () => {
  const { seen } = await awaitOutcome([stop], "models/gemini-x");
  expect(seen[0]).toMatchObject({
    path: "/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": "k" },
  });
  const paths = ["../../x?key=", "tunedModels/a b"].map(
    async (id) => (await awaitOutcome([stop], id)).seen[0]?.path,
  );
  expect(await Promise.all(paths)).toEqual([
    "/v1beta/models/..%2F..%2Fx%3Fkey%3D:streamGenerateContent?alt=sse",
    "/v1beta/tunedModels/a%20b:streamGenerateContent?alt=sse",
  ]);
});

test("signatures come out with the part they belong to and go back with it", async () => {
  const { parts } = await awaitOutcome([
    chunk([{ text: "hm", thought: true, thoughtSignature: "s1" }]),
    chunk([
      { functionCall: { name: "a", args: {}, id: "f1" }, thoughtSignature: "s2" },
      { functionCall: { name: "b" } },
    ]),
    chunk([{ text: "", thoughtSignature: "s3" }]),
    stop,
  ]);
  expect(ofType(parts, "reasoning-end")[0]?.providerMetadata).toEqual({ google: { thoughtSignature: "s1" } });
  expect(ofType(parts, "text-end")[0]?.providerMetadata).toEqual({ google: { thoughtSignature: "s3" } });
  const [first, second] = ofType(parts, "tool-call");
  expect(first).toMatchObject({
    toolCallId: "f1",
    providerMetadata: { google: { thoughtSignature: "s2", id: "f1" } },
  });
  expect(second).toMatchObject({ input: "{}", toolCallId: expect.stringMatching(/^call_/) });
  expect(second).not.toHaveProperty("providerMetadata");
});

const answered: LanguageModelV4Prompt = [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "Add" }] },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", providerOptions: { google: { thoughtSignature: "s1" } } },
      { type: "reasoning", text: "unsigned", providerOptions: { anthropic: { signature: "x" } } },
      {
        type: "tool-call",
        toolCallId: "f1",
        toolName: "add",
        input: { x: 1 },
        providerOptions: { google: { thoughtSignature: "s2", id: "f1" } },
      },
      { type: "tool-call", toolCallId: "own", toolName: "add", input: "{" },
    ],
  },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "f1", toolName: "add", output: { type: "json", value: 1 } }],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "own",
        toolName: "add",
        output: { type: "error-text", value: "no JSON" },
      },
    ],
  },
  { role: "user", content: [{ type: "text", text: "Go on" }] },
];

test("a conversation is written with all results of a turn in one message", () => {
  expect(written({ prompt: answered })).toMatchObject({
    systemInstruction: { parts: [{ text: "Be brief." }] },
    contents: [
      { role: "user", parts: [{ text: "Add" }] },
      {
        role: "model",
        parts: [
          { text: "hm", thought: true, thoughtSignature: "s1" },
          { functionCall: { id: "f1", name: "add", args: { x: 1 } }, thoughtSignature: "s2" },
          { functionCall: { name: "add", args: { malformed_input: "{" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "f1", name: "add", response: { output: "1" } } },
          { functionResponse: { name: "add", response: { error: "no JSON" } } },
        ],
      },
      { role: "user", parts: [{ text: "Go on" }] },
    ],
  });
});

test("a call of another model is marked where a model would refuse it unsigned", () => {
  const prompt: LanguageModelV4Prompt = [
    ...HELLO,
    {
      role: "assistant",
      content: ["a", "b"].map(
        (id) => ({ type: "tool-call", toolCallId: id, toolName: id, input: {} }) as const,
      ),
    },
  ];
  const signatures = (modelId: string) =>
    written({ prompt }, modelId).contents[1].parts.map(
      (part: { thoughtSignature?: string }) => part.thoughtSignature,
    );
  expect(signatures("gemini-3-pro-preview")).toEqual(["skip_thought_signature_validator", undefined]);
  expect(signatures("gemini-2.5-flash")).toEqual([undefined, undefined]);
});

test("options and tools are written in the API's own terms", () => {
  const tools = [
    { type: "function", name: "none", inputSchema: { type: "object", properties: {} } },
    {
      type: "function",
      name: "one",
      inputSchema: { properties: { x: { type: "integer" } }, additionalProperties: false },
    },
  ] as const;
  const body = written({
    maxOutputTokens: 9,
    topK: 3,
    stopSequences: ["x"],
    reasoning: "low",
    tools: [...tools],
    toolChoice: { type: "tool", toolName: "one" },
  });
  expect(body).toMatchObject({
    generationConfig: {
      maxOutputTokens: 9,
      topK: 3,
      stopSequences: ["x"],
      thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 },
    },
    toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["one"] } },
  });
  expect(body.tools[0].functionDeclarations).toEqual([
    { name: "none" },
    { name: "one", parameters: { type: "object", properties: { x: { type: "integer" } } } },
  ]);
  expect(written({ reasoning: "high" }, "gemini-3-pro").generationConfig.thinkingConfig).toEqual({
    includeThoughts: true,
    thinkingLevel: "high",
  });
});

test("a refused prompt is a filter's work, and a call the server could not read a broken reply", async () => {
  const refused = await awaitOutcome([
    { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 4 } },
  ]);
  expect(refused.error).toMatchObject({
    type: "content_filter",
    recoverable: false,
    message: expect.stringContaining("SAFETY"),
  });
  const garbled = await awaitOutcome([
    chunk([], { finishReason: "MALFORMED_FUNCTION_CALL", finishMessage: "print(1)" }),
  ]);
  expect(garbled.error).toMatchObject({
    type: "bad_response",
    recoverable: true,
    message: expect.stringContaining("print(1)"),
  });
});

test("a finish reason in every chunk does not end the reply early", async () => {
  const call = { functionCall: { name: "a", args: {} } };
  const { parts } = await awaitOutcome([
    chunk([{ text: "I" }], { finishReason: "STOP" }),
    chunk([call], { finishReason: "STOP" }),
  ]);
  expect(ofType(parts, "tool-call")).toHaveLength(1);
});

test("an invalid key is an auth error, and a used up day is not waited for", async () => {
  const catchError = async (error: object, status: number) => {
    const server = await startServer((_, response) =>
      response.writeHead(status).end(JSON.stringify({ error })),
    );
    const model = createGoogleModel({
      provider: "google",
      modelId: "m",
      baseUrl: server.url,
      transport,
      apiKey: "k",
    });
    const outcome = await callModel(model);
    await server.close();
    return outcome.error;
  };
  const key = {
    code: 400,
    message: "API key not valid. Please pass a valid API key.",
    status: "INVALID_ARGUMENT",
  };
  expect(await catchError(key, 400)).toMatchObject({ type: "auth", recoverable: false });
  const violations = [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }];
  const details = [{ "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations }];
  const day = {
    code: 429,
    message: "check your plan and billing details",
    status: "RESOURCE_EXHAUSTED",
    details,
  };
  expect(await catchError(day, 429)).toMatchObject({ type: "rate_limit", recoverable: false });
});

test.each([
  [{ promptTokenCount: 7, candidatesTokenCount: 2 }, 7, 2],
  [{ promptTokenCount: 7, toolUsePromptTokenCount: 3, thoughtsTokenCount: 5 }, 10, 5],
  [{ promptTokenCount: 7 }, 7, undefined],
  [{ promptTokenCount: -1, candidatesTokenCount: "2" }, undefined, undefined],
  [undefined, undefined, undefined],
])("the counts %j are %s in and %s out", (counts, input, output) => {
  const { inputTokens, outputTokens } = googleUsage(counts);
  expect([inputTokens.total, outputTokens.total]).toEqual([input, output]);
});
