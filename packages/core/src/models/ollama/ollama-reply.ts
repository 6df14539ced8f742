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
import { ToolCalls } from "../wire/tool-calls.ts";

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
