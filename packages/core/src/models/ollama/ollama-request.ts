import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider";
import { ModelError } from "../model-error.ts";
import { imageOrText, toolInput, toolOutputText } from "../wire/prompt-parts.ts";
import type { WireRequest } from "../wire/wire-model.ts";

type AssistantMessage = Extract<LanguageModelV4Message, { role: "assistant" }>;
type UserMessage = Extract<LanguageModelV4Message, { role: "user" }>;

/** Which model of which provider is asked. */
export type OllamaTarget = { provider: string; modelId: string };

/** Writes a chat request. Options of `providerOptions[provider]` are passed through, those under `options` one by one. */
export function writeOllamaRequest(options: LanguageModelV4CallOptions, target: OllamaTarget): WireRequest {
  const warnings: WireRequest["warnings"] = [];
  const { options: own, ...rest } = options.providerOptions?.[target.provider] ?? {};
  const body = {
    ...rest,
    model: target.modelId,
    stream: true,
    think: thinkOf(options.reasoning, target.modelId),
    format: formatOf(options.responseFormat),
    tools: tools(options, warnings),
    options: {
      ...(typeof own === "object" && own),
      num_predict: options.maxOutputTokens,
      temperature: options.temperature,
      top_p: options.topP,
      top_k: options.topK,
      seed: options.seed,
      presence_penalty: options.presencePenalty,
      frequency_penalty: options.frequencyPenalty,
      stop: options.stopSequences?.length ? options.stopSequences : undefined,
    },
    messages: options.prompt.flatMap((message) => wireMessages(message, target.provider)),
  };
  const choice = options.toolChoice?.type;
  if (choice === "required" || choice === "tool")
    warnings.push({ type: "unsupported", feature: `toolChoice ${choice}` });
  return { body: JSON.stringify(body), warnings };
}

/** Models that cannot think refuse the word, so it is said only when asked for; one family knows levels. */
function thinkOf(reasoning: LanguageModelV4CallOptions["reasoning"], modelId: string): unknown {
  if (reasoning === undefined || reasoning === "provider-default") return undefined;
  if (!/gpt-oss/.test(modelId)) return reasoning !== "none";
  if (reasoning === "none" || reasoning === "minimal" || reasoning === "low") return "low";
  return reasoning === "medium" ? "medium" : "high";
}

function formatOf(format: LanguageModelV4CallOptions["responseFormat"]): unknown {
  return format?.type === "json" ? (format.schema ?? "json") : undefined;
}

/** The API has no way to forbid calls but to offer no tools. */
function tools(
  options: LanguageModelV4CallOptions,
  warnings: WireRequest["warnings"],
): unknown[] | undefined {
  if (options.toolChoice?.type === "none") return undefined;
  const written: unknown[] = [];
  for (const tool of options.tools ?? []) {
    if (tool.type === "provider") {
      warnings.push({ type: "unsupported", feature: `provider tool ${tool.id}` });
      continue;
    }
    const { name, description, inputSchema: parameters } = tool;
    written.push({ type: "function", function: { name, description, parameters } });
  }
  return written.length > 0 ? written : undefined;
}

function wireMessages(message: LanguageModelV4Message, provider: string): unknown[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [userMessage(message)];
    case "assistant":
      return [assistantMessage(message, provider)];
    case "tool":
      return message.content
        .filter((part) => part.type === "tool-result")
        .map((part) => ({ role: "tool", tool_name: part.toolName, content: toolOutputText(part.output) }));
  }
}

function userMessage(message: UserMessage): unknown {
  const texts: string[] = [];
  const images: string[] = [];
  for (const part of message.content) {
    const value = part.type === "text" ? part.text : imageOrText(part);
    if (typeof value === "string") texts.push(value);
    else if ("base64" in value) images.push(value.base64);
    else
      throw new ModelError({ type: "params", message: "Ollama takes images only as data, not by address" });
  }
  return { role: "user", content: texts.join("\n"), ...(images.length > 0 && { images }) };
}

/** Thinking goes back only within a chain of tool calls, where models build on it. */
function assistantMessage(message: AssistantMessage, provider: string): unknown {
  let content = "";
  let thinking = "";
  const calls: unknown[] = [];
  for (const part of message.content) {
    if (part.type === "text") content += part.text;
    if (part.type === "reasoning" && part.providerOptions?.[provider]?.field === "thinking")
      thinking += part.text;
    if (part.type === "tool-call")
      calls.push({ function: { name: part.toolName, arguments: toolInput(part.input) } });
  }
  if (calls.length === 0) return { role: "assistant", content };
  return { role: "assistant", content, ...(thinking && { thinking }), tool_calls: calls };
}
