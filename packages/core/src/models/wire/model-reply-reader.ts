import { randomUUID } from "node:crypto";
import type {
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { isRecord } from "../../schema/json-object.ts";
import type { TransportError } from "../../schema/transport.ts";
import { brokenReply, type CallContext } from "../model-error.ts";
import { createComplaintError, readComplaint } from "./classify-error.ts";
import { endsWhole, readFinishReason } from "./finish-reason.ts";

import type { Emit, WireReader } from "./read-reply.ts";

/** A JSON object as a server sent it. */
export type Fields = Record<string, unknown>;

/** What the readers of all wire formats share: how a reply begins, ends, fails and breaks off. */
export abstract class ModelReplyReader implements WireReader {
  protected readonly call: CallContext;
  protected readonly blocks: TextBlocks;
  protected readonly calls: ToolCalls;
  readonly #emit: Emit;
  #hasBegun = false;

  constructor(prompt: LanguageModelV4Prompt, call: CallContext, emit: Emit) {
    this.call = call;
    this.#emit = emit;
    this.blocks = new TextBlocks(emit);
    this.calls = new ToolCalls(prompt, emit);
  }

  abstract event(data: string): boolean;
  abstract document(text: string): void;

  ping(): void {
    this.#emit({ type: "ping" });
  }

  end(error: TransportError | undefined): void {
    throw error ?? this.incomplete();
  }

  protected get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Tells once which reply this is, and which model gives it. */
  protected begin(id: unknown, modelId: unknown): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#emit({
      type: "response-metadata",
      ...(typeof id === "string" && { id }),
      ...(typeof modelId === "string" && { modelId }),
    });
  }

  /** One payload, which must be a JSON object. */
  protected parse(data: string): Fields {
    let value: unknown;
    try {
      value = JSON.parse(data);
    } catch {
      throw brokenReply(this.call, `not JSON: ${data.slice(0, 100)}`);
    }
    if (isRecord(value)) return value;
    throw brokenReply(this.call, `not a JSON object: ${data.slice(0, 100)}`);
  }

  protected refuseErrors(payload: Fields): void {
    if (payload.error) throw this.failure(payload);
  }

  protected failure(payload: Fields): Error {
    return createComplaintError(readComplaint(payload), this.call);
  }

  protected incomplete(): Error {
    return brokenReply(this.call, "the stream ended before the reply was complete");
  }

  /** A call that comes in one piece. Its input is an object; anything else is what the model made of it, and is passed on. */
  protected addWholeCall(sent: { id: string; name: string; input: unknown; metadata?: Metadata }): void {
    this.blocks.close();
    const { input } = sent;
    const call = this.calls.start(sent.id, sent.name, sent.metadata);
    const text = input === undefined || input === null ? "" : input;
    this.calls.append(call, typeof text === "string" ? text : JSON.stringify(text));
    this.calls.close(call);
  }

  /** Ends the reply with the server's word for why it ended. */
  protected finish(reason: string | undefined, usage: LanguageModelV4Usage): void {
    this.blocks.close();
    const finishReason = readFinishReason(reason, this.calls.count > 0);
    this.calls.finish(endsWhole(finishReason.unified));
    this.#emit({ type: "finish", finishReason, usage });
  }
}

/** What a provider wants back with a part of its reply. */
type Metadata = Extract<LanguageModelV4StreamPart, { type: "reasoning-end" }>["providerMetadata"];

/** Text and reasoning of one reply as numbered blocks, at most one of them open. */
class TextBlocks {
  readonly #emit: Emit;
  #open: "text" | "reasoning" | undefined;
  #number = 0;
  #id = "0";
  #metadata: Metadata;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** How many blocks there have been. */
  get count(): number {
    return this.#number;
  }

  /** Continues the open block, or starts one if it is of the other kind. */
  add(kind: "text" | "reasoning", delta: string): void {
    this.open(kind);
    if (delta !== "")
      this.#emit({ type: kind === "text" ? "text-delta" : "reasoning-delta", id: this.#id, delta });
  }

  open(kind: "text" | "reasoning"): void {
    if (this.#open === kind) return;
    this.close();
    this.#open = kind;
    this.#id = String(this.#number++);
    this.#emit({ type: kind === "text" ? "text-start" : "reasoning-start", id: this.#id });
  }

  /** What must come back with the open block when the conversation is sent again; given out with its end. */
  remember(metadata: Metadata): void {
    this.#metadata = metadata;
  }

  close(): void {
    if (this.#open) {
      const metadata = this.#metadata && { providerMetadata: this.#metadata };
      this.#emit({ type: this.#open === "text" ? "text-end" : "reasoning-end", id: this.#id, ...metadata });
    }
    this.#open = undefined;
    this.#metadata = undefined;
  }
}

/** A tool call in the making. */
export type GrowingCall = {
  id: string;
  sentId: string;
  name: string;
  input: string;
  closed: boolean;
  metadata: Metadata;
};

/**
 * Tool calls of one reply. Their inputs are streamed as `tool-input-*` parts, but a `tool-call` part, on which a tool
 * runs, is emitted only by `finish`, after the server said that the reply is complete.
 */
class ToolCalls {
  readonly #prompt: LanguageModelV4Prompt;
  readonly #emit: Emit;
  readonly #calls: GrowingCall[] = [];
  #taken: Set<string> | undefined;

  constructor(prompt: LanguageModelV4Prompt, emit: Emit) {
    this.#prompt = prompt;
    this.#emit = emit;
  }

  get count(): number {
    return this.#calls.length;
  }

  get last(): GrowingCall | undefined {
    return this.#calls.at(-1);
  }

  bySentId(id: string): GrowingCall | undefined {
    return this.#calls.findLast((call) => call.sentId === id);
  }

  /** Starts a call. An id that is missing or was used before in the conversation is replaced. */
  start(sentId: string, name: string, metadata?: Metadata): GrowingCall {
    this.#taken ??= findCallIds(this.#prompt);
    const id = sentId === "" || this.#taken.has(sentId) ? `call_${randomUUID().replaceAll("-", "")}` : sentId;
    this.#taken.add(id);
    const call = { id, sentId, name, input: "", closed: false, metadata };
    this.#calls.push(call);
    this.#emit({ type: "tool-input-start", id, toolName: name });
    return call;
  }

  append(call: GrowingCall, text: string): void {
    if (text === "") return;
    call.input += text;
    this.#emit({ type: "tool-input-delta", id: call.id, delta: text });
  }

  close(call: GrowingCall): void {
    if (call.closed) return;
    call.closed = true;
    this.#emit({ type: "tool-input-end", id: call.id });
  }

  /** Emits every call. A call without input has none, unless the reply ended before it could be written. */
  finish(isWhole: boolean): void {
    for (const call of this.#calls) {
      this.close(call);
      const input = call.input === "" && isWhole ? "{}" : call.input;
      const metadata = call.metadata && { providerMetadata: call.metadata };
      this.#emit({ type: "tool-call", toolCallId: call.id, toolName: call.name, input, ...metadata });
    }
  }
}

/** Ids of all tool calls in a conversation, so that a new call never takes one of them. */
function findCallIds(prompt: LanguageModelV4Prompt): Set<string> {
  const ids = new Set<string>();
  for (const message of prompt) {
    if (message.role !== "assistant") continue;
    for (const part of message.content) if (part.type === "tool-call") ids.add(part.toolCallId);
  }
  return ids;
}
