import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { collectParts } from "@retinue/core/models/wire/collect-parts";
import type { StreamingModel } from "@retinue/core/models/wire/wire-model";
import type { CallableModel } from "@retinue/core/run/model/callable-model";
import { splitSentences } from "@retinue/core/text/split-sentences";
import { assistant, mainForDomains } from "./assistant.ts";
import {
  findProcedure,
  type OfflineAgent,
  type OfflineMove,
  type Procedure,
  readMessageText,
  readSituation,
  type Situation,
} from "./conversation.ts";
import { diagnose } from "./debugger.ts";
import { extractSummary } from "./extract-summary.ts";
import { domainAgents } from "./intent-phases.ts";
import { main } from "./main.ts";
import { cutShort, needsModel, OFFLINE_LABEL } from "./offline-words.ts";
import { planner } from "./planner.ts";
import { reportExpert, reportLead } from "./report.ts";
import { researcher } from "./researcher.ts";
import { reviewer } from "./reviewer.ts";
import { tester } from "./tester.ts";

/** Writing code is what rules cannot do. */
const coder: Procedure = {
  agents: ["coder", "executor"],
  next({ task }) {
    const [first = ""] = task.split("\n", 1);
    const can = "find things, plan, run tests, point to the line that fails, and review by rules";
    return { cannot: needsModel(`write or change code (“${cutShort(first, 120)}”)`, can) };
  },
};

/** How the built-in agents work without a model; the first that takes a task has it. */
const BUILT_IN: readonly Procedure[] = [
  ...[reportLead, reportExpert],
  ...[assistant, mainForDomains, ...domainAgents],
  ...[main, researcher, planner, tester, reviewer, diagnose, coder],
];

const SUMMARY_SENTENCES = 12;
const FREE = { input: 0, output: 0 };

/** `provider/model-id` of every offline model. */
const OFFLINE_ID = "offline/rules";

/** Characters that count as a token, so that token budgets mean much the same as with a model. */
const CHARS_PER_TOKEN = 4;

/**
 * The offline model as one agent's own. It looks only at the conversation it is given, so the same conversation always gets
 * the same reply. Its tokens are measured in characters and cost nothing. What is beyond its rules is an error, never a
 * made-up answer.
 */
export function createAgentModel(agent: OfflineAgent, procedures: readonly Procedure[]): CallableModel {
  const all = [...procedures, ...BUILT_IN];
  const reply = (call: LanguageModelV4CallOptions) => streamParts(decide(call, agent, all), call);
  const stream: StreamingModel["stream"] = async (call, onPart) => {
    for (const part of reply(call)) onPart(part);
  };
  const model: StreamingModel = {
    specificationVersion: "v4",
    provider: "offline",
    modelId: "rules",
    supportedUrls: {},
    stream,
    doStream: async (call) => ({ stream: ReadableStream.from(reply(call)) }),
    doGenerate: (call) => collectParts((onPart) => stream(call, onPart)),
  };
  return {
    id: OFFLINE_ID,
    provider: "offline",
    model,
    stream,
    price: FREE,
    unmetered: true,
    label: OFFLINE_LABEL,
  };
}

function decide(
  call: LanguageModelV4CallOptions,
  agent: OfflineAgent,
  procedures: readonly Procedure[],
): OfflineMove {
  if (call.providerOptions?.retinue?.purpose === "summary") {
    const notes = call.prompt.filter(({ role }) => role === "user").map(readMessageText);
    return { say: condense(notes.join("\n")) };
  }
  const situation = readSituation(call, agent);
  const procedure = findProcedure(procedures, situation);
  if (!procedure) throw refusal(unplayed(agent, procedures));
  const move = procedure.next(situation);
  if ("cannot" in move) throw refusal(move.cannot, move.type);
  if ("calls" in move && situation.wrapUp) return { say: labelled(listAnswers(situation)) };
  // An assessment is read by the host, which would not know a label from it.
  if ("calls" in move || situation.phase === "assess") return move;
  return { say: labelled(move.say) };
}

/** The lines and sentences that say most, unchanged. */
function condense(text: string): string {
  const sentences = text.split("\n").flatMap(splitSentences);
  return extractSummary(sentences, { count: SUMMARY_SENTENCES, about: sentences[0] ?? "" }).join("\n");
}

function unplayed(agent: OfflineAgent, procedures: readonly Procedure[]): string {
  const names = [...new Set(procedures.flatMap(({ agents }) => agents.slice(0, 1)))];
  return needsModel(`play the agent '${agent.name}'`, `play ${names.join(", ")}`);
}

/** An error that ends the run: a person must change something, trying again does not help. */
function refusal(message: string, type: "config" | "params" = "config"): Error {
  return Object.assign(new Error(message), { type, recoverable: false });
}

function labelled(text: string): string {
  return `${text.trimEnd()}\n\n${OFFLINE_LABEL}`;
}

const MAX_SHOWN = 600;

/** The last report of a procedure that has not finished. */
function listAnswers({ calls }: Situation): string {
  const lines = calls.map(({ tool, input, result, failed }) => {
    const shown = result.length > MAX_SHOWN ? `${result.slice(0, MAX_SHOWN)} …` : result;
    return `- ${tool} ${JSON.stringify(input)} ${failed ? "failed" : "gave"}:\n${shown.replace(/^/gm, "  | ")}`;
  });
  return `Stopped by a limit before the procedure was through. What there is:\n${lines.join("\n") || "nothing yet."}`;
}

function countTurns({ prompt }: LanguageModelV4CallOptions): number {
  return prompt.reduce((count, { role }) => (role === "assistant" ? count + 1 : count), 0);
}

function* streamParts(
  move: OfflineMove,
  call: LanguageModelV4CallOptions,
): Generator<LanguageModelV4StreamPart> {
  const turn = countTurns(call);
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
  const input = countTokens(call.prompt);
  const output = countTokens(move);
  yield {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: output, text: output, reasoning: 0 },
    },
  };
}

function countTokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / CHARS_PER_TOKEN);
}
