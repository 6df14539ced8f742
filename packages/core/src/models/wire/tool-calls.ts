import { randomUUID } from "node:crypto";
import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { callIdsIn } from "./prompt-parts.ts";
import type { Emit } from "./read-reply.ts";
import type { Metadata } from "./text-blocks.ts";

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
export class ToolCalls {
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
    this.#taken ??= callIdsIn(this.#prompt);
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
