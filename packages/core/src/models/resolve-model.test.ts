import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { callModel, textOf } from "../../../../test/fixtures/model-calls.ts";
import { events, startServer } from "../../../../test/fixtures/model-server.ts";
import { createTransport } from "../net/transport.ts";
import { RetinueError } from "../schema/error.ts";
import type { Settings } from "../schema/settings.ts";
import { PRESETS } from "./presets.ts";
import { createModels } from "./resolve-model.ts";

const transport = createTransport();

function models(env: Record<string, string>, given: Partial<Settings> = {}) {
  const settings = { aliases: {}, providers: {}, prices: {}, ...given };
  return createModels({ settings, env, transport });
}

function catchError(action: () => unknown): RetinueError {
  try {
    action();
  } catch (error) {
    if (error instanceof RetinueError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

const both = { ANTHROPIC_API_KEY: "k1", OPENAI_API_KEY: "k2" };
const local = { RETINUE_BASE_URL: "http://127.0.0.1:1234/v1", RETINUE_MODEL: "openai/gpt-oss-20b" };
const acme = { acme: { kind: "openai-compatible", baseUrl: "https://llm.acme.example/v1" } } as const;

const names: [string, string, Record<string, string>, Partial<Settings>, string][] = [
  ["provider and id", "anthropic/claude-x", both, {}, "anthropic/claude-x"],
  [
    "an id with slashes",
    "openrouter/qwen/qwen3-coder",
    { OPENROUTER_API_KEY: "k" },
    {},
    "openrouter/qwen/qwen3-coder",
  ],
  ["a provider of the settings", "acme/big", {}, { providers: acme }, "acme/big"],
  ["an alias of the settings", "mine", both, { aliases: { mine: "openai/gpt-5" } }, "openai/gpt-5"],
  ["an alias of an alias", "a", both, { aliases: { a: "b", b: "fast" } }, "anthropic/claude-haiku-4-5"],
  ["a built-in alias at the first usable provider", "opus", both, {}, "anthropic/claude-opus-4-6"],
  [
    "a built-in alias at the default model's provider",
    "fast",
    both,
    { model: "openai/gpt-5" },
    "openai/gpt-5-mini",
  ],
  [
    "a built-in alias where only a provider without aliases is set",
    "sonnet",
    {},
    { providers: acme, model: "acme/big" },
    "acme/big",
  ],
  [
    "a default model that is an alias",
    "haiku",
    both,
    { model: "main", aliases: { main: "smart" } },
    "anthropic/claude-haiku-4-5",
  ],
  [
    "an alias overridden by the settings",
    "sonnet",
    both,
    { aliases: { sonnet: "openai/gpt-5" } },
    "openai/gpt-5",
  ],
  ["a bare id that only one provider has", "gpt-4.1", both, {}, "openai/gpt-4.1"],
  ["any id at the only usable provider", "qwen/qwen3", {}, { providers: acme }, "acme/qwen/qwen3"],
  [
    "RETINUE_MODEL, even if it looks like a provider's",
    "openai/gpt-oss-20b",
    { ...both, ...local },
    {},
    "local/openai/gpt-oss-20b",
  ],
  ["an alias with a local server", "haiku", local, {}, "local/openai/gpt-oss-20b"],
  ["local/ in front", "local/other", local, {}, "local/other"],
  ["an alias at Google", "smart", { GEMINI_API_KEY: "k" }, {}, "google/gemini-2.5-pro"],
  [
    "a bare id of Google's",
    "gemini-2.5-flash",
    { ...both, GOOGLE_API_KEY: "k" },
    {},
    "google/gemini-2.5-flash",
  ],
  ["a server on this machine by its name", "ollama/qwen3:8b", both, {}, "ollama/qwen3:8b"],
  [
    "a server on this machine without any key",
    "lmstudio/openai/gpt-oss-20b",
    {},
    {},
    "lmstudio/openai/gpt-oss-20b",
  ],
  ["llama.cpp, dot and all", "llama.cpp/m", {}, {}, "llama.cpp/m"],
  [
    "a provider without a key, at RETINUE_BASE_URL as the only server",
    "anthropic/claude-opus-4.5",
    local,
    {},
    "local/anthropic/claude-opus-4.5",
  ],
  [
    "a name of a provider that has a key, at the gateway",
    "anthropic/claude-opus-4.5",
    both,
    { providers: acme, gateway: "acme" },
    "acme/anthropic/claude-opus-4.5",
  ],
  [
    "a bare id at the gateway",
    "deepseek-chat",
    both,
    { providers: acme, gateway: "acme" },
    "acme/deepseek-chat",
  ],
  [
    "a provider of the settings beside the gateway",
    "acme/big",
    { ...both, OPENROUTER_API_KEY: "k" },
    { providers: acme, gateway: "openrouter" },
    "acme/big",
  ],
  [
    "an alias that leads past the gateway's names",
    "qwen/qwen3-coder-30b",
    both,
    { providers: acme, gateway: "acme", aliases: { "qwen/qwen3-coder-30b": "acme/qwen3" } },
    "acme/qwen3",
  ],
  [
    "a configured Ollama as the only provider",
    "qwen3",
    {},
    { providers: { ollama: { kind: "ollama" } } },
    "ollama/qwen3",
  ],
];

test.each(names)("%s: %s", (_, name, env, given, id) => {
  expect(models(env, given).resolve(name)).toMatchObject({ id, provider: id.split("/")[0] });
});

test("the same model is the same object under every name", () => {
  const all = models(both);
  expect(all.resolve("opus")).toBe(all.resolve("anthropic/claude-opus-4-6"));
});

test("an unknown name says what is configured and how to write it", () => {
  const error = catchError(() => models({ ...both }).resolve("mistral/large"));
  expect(error).toMatchObject({
    code: "config",
    message: "no model 'mistral/large': 'mistral' is not a provider; configured: anthropic, openai",
  });
  expect(error.hint).toContain("provider/model-id");
});

test("without any provider the hint names the variables that add one", () => {
  const error = catchError(() => models({}).resolve("large"));
  expect(error).toMatchObject({
    code: "config",
    message: expect.stringContaining("no provider is configured"),
  });
  expect(error.hint).toMatch(/ANTHROPIC_API_KEY, OPENAI_API_KEY.*RETINUE_BASE_URL/);
  expect(catchError(() => models({}).resolve("smart")).code).toBe("config");
});

test("a known provider without its key names the variable", () => {
  const error = catchError(() => models({ OPENAI_API_KEY: "k" }).resolve("anthropic/claude-x"));
  expect(error).toMatchObject({
    code: "auth",
    message: expect.stringContaining("ANTHROPIC_API_KEY is not set"),
  });
  expect(catchError(() => models({ ANTHROPIC_API_KEY: "  " }).resolve("anthropic/x")).code).toBe("auth");
});

test.each(["", "/", "anthropic/", "__proto__/x", "constructor"])(
  "the name %j is refused, not guessed",
  (name) => {
    expect(catchError(() => models(both).resolve(name)).code).toBe("config");
  },
);

test("a gateway that is no provider is refused with what there is, and a vendor's key makes no gateway", () => {
  const error = catchError(() => models(both, { gateway: "acne", providers: acme }).resolve("qwen/qwen3"));
  expect(error).toMatchObject({
    code: "config",
    message: expect.stringMatching(/the gateway 'acne' is not a provider; there are acme, /),
  });
  expect(catchError(() => models({ DEEPSEEK_API_KEY: "k" }).resolve("anthropic/x")).code).toBe("auth");
});

test("any of Google's variables holds its key, and the first one is named where none does", () => {
  for (const name of ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"])
    expect(models({ [name]: "k" }).usable).toEqual(["google"]);
  expect(catchError(() => models(both).resolve("google/x")).message).toContain("GEMINI_API_KEY is not set");
});

test("servers on this machine that nobody set up do not count as configured", () => {
  expect(models({})).toMatchObject({ usable: [], defaultName: undefined });
  expect(models({ OLLAMA_HOST: "127.0.0.1" }).usable).toEqual([]);
  expect(models({}, { providers: { vllm: { kind: "openai-compatible" } } }).usable).toEqual(["vllm"]);
});

test("aliases that lead in circles are refused", () => {
  const error = catchError(() => models(both, { aliases: { a: "b", b: "a" } }).resolve("a"));
  expect(error).toMatchObject({ code: "config", message: expect.stringContaining("circles") });
  expect(catchError(() => models(both, { aliases: { a: "a" } }).resolve("a")).code).toBe("config");
});

test("the default is RETINUE_MODEL, then the settings' model, then the best of what has a key", () => {
  expect(models({ ...both, RETINUE_MODEL: "openai/o3" }, { model: "fast" }).defaultName).toBe("openai/o3");
  expect(models(both, { model: "fast" }).defaultName).toBe("fast");
  expect(models({ OPENAI_API_KEY: "k" }).defaultName).toBe("openai/gpt-5");
  expect(models({}).defaultName).toBeUndefined();
});

test("a server on this machine needs no key, and limits and prices come from the settings", () => {
  const all = models(
    { OPENAI_BASE_URL: "http://localhost:8080/v1" },
    {
      providers: { ...acme, busy: { kind: "anthropic", baseUrl: "http://127.0.0.1:1", maxConcurrent: 3 } },
      prices: { "busy/m": { input: 1, output: 2 } },
    },
  );
  expect(all.usable).toEqual(["acme", "busy", "openai"]);
  expect(all.resolve("busy/m")).toMatchObject({ maxConcurrent: 3, price: { input: 1, output: 2 } });
  expect(all.resolve("acme/m")).toMatchObject({ maxConcurrent: Number.POSITIVE_INFINITY, price: null });
});

test("a resolved model speaks its provider's wire format with its key and headers", async () => {
  const server = await startServer((request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const openAi = [{ choices: [{ delta: { content: "hi" }, finish_reason: "stop" }] }, "[DONE]"];
    const anthropic = [
      { type: "message_start", message: {} },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "ho" } },
      { type: "message_stop" },
    ];
    const google = [{ candidates: [{ content: { parts: [{ text: "hu" }] }, finishReason: "STOP" }] }];
    if (request.path === "/api/chat") return response.end('{"message":{"content":"he"},"done":true}\n');
    if (request.path.includes(":streamGenerateContent")) return response.end(events(...google).join(""));
    return response.end(events(...(request.path === "/v1/messages" ? anthropic : openAi)).join(""));
  });
  const all = models(
    { A_KEY: "from-env" },
    {
      providers: {
        a: { kind: "anthropic", baseUrl: server.url, apiKeyEnv: "A_KEY" },
        g: { kind: "google", baseUrl: server.url, apiKeyEnv: "A_KEY" },
        l: { kind: "ollama", baseUrl: server.url.slice("http://".length) },
        o: {
          kind: "openai-compatible",
          baseUrl: `${server.url}/v1`,
          apiKey: "given",
          headers: { "x-team": "t" },
        },
      },
    },
  );
  expect(textOf((await callModel(all.resolve("a/m").model)).parts)).toBe("ho");
  expect(textOf((await callModel(all.resolve("o/m").model)).parts)).toBe("hi");
  expect(textOf((await callModel(all.resolve("g/m").model)).parts)).toBe("hu");
  expect(textOf((await callModel(all.resolve("l/m").model)).parts)).toBe("he");
  expect(server.seen[2]?.headers["x-goog-api-key"]).toBe("from-env");
  expect(server.seen[3]?.headers.authorization).toBeUndefined();
  expect(server.seen[0]?.headers["x-api-key"]).toBe("from-env");
  expect(server.seen[1]?.headers).toMatchObject({ authorization: "Bearer given", "x-team": "t" });
  transport.close();
  await server.close();
});

test("every provider that needs no settings has a row in the documentation, with the variables it reads", () => {
  const text = readFileSync(new URL("../../../../docs/models.md", import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  const missing = Object.entries(PRESETS).flatMap(([name, { apiKeyEnv, otherKeyEnvs = [], kind }]) =>
    [name, apiKeyEnv, ...otherKeyEnvs, kind].filter(
      (word) => word && !rows.some((row) => row.includes(`\`${name}\``) && row.includes(`\`${word}\``)),
    ),
  );
  expect(missing).toEqual([]);
});
