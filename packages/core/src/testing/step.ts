import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { DelegationBatch, DelegationRequest } from "../schema/delegation.ts";

/** Tokens a scripted reply reports. */
export type ScriptedUsage = {
  input?: number | undefined;
  output?: number | undefined;
  /** Of the input: what came from a cache. */
  cacheRead?: number;
  /** Of the output: what was reasoning. */
  reasoning?: number;
};

/** One reply of a scripted model. */
export type Step =
  | { kind: "reply"; text: string; calls: readonly ScriptedCall[]; usage?: ScriptedUsage; finish?: string }
  | { kind: "parts"; parts: readonly LanguageModelV4StreamPart[] }
  | { kind: "fail"; error: unknown }
  | { kind: "hang" }
  | { kind: "wait"; until: Promise<unknown>; step: Step };

/** A call a scripted model makes; a string input is sent as it is, to try malformed JSON. */
export type ScriptedCall = { tool: string; input: unknown; id?: string };

/** What the model is asked, for steps that depend on it. */
export type ScriptRequest = {
  options: LanguageModelV4CallOptions;
  /** Replies the model has given in this conversation before. */
  turn: number;
  /** Text of the first user message. */
  task: string;
  /** Text of the last message: a tool result, or what the user said. */
  last: string;
  /** The whole prompt as one text. */
  prompt: string;
};

/** A step, or a function that makes one from the request. */
export type StepMaker = Step | ((request: ScriptRequest) => Step | Promise<Step>);

/** The model answers with a text. */
export function say(text: string, usage?: ScriptedUsage): Step {
  return { kind: "reply", text, calls: [], ...(usage && { usage }) };
}

/** The model calls a tool. */
export function callTool(tool: string, input: unknown, usage?: ScriptedUsage): Step {
  return callTools([{ tool, input }], usage);
}

/** The model calls several tools in one turn. */
export function callTools(calls: readonly ScriptedCall[], usage?: ScriptedUsage): Step {
  return { kind: "reply", text: "", calls, ...(usage && { usage }) };
}

/** The model delegates one task. */
export function callDelegate(agent: string, task: string, more: Partial<DelegationRequest> = {}): Step {
  return callTool("delegate", { agent, task, ...more });
}

/** The model delegates several tasks in one call. */
export function callDelegateMany(
  tasks: DelegationBatch["tasks"],
  more: Omit<DelegationBatch, "tasks"> = {},
): Step {
  return callTool("delegate_many", { tasks, ...more });
}

/** The call to the model fails. */
export function failWith(
  type: string,
  message: string = type,
  more: { recoverable?: boolean; retryAfterMs?: number } = {},
): Step {
  return { kind: "fail", error: Object.assign(new Error(message), { type, recoverable: false, ...more }) };
}

/** The model never answers, and ignores being stopped. */
export function hang(): Step {
  return { kind: "hang" };
}

/** The model answers once a promise is settled. */
export function after(until: Promise<unknown>, step: Step): Step {
  return { kind: "wait", until, step };
}
