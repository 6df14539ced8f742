import type { LanguageModelV4Message } from "@ai-sdk/provider";
import type { BailoutReason, DeliverableVerdict, RunError, RunResult, RunStatus } from "../schema/result.ts";
import type { CallResult, Reply, ToolCall } from "./model/reply.ts";
import type { Repeating } from "./repetition.ts";

/** Where a run stood when its process ended. */
export type Resumption =
  /** The model had asked for calls; some or all may have been answered. */
  | {
      kind: "calls";
      calls: readonly ToolCall[];
      answered: ReadonlyMap<string, CallResult>;
      repeating: Repeating;
    }
  /** The model had given its answer. */
  | { kind: "answer"; reply: Reply }
  /** The run had begun its last report. */
  | { kind: "wrap_up"; reason: BailoutReason; reply: Reply | null }
  /** The next turn was due. */
  | { kind: "turn" };

/** How a run ended, before the host measures it. */
export type Ending = {
  status: RunStatus;
  text: string;
  partial?: boolean;
  bailout?: BailoutReason;
  error?: RunError;
  verdicts?: readonly DeliverableVerdict[];
  /** Of a flow whose answer has a form of its own. */
  data?: unknown;
  context?: RunResult["context"];
};

/** What a finished turn leads to. */
export type Next =
  | { kind: "turn" }
  | { kind: "wrap_up"; reason: BailoutReason }
  | { kind: "end"; ending: Ending };

/** What a model call is for, and with what: the run's own history, or messages of so many bytes. */
export type ModelCall =
  | { purpose: "turn" | "wrap_up" }
  | { purpose: "summary"; messages: LanguageModelV4Message[]; inputBytes: number };

/** How a model call ended. */
export type ModelOutcome =
  /** `tokens` is what the conversation now has, if the provider said it believably. */
  | { kind: "reply"; reply: Reply; tokens: number | null }
  | { kind: "failed"; error: RunError; bailout?: BailoutReason }
  | { kind: "unaffordable"; resource: "tokens" | "cost" }
  | { kind: "interrupted" };

/** What a run has said and been answered so far: enough to stand in for a report that was never given. */
export type GatheredWork = { readonly texts: string; readonly results: string };
