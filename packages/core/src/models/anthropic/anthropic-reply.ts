import type { LanguageModelV4Prompt, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TransportError } from "../../schema/transport.ts";
import type { CallContext } from "../model-error.ts";
import { brokenReply } from "../model-error.ts";
import { complaintIn, errorOfComplaint } from "../wire/classify-error.ts";
import { endsWhole, readFinishReason } from "../wire/finish-reason.ts";
import { countOf, isRecord, stringOf } from "../wire/json.ts";
import type { Emit, WireReader } from "../wire/read-reply.ts";
import { parsePayload } from "../wire/read-reply.ts";
import { TextBlocks } from "../wire/text-blocks.ts";
import type { GrowingCall } from "../wire/tool-calls.ts";
import { ToolCalls } from "../wire/tool-calls.ts";

type Fields = Record<string, unknown>;

/** Reads a reply of the Messages API. It is complete at `message_stop` and nowhere else. */
export class AnthropicReader implements WireReader {
  readonly #call: CallContext;
  readonly #emit: Emit;
  readonly #blocks: TextBlocks;
  readonly #calls: ToolCalls;
  readonly #openCalls = new Map<unknown, GrowingCall>();
  #stopReason: string | undefined;
  #usage: Fields = {};
  #signature = "";
  #started = false;

  constructor(prompt: LanguageModelV4Prompt, call: CallContext, emit: Emit) {
    this.#call = call;
    this.#emit = emit;
    this.#blocks = new TextBlocks(emit);
    this.#calls = new ToolCalls(prompt, emit);
  }

  event(data: string): boolean {
    return this.#take(parsePayload(data, this.#call));
  }

  ping(): void {
    this.#emit({ type: "ping" });
  }

  document(text: string): void {
    const message = parsePayload(text, this.#call);
    if (message.type === "error" || message.error) throw errorOfComplaint(complaintIn(message), this.#call);
    if (!Array.isArray(message.content)) throw brokenReply(this.#call, "the reply has no content");
    this.#take({ type: "message_start", message });
    for (const [index, block] of message.content.entries()) {
      this.#take({ type: "content_block_start", index, content_block: block });
      this.#take({ type: "content_block_stop", index });
    }
    this.#take({ type: "message_delta", delta: message });
    this.#finish();
  }

  end(error: TransportError | undefined): void {
    throw error ?? brokenReply(this.#call, "the stream ended before the reply was complete");
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
        this.#finish();
        return true;
      case "ping":
        this.ping();
        break;
      case "error":
        throw errorOfComplaint(complaintIn(event), this.#call);
    }
    return false;
  }

  #start(message: unknown): void {
    if (!isRecord(message)) return;
    this.#started = true;
    if (isRecord(message.usage)) this.#usage = { ...message.usage };
    this.#emit({
      type: "response-metadata",
      ...(typeof message.id === "string" && { id: message.id }),
      ...(typeof message.model === "string" && { modelId: message.model }),
    });
  }

  #startBlock(index: unknown, block: unknown): void {
    if (!isRecord(block)) return;
    this.#blocks.close();
    this.#signature = "";
    if (block.type === "text") this.#blocks.add("text", stringOf(block.text));
    if (block.type === "thinking") {
      this.#blocks.add("reasoning", stringOf(block.thinking));
      this.#sign(stringOf(block.signature));
    }
    if (block.type === "redacted_thinking") {
      this.#blocks.open("reasoning");
      this.#blocks.remember({ anthropic: { redactedData: stringOf(block.data) } });
    }
    if (block.type === "tool_use") {
      const call = this.#calls.start(stringOf(block.id), stringOf(block.name));
      this.#openCalls.set(index, call);
      if (isRecord(block.input) && Object.keys(block.input).length > 0) {
        this.#calls.append(call, JSON.stringify(block.input));
      }
    }
  }

  #delta(index: unknown, delta: unknown): void {
    if (!isRecord(delta)) return;
    if (delta.type === "text_delta") this.#blocks.add("text", stringOf(delta.text));
    if (delta.type === "thinking_delta") this.#blocks.add("reasoning", stringOf(delta.thinking));
    if (delta.type === "signature_delta") this.#sign(stringOf(delta.signature));
    if (delta.type === "input_json_delta") {
      const call = this.#openCalls.get(index);
      if (call) this.#calls.append(call, stringOf(delta.partial_json));
    }
  }

  #sign(signature: string): void {
    this.#signature += signature;
    if (this.#signature) this.#blocks.remember({ anthropic: { signature: this.#signature } });
  }

  #stopBlock(index: unknown): void {
    this.#blocks.close();
    const call = this.#openCalls.get(index);
    if (call) this.#calls.close(call);
    this.#openCalls.delete(index);
  }

  /** Counts in `message_delta` are totals so far, so they replace those of the start. */
  #messageDelta(event: Fields): void {
    if (isRecord(event.delta) && typeof event.delta.stop_reason === "string")
      this.#stopReason = event.delta.stop_reason;
    if (!isRecord(event.usage)) return;
    for (const [name, value] of Object.entries(event.usage))
      if (countOf(value) !== undefined) this.#usage[name] = value;
  }

  #finish(): void {
    this.#blocks.close();
    if (!this.#started) throw brokenReply(this.#call, "the reply has no beginning");
    const finishReason = readFinishReason(this.#stopReason, this.#calls.count > 0);
    this.#calls.finish(endsWhole(finishReason.unified));
    this.#emit({ type: "finish", finishReason, usage: anthropicUsage(this.#usage) });
  }
}

/** The API counts cached input apart; the total is the sum. */
export function anthropicUsage(usage: Fields): LanguageModelV4Usage {
  const noCache = countOf(usage.input_tokens);
  const cacheRead = countOf(usage.cache_read_input_tokens);
  const cacheWrite = countOf(usage.cache_creation_input_tokens);
  const output = countOf(usage.output_tokens);
  const total = noCache === undefined ? undefined : noCache + (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite },
    outputTokens: { total: output, text: output, reasoning: undefined },
  };
}
