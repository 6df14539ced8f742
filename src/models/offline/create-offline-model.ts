import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { collectParts } from "../wire/collect-parts.ts";
import type { StreamingModel } from "../wire/wire-model.ts";
import { needsModel, OFFLINE_LABEL } from "./offline-words.ts";
import { findProcedure, type Move, type OfflineAgent, type Procedure, type Situation } from "./procedure.ts";
import { readSituation, textOf } from "./read-situation.ts";

/** What an offline model is made of. */
export type OfflineOptions = {
  /** The agent it plays. */
  agent: OfflineAgent;
  procedures: readonly Procedure[];
  /** Condenses a text by taking sentences out of it. */
  summarise(text: string): string;
};

/** `provider/model-id` of every offline model. */
export const OFFLINE_ID = "offline/rules";

/** Characters that count as a token, so that token budgets mean much the same as with a model. */
const CHARS_PER_TOKEN = 4;

/**
 * A model of rules. It looks only at the conversation it is given, so the same conversation always gets the same
 * reply. Its tokens are measured in characters and cost nothing. What is beyond its rules is an error, never a made-up answer.
 */
export function createOfflineModel(options: OfflineOptions): StreamingModel {
  const reply = (call: LanguageModelV4CallOptions) => partsOf(decide(call, options), call);
  const stream: StreamingModel["stream"] = async (call, onPart) => {
    for (const part of reply(call)) onPart(part);
  };
  return {
    specificationVersion: "v4",
    provider: "offline",
    modelId: "rules",
    supportedUrls: {},
    stream,
    doStream: async (call) => ({ stream: ReadableStream.from(reply(call)) }),
    doGenerate: (call) => collectParts((onPart) => stream(call, onPart)),
  };
}

function decide(call: LanguageModelV4CallOptions, { agent, procedures, summarise }: OfflineOptions): Move {
  if (call.providerOptions?.retinue?.purpose === "summary") {
    return {
      say: summarise(
        call.prompt
          .filter(({ role }) => role === "user")
          .map(textOf)
          .join("\n"),
      ),
    };
  }
  const situation = readSituation(call, agent);
  const procedure = findProcedure(procedures, situation);
  if (!procedure) throw refusal(unplayed(agent, procedures));
  const move = procedure.next(situation);
  if ("cannot" in move) throw refusal(move.cannot, move.type);
  if ("calls" in move && situation.wrapUp) return { say: labelled(whatThereIs(situation)) };
  // An assessment is read by the host, which would not know a label from it.
  if ("calls" in move || situation.phase === "assess") return move;
  return { say: labelled(move.say) };
}

function unplayed(agent: OfflineAgent, procedures: readonly Procedure[]): string {
  const names = [...new Set(procedures.flatMap(({ agents }) => agents.slice(0, 1)))];
  return needsModel(`play the agent '${agent.name}'`, `play ${names.join(", ") || "no agent here"}`);
}

/** An error that the loop takes as the run's own: a person must change something, trying again is no use. */
function refusal(message: string, type: "config" | "params" = "config"): Error {
  return Object.assign(new Error(message), { type, recoverable: false });
}

function labelled(text: string): string {
  return `${text.trimEnd()}\n\n${OFFLINE_LABEL}`;
}

const MAX_SHOWN = 600;

/** The last report of a procedure that would rather have gone on. */
function whatThereIs({ calls }: Situation): string {
  const lines = calls.map(({ tool, input, result, failed }) => {
    const shown = result.length > MAX_SHOWN ? `${result.slice(0, MAX_SHOWN)} …` : result;
    return `- ${tool} ${JSON.stringify(input)} ${failed ? "failed" : "gave"}:\n${shown.replace(/^/gm, "  | ")}`;
  });
  return `Stopped by a limit before the procedure was through. What there is:\n${lines.join("\n") || "nothing yet."}`;
}

function turnOf({ prompt }: LanguageModelV4CallOptions): number {
  return prompt.reduce((count, { role }) => (role === "assistant" ? count + 1 : count), 0);
}

function* partsOf(move: Move, call: LanguageModelV4CallOptions): Generator<LanguageModelV4StreamPart> {
  const turn = turnOf(call);
  yield { type: "stream-start", warnings: [] };
  if ("say" in move && move.say) {
    yield { type: "text-start", id: "text" };
    for (const delta of move.say.split(/(?<=\n\n)/)) yield { type: "text-delta", id: "text", delta };
    yield { type: "text-end", id: "text" };
  }
  const calls = "calls" in move ? move.calls : [];
  for (const [index, { tool, input }] of calls.entries()) {
    const toolCallId = `offline_${turn}_${index}`;
    yield { type: "tool-call", toolCallId, toolName: tool, input: JSON.stringify(input) };
  }
  const unified = calls.length > 0 ? "tool-calls" : "stop";
  const input = tokensOf(call.prompt);
  const output = tokensOf(move);
  yield {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  };
}

function tokensOf(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
}
