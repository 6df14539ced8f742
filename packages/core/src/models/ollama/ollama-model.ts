import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { isRecord } from "../../schema/json-object.ts";
import { brokenReply, ModelError } from "../model-error.ts";
import { readCount, readString } from "../wire/json.ts";
import { type Fields, ModelReplyReader } from "../wire/model-reply-reader.ts";
import { imageOrText, listFunctionTools, toolInput, toolOutputText } from "../wire/prompt-parts.ts";
import { createWireModel, type WireModel, type WireRequest, type WireSettings } from "../wire/wire-model.ts";
import { ollamaUrl } from "./ollama-url.ts";

/** A model behind Ollama's own chat API. */
export function createOllamaModel(settings: WireSettings): WireModel {
  const base = ollamaUrl(settings.baseUrl);
  const { provider, modelId } = settings;
  return createWireModel(settings, {
    url: `${base}/api/chat`,
    modelsUrl: `${base}/api/tags`,
    key: settings.apiKey && { authorization: `Bearer ${settings.apiKey}` },
    accept: "application/x-ndjson",
    write: (options) => writeOllamaRequest(options, { provider, modelId }),
    reader: (options, call, emit) => new OllamaReader(options.prompt, call, emit),
  });
}

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
    think: writeThinking(options.reasoning, target.modelId),
    format: writeFormat(options.responseFormat),
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
function writeThinking(reasoning: LanguageModelV4CallOptions["reasoning"], modelId: string): unknown {
  if (reasoning === undefined || reasoning === "provider-default") return undefined;
  if (!/gpt-oss/.test(modelId)) return reasoning !== "none";
  if (reasoning === "none" || reasoning === "minimal" || reasoning === "low") return "low";
  return reasoning === "medium" ? "medium" : "high";
}

function writeFormat(format: LanguageModelV4CallOptions["responseFormat"]): unknown {
  return format?.type === "json" ? (format.schema ?? "json") : undefined;
}

/** The API has no way to forbid calls but to offer no tools. */
function tools(
  options: LanguageModelV4CallOptions,
  warnings: WireRequest["warnings"],
): unknown[] | undefined {
  if (options.toolChoice?.type === "none") return undefined;
  const written = listFunctionTools(options, warnings).map(
    ({ name, description, inputSchema: parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    }),
  );
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

/** Reads a reply of `/api/chat`, one JSON object per line. It is complete at the line that says `done`. */
export class OllamaReader extends ModelReplyReader {
  readonly payloadPerLine = true;

  event(data: string): boolean {
    const line = this.parse(data);
    this.refuseErrors(line);
    if (isRecord(line.message)) {
      this.begin(undefined, line.model);
      this.#message(line.message);
    }
    if (line.done !== true) return false;
    if (!this.hasBegun) throw brokenReply(this.call, "the reply has no message");
    this.finish(readString(line.done_reason), ollamaUsage(line));
    return true;
  }

  document(text: string): void {
    if (!this.event(text)) throw this.incomplete();
  }

  #message(message: Fields): void {
    const thinking = readString(message.thinking);
    if (thinking !== "") {
      this.blocks.add("reasoning", thinking);
      this.blocks.remember({ [this.call.provider]: { field: "thinking" } });
    }
    const text = readString(message.content);
    if (text !== "") this.blocks.add("text", text);
    if (!Array.isArray(message.tool_calls)) return;
    for (const call of message.tool_calls) if (isRecord(call)) this.#toolCall(call);
  }

  #toolCall(sent: Fields): void {
    const details = isRecord(sent.function) ? sent.function : sent;
    this.addWholeCall({ id: readString(sent.id), name: readString(details.name), input: details.arguments });
  }
}

/** Thinking is part of `eval_count`; how much of the prompt came from a cache is not told. */
export function ollamaUsage(line: Fields): LanguageModelV4Usage {
  const input = readCount(line.prompt_eval_count);
  const output = readCount(line.eval_count);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
