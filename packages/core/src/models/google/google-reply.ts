import type { LanguageModelV4Prompt, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TransportError } from "../../schema/transport.ts";
import type { CallContext } from "../model-error.ts";
import { brokenReply, modelError } from "../model-error.ts";
import { complaintIn, errorOfComplaint } from "../wire/classify-error.ts";
import { endsWhole, readFinishReason } from "../wire/finish-reason.ts";
import { countOf, isRecord, stringOf } from "../wire/json.ts";
import type { Emit, WireReader } from "../wire/read-reply.ts";
import { parsePayload } from "../wire/read-reply.ts";
import { TextBlocks } from "../wire/text-blocks.ts";
import { ToolCalls } from "../wire/tool-calls.ts";

type Fields = Record<string, unknown>;

/**
 * Reads a reply of `streamGenerateContent`. The format has no end mark, and a finish reason may stand in every chunk, so a
 * reply is complete only when the body ends by its own framing after a finish reason.
 */
export class GoogleReader implements WireReader {
  readonly #call: CallContext;
  readonly #emit: Emit;
  readonly #blocks: TextBlocks;
  readonly #calls: ToolCalls;
  #finishReason: string | undefined;
  #finishMessage = "";
  #usage: Fields | undefined;
  #started = false;

  constructor(prompt: LanguageModelV4Prompt, call: CallContext, emit: Emit) {
    this.#call = call;
    this.#emit = emit;
    this.#blocks = new TextBlocks(emit);
    this.#calls = new ToolCalls(prompt, emit);
  }

  event(data: string): boolean {
    this.#chunk(parsePayload(data, this.#call));
    return false;
  }

  ping(): void {
    this.#emit({ type: "ping" });
  }

  document(text: string): void {
    this.#chunk(parsePayload(text, this.#call));
    this.#finish();
  }

  end(error: TransportError | undefined): void {
    if (error) throw error;
    this.#finish();
  }

  #chunk(chunk: Fields): void {
    if (chunk.error) throw errorOfComplaint(complaintIn(chunk), this.#call);
    if (!this.#started) this.#start(chunk);
    if (isRecord(chunk.usageMetadata)) this.#usage = chunk.usageMetadata;
    const candidate: unknown = Array.isArray(chunk.candidates) ? chunk.candidates[0] : undefined;
    if (!isRecord(candidate)) {
      this.#checkPrompt(chunk.promptFeedback);
      return;
    }
    const parts = isRecord(candidate.content) ? candidate.content.parts : undefined;
    if (Array.isArray(parts)) for (const part of parts) if (isRecord(part)) this.#part(part);
    if (typeof candidate.finishReason === "string") this.#finishReason = candidate.finishReason;
    this.#finishMessage = stringOf(candidate.finishMessage) || this.#finishMessage;
  }

  #start(chunk: Fields): void {
    this.#started = true;
    this.#emit({
      type: "response-metadata",
      ...(typeof chunk.responseId === "string" && { id: chunk.responseId }),
      ...(typeof chunk.modelVersion === "string" && { modelId: chunk.modelVersion }),
    });
  }

  /** A refused prompt gets no candidate at all, only the reason. */
  #checkPrompt(feedback: unknown): void {
    const reason = isRecord(feedback) ? stringOf(feedback.blockReason) : "";
    if (reason === "") return;
    const message = `the prompt was refused: ${reason}`;
    throw modelError(this.#call, { type: "content_filter", message });
  }

  /** Signatures must come back with the very part they came with. Kinds of parts this reader does not know pass unread. */
  #part(part: Fields): void {
    const signature = stringOf(part.thoughtSignature);
    if (isRecord(part.functionCall)) this.#functionCall(part.functionCall, signature);
    if (typeof part.text !== "string" || (part.text === "" && signature === "")) return;
    this.#blocks.add(part.thought === true ? "reasoning" : "text", part.text);
    if (signature !== "") this.#blocks.remember({ google: { thoughtSignature: signature } });
  }

  #functionCall(sent: Fields, signature: string): void {
    this.#blocks.close();
    const id = stringOf(sent.id);
    const google = { ...(signature && { thoughtSignature: signature }), ...(id && { id }) };
    const metadata = Object.keys(google).length > 0 ? { google } : undefined;
    const call = this.#calls.start(id, stringOf(sent.name), metadata);
    this.#calls.append(call, inputText(sent.args));
    this.#calls.close(call);
  }

  #finish(): void {
    const raw = this.#finishReason;
    if (raw === undefined) throw brokenReply(this.#call, "the stream ended before the reply was complete");
    if (BROKEN.test(raw)) {
      const said = this.#finishMessage ? `: ${this.#finishMessage}` : "";
      throw brokenReply(this.#call, `the model wrote a call that cannot be read (${raw})${said}`);
    }
    this.#blocks.close();
    const finishReason = readFinishReason(raw, this.#calls.count > 0);
    this.#calls.finish(endsWhole(finishReason.unified));
    this.#emit({ type: "finish", finishReason, usage: googleUsage(this.#usage) });
  }
}

/** The server could not read what the model wrote and leaves it out. */
const BROKEN = /^(MALFORMED_|UNEXPECTED_TOOL_CALL|MISSING_THOUGHT_SIGNATURE)/;

/** Input comes as an object; anything else is what the model made of it, and is passed on as it is. */
function inputText(args: unknown): string {
  if (args === undefined || args === null) return "";
  return typeof args === "string" ? args : JSON.stringify(args);
}

/** Cached tokens are part of the prompt's count; thoughts and the prompts of tools stand apart from the rest. */
export function googleUsage(usage: Fields | undefined): LanguageModelV4Usage {
  const prompt = countOf(usage?.promptTokenCount);
  const cacheRead = countOf(usage?.cachedContentTokenCount);
  const total = prompt === undefined ? undefined : prompt + (countOf(usage?.toolUsePromptTokenCount) ?? 0);
  const spoken = countOf(usage?.candidatesTokenCount);
  const reasoning = countOf(usage?.thoughtsTokenCount);
  const output =
    spoken === undefined && reasoning === undefined ? undefined : (spoken ?? 0) + (reasoning ?? 0);
  const noCache = total === undefined ? undefined : Math.max(0, total - (cacheRead ?? 0));
  return {
    inputTokens: { total, noCache, cacheRead, cacheWrite: undefined },
    outputTokens: { total: output, text: spoken, reasoning },
  };
}
