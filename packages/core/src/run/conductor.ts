import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Agent } from "../schema/agent.ts";
import type { ErrorType } from "../schema/result.ts";
import type { CallableModel } from "./model/callable-model.ts";

/** What the host does next in a run that it leads itself: a call with an id of its own, or the end. */
export type Move =
  | { call: { id: string; tool: "delegate" | "delegate_many" | "program"; input: object } }
  | { say: string }
  | { fail: string; type: ErrorType };

/** Decides by the record alone, so that it goes on after a kill as if nothing had happened. */
export type Conduct = {
  next(): Promise<Move>;
  /** What there is, for a run that must end before its time. */
  report(): Promise<string>;
};

/** `provider/model-id` in the rows of a run that the host leads. */
export const CONDUCTOR_ID = "plan/host";

const FREE = { input: 0, output: 0 };
const NOTHING = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/**
 * Rules in the place of a model, for one run. What it asks for takes the way of every model's calls: the same checks,
 * rights, limits and record. Its children inherit the model that the run would have had.
 */
export function createConductor(conduct: Conduct, passedOn: CallableModel): CallableModel {
  const stream = async (
    options: LanguageModelV4CallOptions,
    onPart: (part: LanguageModelV4StreamPart) => void,
  ) => {
    for (const part of partsOf(await decide(conduct, options))) onPart(part);
  };
  return {
    id: CONDUCTOR_ID,
    provider: "plan",
    price: FREE,
    unmetered: true,
    output: { most: 256, isKnown: true },
    passedOn,
    stream,
    model: {
      specificationVersion: "v4",
      provider: "plan",
      modelId: "host",
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error("the host only streams")),
      doStream: async (options) => ({
        stream: ReadableStream.from(partsOf(await decide(conduct, options))),
      }),
    },
  };
}

async function decide(conduct: Conduct, options: LanguageModelV4CallOptions): Promise<Move> {
  const { purpose } = options.providerOptions?.retinue ?? {};
  return purpose === undefined ? conduct.next() : { say: await conduct.report() };
}

function* partsOf(move: Move): Generator<LanguageModelV4StreamPart> {
  if ("fail" in move) throw Object.assign(new Error(move.fail), { type: move.type, recoverable: false });
  if ("say" in move) {
    yield { type: "text-start", id: "text" };
    yield { type: "text-delta", id: "text", delta: move.say };
    yield { type: "text-end", id: "text" };
  } else {
    const { id, tool, input } = move.call;
    yield { type: "tool-call", toolCallId: id, toolName: tool, input: JSON.stringify(input) };
  }
  const unified = "say" in move ? "stop" : "tool-calls";
  yield { type: "finish", finishReason: { unified, raw: undefined }, usage: NOTHING };
}

/** A day: the steps of a plan have their own times, and a person may have to be waited for. */
const WHOLE_MINUTES = 24 * 60;

/**
 * The agent as the leader of a conducted run: its rights, budget and sub-agents, but bounds that suit rules which make a handful
 * of calls and wait long for each.
 */
export function fitToLead(agent: Agent, maxConcurrent?: number): Agent {
  const { subagents, limits } = agent;
  return {
    ...agent,
    deliverables: [],
    limits: { ...limits, turns: 20, toolCalls: 20, minutes: WHOLE_MINUTES, contextChars: 10_000_000 },
    ...(subagents && {
      subagents: {
        ...subagents,
        maxConcurrent: Math.min(subagents.maxConcurrent, maxConcurrent ?? subagents.maxConcurrent),
      },
    }),
  };
}
