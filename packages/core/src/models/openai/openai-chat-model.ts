import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { isRecord } from "../../schema/json-object.ts";
import { isCompleteJson, readCount } from "../wire/json.ts";
import { type Fields, type GrowingCall, ModelReplyReader } from "../wire/model-reply-reader.ts";
import { imageOrText, listFunctionTools, toolInput, toolOutputText } from "../wire/prompt-parts.ts";
import { createWireModel, type WireModel, type WireRequest, type WireSettings } from "../wire/wire-model.ts";

/** A model behind OpenAI's chat completions, as OpenAI, OpenRouter, DeepSeek, vLLM, llama.cpp, Ollama and LM Studio serve it. */
export function createOpenAiChatModel(settings: WireSettings): WireModel {
  const base = settings.baseUrl.replace(/\/+$/, "");
  const { provider, modelId } = settings;
  const host = URL.parse(base)?.hostname;
  const isOpenAi = host === "api.openai.com";
  const asksForCache = host === "openrouter.ai" && modelId.startsWith("anthropic/");
  return createWireModel(settings, {
    url: `${base}/chat/completions`,
    modelsUrl: `${base}/models`,
    key: settings.apiKey && { authorization: `Bearer ${settings.apiKey}` },
    write: (options) => writeOpenAiRequest(options, { provider, modelId, isOpenAi, asksForCache }),
    reader: (options, call, emit) => new OpenAiReader(options.prompt, call, emit),
  });
}

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
  };
  const tools = writeTools(options, warnings);
  if (tools !== "") body.tool_choice = toolChoice(options.toolChoice);
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
  const text = JSON.stringify(body).slice(0, -1);
  const messages = writeMessages(options.prompt, target.provider);
  return { body: `${text},"messages":[${messages}]${tools === "" ? "" : `,"tools":[${tools}]`}}`, warnings };
}

/** System prompts as JSON: the runs of one agent send the same long text with every call. */
const writtenPrompts = new Map<string, string>();
const KEPT_PROMPTS = 64;

/** The messages as JSON, without the brackets around them. */
function writeMessages(prompt: LanguageModelV4CallOptions["prompt"], provider: string): string {
  const [first, ...others] = prompt;
  if (first?.role !== "system") return JSON.stringify(toWireMessages(prompt, provider)).slice(1, -1);
  let written = writtenPrompts.get(first.content);
  if (written === undefined) {
    written = JSON.stringify({ role: "system", content: first.content });
    if (writtenPrompts.size >= KEPT_PROMPTS) writtenPrompts.clear();
    writtenPrompts.set(first.content, written);
  }
  return [written, JSON.stringify(toWireMessages(others, provider)).slice(1, -1)].filter(Boolean).join(",");
}

function toWireMessages(messages: readonly LanguageModelV4Message[], provider: string): unknown[] {
  return messages.flatMap((message) => wireMessages(message, provider));
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

/** Tools are the same objects in every request, and often most of it. */
const writtenTools = new WeakMap<LanguageModelV4FunctionTool, string>();

/** The tools as JSON, without the brackets around them. */
function writeTools(options: LanguageModelV4CallOptions, warnings: WireRequest["warnings"]): string {
  return listFunctionTools(options, warnings)
    .map((tool) => {
      const text = writtenTools.get(tool) ?? writeTool(tool);
      writtenTools.set(tool, text);
      return text;
    })
    .join(",");
}

function writeTool({ name, description, inputSchema, strict }: LanguageModelV4FunctionTool): string {
  return JSON.stringify({
    type: "function",
    function: { name, description, parameters: inputSchema, strict },
  });
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

/** The fields in which servers stream a model's reasoning. */
const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

/**
 * Reads a chat completion. It is complete at `[DONE]`, or, from servers that leave that out, when the body ends after a
 * finish reason.
 */
export class OpenAiReader extends ModelReplyReader {
  readonly #byIndex = new Map<number, GrowingCall>();
  #finishReason: string | undefined;
  #usage: Fields | undefined;

  event(data: string): boolean {
    if (data.startsWith("[DONE]")) {
      this.#complete();
      return true;
    }
    this.#chunk(this.parse(data), "delta");
    return false;
  }

  document(text: string): void {
    this.#chunk(this.parse(text), "message");
    this.#complete();
  }

  override end(error: Error | undefined): void {
    if (this.#finishReason === undefined) throw error ?? this.incomplete();
    this.#complete();
  }

  #chunk(chunk: Fields, content: "delta" | "message"): void {
    this.refuseErrors(chunk);
    this.begin(chunk.id, chunk.model);
    if (isRecord(chunk.usage)) this.#usage = chunk.usage;
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isRecord(choice)) return;
    this.refuseErrors(choice);
    if (isRecord(choice[content])) this.#delta(choice[content]);
    if (typeof choice.finish_reason === "string") this.#finishReason = choice.finish_reason;
  }

  #delta(delta: Fields): void {
    for (const field of REASONING_FIELDS) {
      const text = delta[field];
      if (typeof text !== "string" || text === "") continue;
      this.blocks.add("reasoning", text);
      this.blocks.remember({ [this.call.provider]: { field } });
      break;
    }
    const text = delta.content ?? delta.refusal;
    if (typeof text === "string" && text !== "") this.blocks.add("text", text);
    if (!Array.isArray(delta.tool_calls)) return;
    for (const piece of delta.tool_calls) if (isRecord(piece)) this.#toolPiece(piece);
  }

  #toolPiece(piece: Fields): void {
    this.blocks.close();
    const details = isRecord(piece.function) ? piece.function : piece;
    const name = typeof details.name === "string" ? details.name : "";
    const id = typeof piece.id === "string" || typeof piece.id === "number" ? String(piece.id) : "";
    const input = inputText(details.arguments);
    const index = readCount(piece.index);
    let call = this.#knownCall(index, id, name);
    if (!call || startsAnother(call, { id, name, input })) {
      call = this.calls.start(id, name);
      if (index !== undefined) this.#byIndex.set(index, call);
    }
    this.calls.append(call, input);
  }

  /** The call a piece belongs to: by index, else by id, else, for a piece that names no tool, the last one. */
  #knownCall(index: number | undefined, id: string, name: string): GrowingCall | undefined {
    if (index !== undefined) return this.#byIndex.get(index);
    const known = id === "" ? this.calls.last : this.calls.bySentId(id);
    return known ?? (name === "" ? this.calls.last : undefined);
  }

  #complete(): void {
    const onlyText = this.calls.count === 0 && this.blocks.count > 0;
    if (this.#finishReason === undefined && !onlyText) throw this.incomplete();
    this.finish(this.#finishReason, openAiUsage(this.#usage));
  }
}

/**
 * Some servers give all calls one index or one id. A piece that names a tool starts another call if its id differs, or if
 * it brings input although the call before has a complete one. Without a name it continues, whatever its id.
 */
function startsAnother(call: GrowingCall, piece: { id: string; name: string; input: string }): boolean {
  if (piece.name === "") return false;
  if (piece.id !== "" && call.sentId !== "" && piece.id !== call.sentId) return true;
  return piece.input !== "" && isCompleteJson(call.input);
}

/** Most servers send pieces of JSON text, a few the finished object. */
function inputText(input: unknown): string {
  if (typeof input === "string") return input;
  return isRecord(input) ? JSON.stringify(input) : "";
}

/** Counts as the server gave them; what it did not give is undefined. */
export function openAiUsage(usage: Fields | undefined): LanguageModelV4Usage {
  const input = readCount(usage?.prompt_tokens);
  const output = readCount(usage?.completion_tokens);
  const inputDetails = isRecord(usage?.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const outputDetails = isRecord(usage?.completion_tokens_details) ? usage.completion_tokens_details : {};
  const cacheRead = readCount(inputDetails.cached_tokens) ?? readCount(usage?.prompt_cache_hit_tokens);
  const cacheWrite = readCount(inputDetails.cache_write_tokens);
  const reasoning = readCount(outputDetails.reasoning_tokens);
  const total = withReasoning(output, reasoning, { input, all: readCount(usage?.total_tokens) });
  const noCache = less(input, (cacheRead ?? 0) + (cacheWrite ?? 0));
  return {
    inputTokens: { total: input, noCache, cacheRead, cacheWrite },
    outputTokens: { total, text: less(total, reasoning), reasoning },
  };
}

/** OpenAI counts reasoning within the completion; some servers count it apart, which their total tells. */
function withReasoning(
  output: number | undefined,
  reasoning: number | undefined,
  { input, all }: { input: number | undefined; all: number | undefined },
): number | undefined {
  if (output === undefined || input === undefined || !reasoning) return output;
  return all === input + output + reasoning ? output + reasoning : output;
}

function less(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined ? undefined : Math.max(0, total - (part ?? 0));
}
