import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { HELLO } from "../../../../../test/fixtures/model-calls.ts";
import { writeAnthropicRequest } from "../anthropic/anthropic-model.ts";
import type { OpenAiTarget } from "../openai/openai-chat-model.ts";
import { writeOpenAiRequest } from "../openai/openai-chat-model.ts";
import { toolInput, toolOutputText } from "./prompt-parts.ts";

const conversation: LanguageModelV4Prompt = [
  { role: "system", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "Add them" }] },
  {
    role: "assistant",
    content: [
      {
        type: "reasoning",
        text: "two calls",
        providerOptions: { anthropic: { signature: "sig" }, local: { field: "reasoning_content" } },
      },
      { type: "reasoning", text: "unsigned" },
      { type: "text", text: "Adding." },
      { type: "tool-call", toolCallId: "a:1", toolName: "add", input: { x: 1 } },
      { type: "tool-call", toolCallId: "b", toolName: "add", input: '{"x":' },
    ],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "a:1",
        toolName: "add",
        output: { type: "json", value: { sum: 1 } },
      },
      {
        type: "tool-result",
        toolCallId: "b",
        toolName: "add",
        output: { type: "error-text", value: "not JSON" },
      },
    ],
  },
  { role: "user", content: [{ type: "text", text: "Go on" }] },
];

const image: LanguageModelV4FilePart = {
  type: "file",
  mediaType: "image/png",
  data: { type: "data", data: new Uint8Array([1, 2, 3]) },
};
const target = { provider: "local", modelId: "m", isOpenAi: false };

function openAi(options: Partial<LanguageModelV4CallOptions>, of: OpenAiTarget = target) {
  return JSON.parse(writeOpenAiRequest({ prompt: HELLO, ...options }, of).body);
}

function anthropic(options: Partial<LanguageModelV4CallOptions>, modelId = "claude-x") {
  return JSON.parse(writeAnthropicRequest({ prompt: HELLO, ...options }, modelId).body);
}

test("a conversation becomes OpenAI messages, one per tool result, with the reasoning that asked to come back", () => {
  expect(openAi({ prompt: conversation }).messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Add them" },
    {
      role: "assistant",
      content: "Adding.",
      reasoning_content: "two calls",
      tool_calls: [
        { id: "a:1", type: "function", function: { name: "add", arguments: '{"x":1}' } },
        {
          id: "b",
          type: "function",
          function: { name: "add", arguments: '{"malformed_input":"{\\"x\\":"}' },
        },
      ],
    },
    { role: "tool", tool_call_id: "a:1", content: '{"sum":1}' },
    { role: "tool", tool_call_id: "b", content: "not JSON" },
    { role: "user", content: "Go on" },
  ]);
});

test("a conversation becomes Anthropic messages, results and text in one user message, ends marked for caching", () => {
  const { system, messages } = anthropic({ prompt: conversation });
  expect(system).toEqual([{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }]);
  expect(messages).toEqual([
    { role: "user", content: [{ type: "text", text: "Add them" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "two calls", signature: "sig" },
        { type: "text", text: "Adding." },
        { type: "tool_use", id: "a_1", name: "add", input: { x: 1 } },
        { type: "tool_use", id: "b", name: "add", input: { malformed_input: '{"x":' } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a_1", content: '{"sum":1}' },
        { type: "tool_result", tool_use_id: "b", content: "not JSON", is_error: true },
        { type: "text", text: "Go on", cache_control: { type: "ephemeral" } },
      ],
    },
  ]);
});

test("images go to both, as data URL and as base64", () => {
  const prompt: LanguageModelV4Prompt = [{ role: "user", content: [{ type: "text", text: "look" }, image] }];
  expect(openAi({ prompt }).messages[0].content).toEqual([
    { type: "text", text: "look" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
  ]);
  expect(anthropic({ prompt }).messages[0].content[1]).toMatchObject({
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "AQID" },
  });
});

test("a file of another kind is refused by its type and name", () => {
  const file: LanguageModelV4FilePart = { ...image, mediaType: "application/pdf", filename: "plan.pdf" };
  const prompt: LanguageModelV4Prompt = [{ role: "user", content: [file] }];
  for (const write of [openAi, anthropic])
    expect(() => write({ prompt })).toThrow(/application\/pdf.*plan\.pdf/);
});

const note = {
  type: "function",
  name: "note",
  description: "Notes.",
  inputSchema: { type: "object" },
} as const;
const choices = [
  [{ type: "auto" }, "auto", { type: "auto" }],
  [{ type: "none" }, "none", { type: "none" }],
  [{ type: "required" }, "required", { type: "any" }],
  [
    { type: "tool", toolName: "note" },
    { type: "function", function: { name: "note" } },
    { type: "tool", name: "note" },
  ],
] as const;

test.each(choices)(
  "tools and the choice %j are written in each format",
  (toolChoice, openAiChoice, anthropicChoice) => {
    expect(openAi({ tools: [note], toolChoice })).toMatchObject({
      tools: [
        {
          type: "function",
          function: { name: "note", description: "Notes.", parameters: { type: "object" } },
        },
      ],
      tool_choice: openAiChoice,
    });
    expect(anthropic({ tools: [note], toolChoice })).toMatchObject({
      tools: [{ name: "note", description: "Notes.", input_schema: { type: "object" } }],
      tool_choice: anthropicChoice,
    });
  },
);

test("without tools there is no tool choice", () => {
  expect(openAi({ toolChoice: { type: "auto" } })).not.toHaveProperty("tool_choice");
  expect(anthropic({ toolChoice: { type: "auto" } })).not.toHaveProperty("tool_choice");
});

test("OpenAI's own server gets its name for the token limit, and its reasoning models no temperature", () => {
  const options = { maxOutputTokens: 10, temperature: 0.5 };
  expect(openAi(options)).toMatchObject({ max_tokens: 10, temperature: 0.5 });
  const own = { provider: "openai", modelId: "gpt-5-mini", isOpenAi: true };
  const { body, warnings } = writeOpenAiRequest({ prompt: HELLO, ...options }, own);
  expect(JSON.parse(body)).toMatchObject({ max_completion_tokens: 10 });
  expect(JSON.parse(body)).not.toHaveProperty("temperature");
  expect(warnings).toMatchObject([{ feature: "temperature" }]);
});

test("Anthropic always gets a token limit", () => {
  expect(anthropic({}).max_tokens).toBe(8192);
  expect(anthropic({}, "claude-3-haiku-20240307").max_tokens).toBe(4096);
  expect(anthropic({ maxOutputTokens: 100 }).max_tokens).toBe(100);
});

test.each([
  ["claude-sonnet-4-5-20250929", { thinking: { type: "enabled", budget_tokens: 4096 } }],
  ["claude-sonnet-4-20250514", { thinking: { type: "enabled", budget_tokens: 4096 } }],
  ["claude-opus-4-6", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
  ["claude-sonnet-5", { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
])("reasoning of %s is asked for as it understands it", (modelId, expected) => {
  expect(anthropic({ reasoning: "high", temperature: 0 }, modelId)).toMatchObject(expected);
  expect(anthropic({ reasoning: "high", temperature: 0 }, modelId)).not.toHaveProperty("temperature");
});

test("empty texts, which Anthropic refuses, are left out", () => {
  const { messages } = anthropic({
    prompt: [...HELLO, { role: "assistant", content: [{ type: "text", text: "" }] }, ...HELLO],
  });
  expect(messages).toHaveLength(1);
});

test("options meant for a provider are passed through, but cannot change what is asked", () => {
  const providerOptions = {
    local: { top_logprobs: 1, model: "other", stream: false },
    anthropic: { metadata: { user_id: "u" }, model: "other" },
  };
  expect(openAi({ providerOptions })).toMatchObject({ top_logprobs: 1, model: "m", stream: true });
  expect(anthropic({ providerOptions })).toMatchObject({ metadata: { user_id: "u" }, model: "claude-x" });
});

test("a JSON answer is asked for by schema", () => {
  const schema = { type: "object" } as const;
  expect(openAi({ responseFormat: { type: "json", schema } }).response_format).toEqual({
    type: "json_schema",
    json_schema: { name: "response", schema },
  });
});

test.each([
  [{ type: "text", value: "a" }, "a"],
  [{ type: "json", value: [1] }, "[1]"],
  [{ type: "error-text", value: "e" }, "e"],
  [{ type: "error-json", value: { e: 1 } }, '{"e":1}'],
  [{ type: "execution-denied" }, "Denied."],
  [{ type: "execution-denied", reason: "no" }, "Denied: no"],
  [
    {
      type: "content",
      value: [
        { type: "text", text: "a" },
        { type: "file", mediaType: "image/png", data: { type: "data", data: "" } },
        { type: "custom" },
      ],
    },
    "a\n[file of type image/png]\n[content of a kind this model cannot read]",
  ],
] as const)("a tool output %j is read as %j", (output, text) => {
  expect(toolOutputText(output as Parameters<typeof toolOutputText>[0])).toBe(text);
});

test.each([
  [{ x: 1 }, { x: 1 }],
  ['{"x":1}', { x: 1 }],
  ["", {}],
  [undefined, {}],
  ["[1]", { malformed_input: "[1]" }],
  ["{", { malformed_input: "{" }],
  [7, { malformed_input: 7 }],
])("the input %j is sent back as %j", (input, expected) => {
  expect(toolInput(input)).toEqual(expected);
});

test("a model behind OpenRouter that caches only on request is asked to", () => {
  expect(openAi({}, { ...target, asksForCache: true }).cache_control).toEqual({ type: "ephemeral" });
  expect(openAi({})).not.toHaveProperty("cache_control");
});
