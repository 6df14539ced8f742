import type { LanguageModelV4Prompt, LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TransportError } from "../../schema/transport.ts";
import type { CallContext } from "../model-error.ts";
import { brokenReply } from "../model-error.ts";
import { complaintIn, errorOfComplaint } from "../wire/classify-error.ts";
import { endsWhole, readFinishReason } from "../wire/finish-reason.ts";
import { countOf, isCompleteJson, isRecord } from "../wire/json.ts";
import type { Emit, WireReader } from "../wire/read-reply.ts";
import { parsePayload } from "../wire/read-reply.ts";
import { TextBlocks } from "../wire/text-blocks.ts";
import type { GrowingCall } from "../wire/tool-calls.ts";
import { ToolCalls } from "../wire/tool-calls.ts";

type Fields = Record<string, unknown>;

const INCOMPLETE = "the stream ended before the reply was complete";
/** The fields in which servers stream a model's reasoning. */
const REASONING_FIELDS = ["reasoning_content", "reasoning"] as const;

/**
 * Reads a chat completion. It is complete at `[DONE]`, or, from servers that leave that out, when the body ends after a
 * finish reason.
 */
export class OpenAiReader implements WireReader {
  readonly #call: CallContext;
  readonly #emit: Emit;
  readonly #blocks: TextBlocks;
  readonly #calls: ToolCalls;
  readonly #byIndex = new Map<number, GrowingCall>();
  #finishReason: string | undefined;
  #usage: Fields | undefined;
  #started = false;

  constructor(prompt: LanguageModelV4Prompt, call: CallContext, emit: Emit) {
    this.#call = call;
    this.#emit = emit;
    this.#blocks = new TextBlocks(emit);
    this.#calls = new ToolCalls(prompt, emit);
  }

  event(data: string): boolean {
    if (data.startsWith("[DONE]")) {
      this.#finish();
      return true;
    }
    this.#chunk(parsePayload(data, this.#call), "delta");
    return false;
  }

  ping(): void {
    this.#emit({ type: "ping" });
  }

  document(text: string): void {
    this.#chunk(parsePayload(text, this.#call), "message");
    this.#finish();
  }

  end(error: TransportError | undefined): void {
    if (this.#finishReason === undefined) throw error ?? brokenReply(this.#call, INCOMPLETE);
    this.#finish();
  }

  #chunk(chunk: Fields, content: "delta" | "message"): void {
    if (chunk.error) throw errorOfComplaint(complaintIn(chunk), this.#call);
    if (!this.#started) this.#start(chunk);
    if (isRecord(chunk.usage)) this.#usage = chunk.usage;
    const choice: unknown = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
    if (!isRecord(choice)) return;
    if (choice.error) throw errorOfComplaint(complaintIn(choice), this.#call);
    if (isRecord(choice[content])) this.#delta(choice[content]);
    if (typeof choice.finish_reason === "string") this.#finishReason = choice.finish_reason;
  }

  #start(chunk: Fields): void {
    this.#started = true;
    this.#emit({
      type: "response-metadata",
      ...(typeof chunk.id === "string" && { id: chunk.id }),
      ...(typeof chunk.model === "string" && { modelId: chunk.model }),
    });
  }

  #delta(delta: Fields): void {
    for (const field of REASONING_FIELDS) {
      const text = delta[field];
      if (typeof text !== "string" || text === "") continue;
      this.#blocks.add("reasoning", text);
      this.#blocks.remember({ [this.#call.provider]: { field } });
      break;
    }
    const text = delta.content ?? delta.refusal;
    if (typeof text === "string" && text !== "") this.#blocks.add("text", text);
    if (!Array.isArray(delta.tool_calls)) return;
    for (const piece of delta.tool_calls) if (isRecord(piece)) this.#toolPiece(piece);
  }

  #toolPiece(piece: Fields): void {
    this.#blocks.close();
    const details = isRecord(piece.function) ? piece.function : piece;
    const name = typeof details.name === "string" ? details.name : "";
    const id = typeof piece.id === "string" || typeof piece.id === "number" ? String(piece.id) : "";
    const input = inputText(details.arguments);
    const index = countOf(piece.index);
    let call = this.#knownCall(index, id, name);
    if (!call || startsAnother(call, { id, name, input })) {
      call = this.#calls.start(id, name);
      if (index !== undefined) this.#byIndex.set(index, call);
    }
    this.#calls.append(call, input);
  }

  /** The call a piece belongs to: by index, else by id, else, for a piece that names no tool, the last one. */
  #knownCall(index: number | undefined, id: string, name: string): GrowingCall | undefined {
    if (index !== undefined) return this.#byIndex.get(index);
    const known = id === "" ? this.#calls.last : this.#calls.bySentId(id);
    return known ?? (name === "" ? this.#calls.last : undefined);
  }

  #finish(): void {
    const onlyText = this.#calls.count === 0 && this.#blocks.count > 0;
    if (this.#finishReason === undefined && !onlyText) throw brokenReply(this.#call, INCOMPLETE);
    this.#blocks.close();
    const finishReason = readFinishReason(this.#finishReason, this.#calls.count > 0);
    this.#calls.finish(endsWhole(finishReason.unified));
    this.#emit({ type: "finish", finishReason, usage: openAiUsage(this.#usage) });
  }
}

/**
 * Some servers give all calls one index or one id. A piece that names a tool starts another call if its id differs, or if
 * it brings input although the call before has a complete one. Without a name it goes on, whatever its id.
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
  const input = countOf(usage?.prompt_tokens);
  const output = countOf(usage?.completion_tokens);
  const inputDetails = isRecord(usage?.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const outputDetails = isRecord(usage?.completion_tokens_details) ? usage.completion_tokens_details : {};
  const cacheRead = countOf(inputDetails.cached_tokens) ?? countOf(usage?.prompt_cache_hit_tokens);
  const cacheWrite = countOf(inputDetails.cache_write_tokens);
  const reasoning = countOf(outputDetails.reasoning_tokens);
  const total = withReasoning(output, reasoning, { input, all: countOf(usage?.total_tokens) });
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
