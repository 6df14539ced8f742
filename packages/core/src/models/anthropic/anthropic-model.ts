import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { isRecord } from "../../schema/json-object.ts";
import { brokenReply } from "../model-error.ts";
import { readCount, readString } from "../wire/json.ts";
import { type Fields, type GrowingCall, ModelReplyReader } from "../wire/model-reply-reader.ts";
import {
  imageOrText,
  isToolFailure,
  listFunctionTools,
  toolInput,
  toolOutputText,
} from "../wire/prompt-parts.ts";
import { createWireModel, type WireModel, type WireRequest, type WireSettings } from "../wire/wire-model.ts";

/** A model behind Anthropic's Messages API. */
export function createAnthropicModel(settings: WireSettings): WireModel {
  const base = settings.baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
  return createWireModel(settings, {
    url: `${base}/v1/messages`,
    modelsUrl: `${base}/v1/models`,
    key: { "anthropic-version": "2023-06-01", ...(settings.apiKey && { "x-api-key": settings.apiKey }) },
    write: (options) => writeAnthropicRequest(options, settings.modelId),
    reader: (options, call, emit) => new AnthropicReader(options.prompt, call, emit),
  });
}

type Block = { type: string; cache_control?: { type: "ephemeral" } } & Record<string, unknown>;
type WireMessage = { role: "user" | "assistant"; content: Block[] };
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

const DEFAULT_MAX_TOKENS = 8192;
const CLAUDE_3_MAX_TOKENS = 4096;
const THINKING_TOKENS = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
} as const;

/** Writes a Messages request. Options of `providerOptions.anthropic` are passed through. */
export function writeAnthropicRequest(options: LanguageModelV4CallOptions, modelId: string): WireRequest {
  const warnings: WireRequest["warnings"] = [];
  const { system, messages } = convertPrompt(options.prompt);
  const maxTokens = options.maxOutputTokens ?? defaultMaxTokens(modelId);
  const thinking = writeThinking(options.reasoning, modelId, maxTokens);
  const body: Record<string, unknown> = {
    ...options.providerOptions?.anthropic,
    model: modelId,
    stream: true,
    max_tokens: maxTokens,
    system: system.length > 0 ? system : undefined,
    stop_sequences: options.stopSequences?.length ? options.stopSequences : undefined,
    ...thinking,
    ...toolFields(options, warnings),
    messages,
  };
  if (thinking) {
    if (options.temperature !== undefined)
      warnings.push({ type: "unsupported", feature: "temperature with reasoning" });
  } else {
    body.temperature =
      options.temperature === undefined ? undefined : Math.min(1, Math.max(0, options.temperature));
    body.top_p = options.topP;
    body.top_k = options.topK;
  }
  for (const feature of ["seed", "presencePenalty", "frequencyPenalty"] as const) {
    if (options[feature] !== undefined) warnings.push({ type: "unsupported", feature });
  }
  if (options.responseFormat?.type === "json")
    warnings.push({ type: "unsupported", feature: "responseFormat" });
  return { body: JSON.stringify(body), warnings };
}

function defaultMaxTokens(modelId: string): number {
  return /claude-3-(haiku|opus|sonnet)/.test(modelId) ? CLAUDE_3_MAX_TOKENS : DEFAULT_MAX_TOKENS;
}

/** Models up to 4.5 take a budget of thinking tokens, later ones an effort. */
function writeThinking(
  reasoning: LanguageModelV4CallOptions["reasoning"],
  modelId: string,
  maxTokens: number,
): Record<string, unknown> | undefined {
  if (reasoning === undefined || reasoning === "provider-default" || reasoning === "none") return undefined;
  if (!/claude-(3|(opus|sonnet|haiku)-4(-[015]\b|-20|$))/.test(modelId)) {
    const effort = reasoning === "minimal" ? "low" : reasoning;
    return { thinking: { type: "adaptive" }, output_config: { effort } };
  }
  const budget = Math.min(THINKING_TOKENS[reasoning], Math.floor(maxTokens / 2));
  return budget < 1024 ? undefined : { thinking: { type: "enabled", budget_tokens: budget } };
}

function toolFields(
  options: LanguageModelV4CallOptions,
  warnings: WireRequest["warnings"],
): Record<string, unknown> {
  const tools = listFunctionTools(options, warnings).map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: { type: "object", ...inputSchema },
  }));
  if (tools.length === 0) return {};
  const choice = options.toolChoice;
  if (!choice) return { tools };
  if (choice.type === "tool") return { tools, tool_choice: { type: "tool", name: choice.toolName } };
  return { tools, tool_choice: { type: choice.type === "required" ? "any" : choice.type } };
}

/**
 * System texts go into a field of their own; tool results and user texts in a row become one user message, as the API wants it. The end of
 * the system text and of the conversation are marked for caching, so that each turn pays only for what is new.
 */
export function convertPrompt(prompt: LanguageModelV4Prompt): { system: Block[]; messages: WireMessage[] } {
  const system: Block[] = [];
  const messages: WireMessage[] = [];
  for (const message of prompt) {
    if (message.role === "system") {
      if (message.content !== "") system.push({ type: "text", text: message.content });
      continue;
    }
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = writeBlocks(message);
    if (blocks.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: blocks });
  }
  markForCache(system);
  markForCache(messages.at(-1)?.content ?? []);
  return { system, messages };
}

function markForCache(blocks: Block[]): void {
  const block = blocks.findLast(({ type }) => type !== "thinking" && type !== "redacted_thinking");
  if (block) block.cache_control = { type: "ephemeral" };
}

function writeBlocks(message: Exclude<LanguageModelV4Message, { role: "system" }>): Block[] {
  if (message.role === "assistant") return message.content.flatMap(assistantBlocks);
  if (message.role === "tool") {
    return message.content
      .filter((part) => part.type === "tool-result")
      .map((part) => ({
        type: "tool_result",
        tool_use_id: wireId(part.toolCallId),
        content: toolOutputText(part.output) || "(no output)",
        ...(isToolFailure(part.output) && { is_error: true }),
      }));
  }
  return message.content.flatMap((part): Block[] => {
    const value = part.type === "text" ? part.text : imageOrText(part);
    if (typeof value === "string") return value.trim() === "" ? [] : [{ type: "text", text: value }];
    const source =
      "url" in value
        ? { type: "url", url: value.url }
        : { type: "base64", media_type: value.mediaType, data: value.base64 };
    return [{ type: "image", source }];
  });
}

/** Thinking goes back only with the signature it came with; without one the API refuses it. */
function assistantBlocks(part: AssistantPart): Block[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type === "tool-call") {
    return [
      { type: "tool_use", id: wireId(part.toolCallId), name: part.toolName, input: toolInput(part.input) },
    ];
  }
  if (part.type !== "reasoning") return [];
  const { signature, redactedData } = part.providerOptions?.anthropic ?? {};
  if (typeof redactedData === "string") return [{ type: "redacted_thinking", data: redactedData }];
  return typeof signature === "string" ? [{ type: "thinking", thinking: part.text, signature }] : [];
}

/** Ids that another provider gave may hold characters this API refuses. */
function wireId(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, "_");
}

/** Reads a reply of the Messages API. It is complete at `message_stop` and nowhere else. */
export class AnthropicReader extends ModelReplyReader {
  readonly #openCalls = new Map<unknown, GrowingCall>();
  #stopReason: string | undefined;
  #usage: Fields = {};
  #signature = "";

  event(data: string): boolean {
    return this.#take(this.parse(data));
  }

  document(text: string): void {
    const message = this.parse(text);
    if (message.type === "error" || message.error) throw this.failure(message);
    if (!Array.isArray(message.content)) throw brokenReply(this.call, "the reply has no content");
    this.#take({ type: "message_start", message });
    for (const [index, block] of message.content.entries()) {
      this.#take({ type: "content_block_start", index, content_block: block });
      this.#take({ type: "content_block_stop", index });
    }
    this.#take({ type: "message_delta", delta: message });
    this.#complete();
  }

  /** Events of a type this reader does not know are new kinds of news, and pass unread. */
  #take(event: Fields): boolean {
    switch (event.type) {
      case "message_start":
        this.#start(event.message);
        break;
      case "content_block_start":
        this.#startBlock(event.index, event.content_block);
        break;
      case "content_block_delta":
        this.#delta(event.index, event.delta);
        break;
      case "content_block_stop":
        this.#stopBlock(event.index);
        break;
      case "message_delta":
        this.#messageDelta(event);
        break;
      case "message_stop":
        this.#complete();
        return true;
      case "ping":
        this.ping();
        break;
      case "error":
        throw this.failure(event);
    }
    return false;
  }

  #start(message: unknown): void {
    if (!isRecord(message)) return;
    if (isRecord(message.usage)) this.#usage = { ...message.usage };
    this.begin(message.id, message.model);
  }

  #startBlock(index: unknown, block: unknown): void {
    if (!isRecord(block)) return;
    this.blocks.close();
    this.#signature = "";
    if (block.type === "text") this.blocks.add("text", readString(block.text));
    if (block.type === "thinking") {
      this.blocks.add("reasoning", readString(block.thinking));
      this.#sign(readString(block.signature));
    }
    if (block.type === "redacted_thinking") {
      this.blocks.open("reasoning");
      this.blocks.remember({ anthropic: { redactedData: readString(block.data) } });
    }
    if (block.type === "tool_use") {
      const call = this.calls.start(readString(block.id), readString(block.name));
      this.#openCalls.set(index, call);
      if (isRecord(block.input) && Object.keys(block.input).length > 0) {
        this.calls.append(call, JSON.stringify(block.input));
      }
    }
  }

  #delta(index: unknown, delta: unknown): void {
    if (!isRecord(delta)) return;
    if (delta.type === "text_delta") this.blocks.add("text", readString(delta.text));
    if (delta.type === "thinking_delta") this.blocks.add("reasoning", readString(delta.thinking));
    if (delta.type === "signature_delta") this.#sign(readString(delta.signature));
    if (delta.type === "input_json_delta") {
      const call = this.#openCalls.get(index);
      if (call) this.calls.append(call, readString(delta.partial_json));
    }
  }

  #sign(signature: string): void {
    this.#signature += signature;
    if (this.#signature) this.blocks.remember({ anthropic: { signature: this.#signature } });
  }

  #stopBlock(index: unknown): void {
    this.blocks.close();
    const call = this.#openCalls.get(index);
    if (call) this.calls.close(call);
    this.#openCalls.delete(index);
  }

  /** Counts in `message_delta` are totals so far, so they replace those of the start. */
  #messageDelta(event: Fields): void {
    if (isRecord(event.delta) && typeof event.delta.stop_reason === "string")
      this.#stopReason = event.delta.stop_reason;
    if (!isRecord(event.usage)) return;
    for (const [name, value] of Object.entries(event.usage))
      if (readCount(value) !== undefined) this.#usage[name] = value;
  }

  #complete(): void {
    if (!this.hasBegun) throw brokenReply(this.call, "the reply has no beginning");
    this.finish(this.#stopReason, anthropicUsage(this.#usage));
  }
}

/** The API counts cached input apart; the total is the sum. */
export function anthropicUsage(usage: Fields): LanguageModelV4Usage {
  const noCache = readCount(usage.input_tokens);
  const cacheRead = readCount(usage.cache_read_input_tokens);
  const cacheWrite = readCount(usage.cache_creation_input_tokens);
  const output = readCount(usage.output_tokens);
  const total = noCache === undefined ? undefined : noCache + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
