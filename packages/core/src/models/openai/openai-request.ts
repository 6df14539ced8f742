import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { imageOrText, toolInput, toolOutputText } from "../wire/prompt-parts.ts";
import type { WireRequest } from "../wire/wire-model.ts";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type UserMessage = Extract<LanguageModelV4Message, { role: "user" }>;

/** Which server is spoken to; OpenAI's own has stricter rules than those that imitate it. */
export type OpenAiTarget = {
  provider: string;
  modelId: string;
  isOpenAi: boolean;
  /** The model caches prompts only on request; OpenRouter then moves the mark along with the conversation. */
  asksForCache?: boolean;
};

/** Writes a chat completion request. Options of `providerOptions[provider]` are passed through. */
export function writeOpenAiRequest(options: LanguageModelV4CallOptions, target: OpenAiTarget): WireRequest {
  const warnings: WireRequest["warnings"] = [];
  const body: Record<string, unknown> = {
    ...options.providerOptions?.[target.provider],
    model: target.modelId,
    stream: true,
    stream_options: { include_usage: true },
    [target.isOpenAi ? "max_completion_tokens" : "max_tokens"]: options.maxOutputTokens,
    top_p: options.topP,
    presence_penalty: options.presencePenalty,
    frequency_penalty: options.frequencyPenalty,
    stop: options.stopSequences?.length ? options.stopSequences : undefined,
    seed: options.seed,
    cache_control: target.asksForCache ? { type: "ephemeral" } : undefined,
    reasoning_effort: reasoningEffort(options.reasoning),
    response_format: responseFormat(options.responseFormat),
    tools: tools(options, warnings),
    messages: options.prompt.flatMap((message) => wireMessages(message, target.provider)),
  };
  if (body.tools) body.tool_choice = toolChoice(options.toolChoice);
  if (target.isOpenAi && /^(o\d|gpt-5)/.test(target.modelId) && options.temperature !== undefined) {
    warnings.push({
      type: "unsupported",
      feature: "temperature",
      details: "reasoning models choose their own",
    });
  } else {
    body.temperature = options.temperature;
  }
  if (options.topK !== undefined) warnings.push({ type: "unsupported", feature: "topK" });
  return { body: JSON.stringify(body), warnings };
}

function wireMessages(message: LanguageModelV4Message, provider: string): unknown[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [{ role: "user", content: userContent(message) }];
    case "assistant":
      return [assistantMessage(message, provider)];
    case "tool":
      return message.content
        .filter((part) => part.type === "tool-result")
        .map((part) => ({
          role: "tool",
          tool_call_id: part.toolCallId,
          content: toolOutputText(part.output),
        }));
  }
}

/** Plain text stays a string: some servers know no other form. */
function userContent(message: UserMessage): unknown {
  const parts = message.content.map((part) => (part.type === "text" ? part.text : imageOrText(part)));
  const texts = parts.filter((part) => typeof part === "string");
  if (texts.length === parts.length) return texts.join("\n");
  return parts.map((part) => {
    if (typeof part === "string") return { type: "text", text: part };
    const url = "url" in part ? part.url : `data:${part.mediaType};base64,${part.base64}`;
    return { type: "image_url", image_url: { url } };
  });
}

function assistantMessage(message: AssistantMessage, provider: string): unknown {
  let text = "";
  const calls: unknown[] = [];
  const reasoning: Record<string, string> = {};
  for (const part of message.content) {
    if (part.type === "text") text += part.text;
    if (part.type === "tool-call") {
      const written = { name: part.toolName, arguments: JSON.stringify(toolInput(part.input)) };
      calls.push({ id: part.toolCallId, type: "function", function: written });
    }
    if (part.type === "reasoning") {
      const field = part.providerOptions?.[provider]?.field;
      if (typeof field === "string") reasoning[field] = (reasoning[field] ?? "") + part.text;
    }
  }
  if (calls.length === 0) return { role: "assistant", content: text };
  // Thinking models of DeepSeek and others want their reasoning back within a chain of tool calls, and only there.
  return { role: "assistant", content: text === "" ? null : text, ...reasoning, tool_calls: calls };
}

function tools(
  options: LanguageModelV4CallOptions,
  warnings: WireRequest["warnings"],
): unknown[] | undefined {
  const written: unknown[] = [];
  for (const tool of options.tools ?? []) {
    if (tool.type === "provider") {
      warnings.push({ type: "unsupported", feature: `provider tool ${tool.id}` });
      continue;
    }
    const { name, description, inputSchema: parameters, strict } = tool;
    written.push({ type: "function", function: { name, description, parameters, strict } });
  }
  return written.length > 0 ? written : undefined;
}

function toolChoice(choice: LanguageModelV4CallOptions["toolChoice"]): unknown {
  if (choice?.type === "tool") return { type: "function", function: { name: choice.toolName } };
  return choice?.type;
}

function reasoningEffort(reasoning: LanguageModelV4CallOptions["reasoning"]): string | undefined {
  if (reasoning === undefined || reasoning === "provider-default") return undefined;
  return reasoning === "max" ? "xhigh" : reasoning;
}

function responseFormat(format: LanguageModelV4CallOptions["responseFormat"]): unknown {
  if (format?.type !== "json") return undefined;
  if (!format.schema) return { type: "json_object" };
  const { schema, description } = format;
  return { type: "json_schema", json_schema: { name: format.name ?? "response", description, schema } };
}
