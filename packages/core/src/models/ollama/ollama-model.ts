import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { TransportError } from "../../schema/transport.ts";
import { brokenReply, type CallContext, ModelError } from "../model-error.ts";
import { complaintIn, errorOfComplaint } from "../wire/classify-error.ts";
import { endsWhole, readFinishReason } from "../wire/finish-reason.ts";
import { countOf, isRecord, stringOf } from "../wire/json.ts";
import { imageOrText, toolInput, toolOutputText } from "../wire/prompt-parts.ts";
import { type Emit, parsePayload, type WireReader } from "../wire/read-reply.ts";
import { TextBlocks } from "../wire/text-blocks.ts";
import { ToolCalls } from "../wire/tool-calls.ts";
import {
  createWireModel,
  type StreamingModel,
  type WireRequest,
  type WireSettings,
} from "../wire/wire-model.ts";
import { ollamaUrl } from "./ollama-url.ts";

/** A model behind Ollama's own chat API. */
export function createOllamaModel(settings: WireSettings): StreamingModel {
  const base = ollamaUrl(settings.baseUrl);
  const { provider, modelId } = settings;
  return createWireModel(settings, {
    url: `${base}/api/chat`,
    modelsUrl: `${base}/api/tags`,
    headers: {
      "content-type": "application/json",
      accept: "application/x-ndjson",
      ...(settings.apiKey && { authorization: `Bearer ${settings.apiKey}` }),
      ...settings.headers,
    },
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

type Fields = Record<string, unknown>;

const INCOMPLETE = "the stream ended before the reply was complete";

/** Reads a reply of `/api/chat`, one JSON object per line. It is complete at the line that says `done`. */
export class OllamaReader implements WireReader {
  readonly payloadPerLine = true;
  readonly #call: CallContext;
  readonly #emit: Emit;
  readonly #blocks: TextBlocks;
  readonly #calls: ToolCalls;
  #started = false;

  constructor(prompt: LanguageModelV4Prompt, call: CallContext, emit: Emit) {
    this.#call = call;
    this.#emit = emit;
    this.#blocks = new TextBlocks(emit);
    this.#calls = new ToolCalls(prompt, emit);
  }

  event(data: string): boolean {
    const line = parsePayload(data, this.#call);
    if (line.error) throw errorOfComplaint(complaintIn(line), this.#call);
    if (isRecord(line.message)) {
      if (!this.#started) this.#start(line);
      this.#message(line.message);
    }
    if (line.done !== true) return false;
    if (!this.#started) throw brokenReply(this.#call, "the reply has no message");
    this.#finish(line);
    return true;
  }

  ping(): void {
    this.#emit({ type: "ping" });
  }

  document(text: string): void {
    if (!this.event(text)) throw brokenReply(this.#call, INCOMPLETE);
  }

  end(error: TransportError | undefined): void {
    throw error ?? brokenReply(this.#call, INCOMPLETE);
  }

  #start(line: Fields): void {
    this.#started = true;
    this.#emit({
      type: "response-metadata",
      ...(typeof line.model === "string" && { modelId: line.model }),
    });
  }

  #message(message: Fields): void {
    const thinking = stringOf(message.thinking);
    if (thinking !== "") {
      this.#blocks.add("reasoning", thinking);
      this.#blocks.remember({ [this.#call.provider]: { field: "thinking" } });
    }
    const text = stringOf(message.content);
    if (text !== "") this.#blocks.add("text", text);
    if (!Array.isArray(message.tool_calls)) return;
    for (const call of message.tool_calls) if (isRecord(call)) this.#toolCall(call);
  }

  #toolCall(sent: Fields): void {
    this.#blocks.close();
    const details = isRecord(sent.function) ? sent.function : sent;
    const call = this.#calls.start(stringOf(sent.id), stringOf(details.name));
    this.#calls.append(call, inputText(details.arguments));
    this.#calls.close(call);
  }

  #finish(line: Fields): void {
    this.#blocks.close();
    const finishReason = readFinishReason(stringOf(line.done_reason), this.#calls.count > 0);
    this.#calls.finish(endsWhole(finishReason.unified));
    this.#emit({ type: "finish", finishReason, usage: ollamaUsage(line) });
  }
}

/** Input comes as an object; anything else is what the model made of it, and is passed on as it is. */
function inputText(input: unknown): string {
  if (input === undefined || input === null) return "";
  return typeof input === "string" ? input : JSON.stringify(input);
}

/** Thinking is part of `eval_count`; how much of the prompt came from a cache is not told. */
export function ollamaUsage(line: Fields): LanguageModelV4Usage {
  const input = countOf(line.prompt_eval_count);
  const output = countOf(line.eval_count);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
