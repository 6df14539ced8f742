import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callModel, HELLO, ofType } from "../../../../../test/fixtures/model-calls.ts";
import { startServer } from "../../../../../test/fixtures/model-server.ts";
import { createTransport } from "../../net/transport.ts";
import type { Transport } from "../../schema/transport.ts";
import { findOllama } from "./find-ollama.ts";
import { createOllamaModel, writeOllamaRequest } from "./ollama-model.ts";
import { ollamaUrl } from "./ollama-url.ts";

let transport: Transport;
beforeAll(() => {
  transport = createTransport();
});
afterAll(() => transport.close());

const target = { provider: "ollama", modelId: "qwen3" };
function written(options: Partial<LanguageModelV4CallOptions>, of = target) {
  return JSON.parse(writeOllamaRequest({ prompt: HELLO, ...options }, of).body);
}

test.each([
  ["127.0.0.1", "http://127.0.0.1:11434"],
  ["box.lan", "http://box.lan:11434"],
  ["box.lan:80", "http://box.lan"],
  [":9000", "http://127.0.0.1:9000"],
  ["0.0.0.0:9000", "http://127.0.0.1:9000"],
  ["[::]:9000", "http://127.0.0.1:9000"],
  ["https://ollama.example/", "https://ollama.example"],
  ["http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434"],
  ["http://127.0.0.1:11434/api", "http://127.0.0.1:11434"],
  ["no host at all", "no host at all"],
])("the host %j is reached at %s", (host, url) => {
  expect(ollamaUrl(host)).toBe(url);
});

test("a conversation is written with calls as objects, and thinking within a chain of calls", () => {
  const prompt: LanguageModelV4Prompt = [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { ollama: { field: "thinking" } } },
        { type: "tool-call", toolCallId: "a", toolName: "add", input: { x: 1 } },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "a", toolName: "add", output: { type: "text", value: "1" } },
      ],
    },
  ];
  expect(written({ prompt }).messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Look", images: ["AQID"] },
    {
      role: "assistant",
      content: "",
      thinking: "hm",
      tool_calls: [{ function: { name: "add", arguments: { x: 1 } } }],
    },
    { role: "tool", tool_name: "add", content: "1" },
  ]);
});

test("options are written in the API's own terms, and own options are kept beside them", () => {
  const tools = [{ type: "function", name: "f", description: "d", inputSchema: { type: "object" } } as const];
  const providerOptions = { ollama: { keep_alive: "1h", options: { num_ctx: 32_768 } } };
  expect(written({ maxOutputTokens: 9, temperature: 0, tools, providerOptions })).toMatchObject({
    model: "qwen3",
    stream: true,
    keep_alive: "1h",
    options: { num_predict: 9, temperature: 0, num_ctx: 32_768 },
    tools: [{ type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } }],
  });
  expect(written({ tools, toolChoice: { type: "none" } })).not.toHaveProperty("tools");
  expect(written({}).think).toBeUndefined();
  expect(written({ reasoning: "none" }).think).toBe(false);
  expect(written({ reasoning: "max" }, { ...target, modelId: "gpt-oss:20b" }).think).toBe("high");
});

test("a reply labelled as plain JSON is still read line by line", async () => {
  const lines = [
    '{"message":{"content":"a"},"done":false}',
    '{"message":{"content":"b"},"done":true,"done_reason":"stop"}',
  ];
  const server = await startServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end(lines.join("\r\n"));
  });
  const { parts, error } = await callModel(createOllamaModel({ ...target, baseUrl: server.url, transport }));
  await server.close();
  expect([error, ofType(parts, "text-delta").map((part) => part.delta)]).toEqual([undefined, ["a", "b"]]);
});

/** An Ollama server with these models and what each can do. */
function serverWith(models: Record<string, string[]>) {
  return startServer((request, response) => {
    if (request.path === "/api/tags")
      return response.end(JSON.stringify({ models: Object.keys(models).map((name) => ({ name })) }));
    return response.end(JSON.stringify({ capabilities: models[JSON.parse(request.body).model] }));
  });
}

test("the latest model that can call tools is found once per process", async () => {
  const server = await serverWith({
    "embed:latest": ["embedding"],
    "old:7b": ["completion"],
    "qwen3:8b": ["completion", "tools"],
  });
  const search = { settings: { providers: {} }, env: { OLLAMA_HOST: server.url }, transport };
  expect(await Promise.all([findOllama(search), findOllama(search)])).toEqual([
    "ollama/qwen3:8b",
    "ollama/qwen3:8b",
  ]);
  expect(await findOllama(search)).toBe("ollama/qwen3:8b");
  expect(server.seen.map(({ path }) => path)).toEqual(["/api/tags", "/api/show", "/api/show", "/api/show"]);
  expect(await findOllama({ ...search, env: { ...search.env, RETINUE_DISCOVER: "0" } })).toBeUndefined();
  await server.close();
});

test("nothing is found where no server runs, where it is another one, and where no model can call tools", async () => {
  const gone = await startServer(() => {});
  await gone.close();
  const other = await startServer((_, response) => response.end("<html>hello</html>"));
  const silent = await startServer(() => {});
  const poor = await serverWith({ "old:7b": ["completion"] });
  for (const { url } of [gone, other, silent, poor]) {
    const found = await findOllama({ settings: { providers: {} }, env: { OLLAMA_HOST: url }, transport });
    expect(found).toBeUndefined();
  }
  await Promise.all([other.close(), silent.close(), poor.close()]);
});
