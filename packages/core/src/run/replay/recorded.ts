import type { DelegationRequest, OpenDelegation } from "../../schema/delegation.ts";
import type { BailoutReason, RunError, RunResult, UnmetDeliverable } from "../../schema/result.ts";
import type { Target } from "../../schema/rights.ts";
import type { CallResult } from "../calls/dispatch.ts";
import type { Effects } from "../calls/record-call.ts";
import type { ToolCall } from "../model/read-stream.ts";
import type { Streamed } from "../model/stream-reply.ts";
import type { Run } from "../run.ts";

/** What is known of a model call that is played again. */
export type RecordedReply =
  /** `again`: it was made once more for the same turn. */
  | { kind: "streamed"; streamed: Streamed; modelId: string; again: boolean }
  /** It was never made, because the budget had no room for it. */
  | { kind: "unaffordable"; resource: "tokens" | "cost" }
  /** It was never made, for another reason. */
  | { kind: "failed"; error: RunError }
  /** The run was ended here from outside, or its record ends here; it has been interrupted now too. */
  | { kind: "interrupted" };

/** How far a call came by the rules of now: not admitted, admitted, or, if it starts runs, answered. */
export type CallNow =
  | { kind: "refused"; outcome: "error" | "denied"; text: string }
  | { kind: "admitted" }
  | { kind: "answered"; outcome: "ok" | "error"; text: string };

/** A child that a program started in a call, with what it was given. */
export type StartedChild = Pick<DelegationRequest, "agent" | "task" | "limits"> & { callId: string };

/** The answer that a call had. */
export type RecordedAnswer = Pick<CallResult, "text" | "outcome"> &
  Pick<Effects, "public" | "shown"> & { tainted: boolean };

/** What was found out of a call beforehand: whom it reaches, and why a person was asked; null if nobody was. */
export type RecordedOutside = { reached: readonly Target[]; asked: string | null };

/** A child run as its parent knows it: by the call, the task in a batch, and the attempt. */
export type ChildKey = Pick<OpenDelegation, "callId" | "taskId"> & { attempt: number };

/**
 * A recorded session that is played again. What was outside then, such as models, tools, time, people and ids, is asked
 * here instead; what the host does itself it does again, and is held against the record.
 */
export type Recorded = {
  /** A run is about to begin. Its result, if it ended before its first model call or is no longer the run it was. */
  begin(run: Run): RunResult | null;
  /** A turn is about to begin. The run is interrupted if it was ended here from outside; a limit that time set is returned. */
  beforeTurn(run: Run): BailoutReason | null;
  reply(run: Run, purpose: "turn" | "wrap_up" | "summary"): RecordedReply;
  /** What the outside said of a call before it was made; undefined if it was not asked, `unknown` if it did not say. */
  outside(run: Run, call: ToolCall): RecordedOutside | "unknown" | undefined;
  answer(run: Run, call: ToolCall, now: CallNow): RecordedAnswer;
  /** What runs below it left out then, and nobody repaired. */
  unmet(run: Run): readonly UnmetDeliverable[];
  /** Whether the call reached files that a tainted run had written. */
  broughtUntrusted(run: Run, call: ToolCall): boolean;
  /** The run is over. Its result as it was then, with what was measured then. */
  end(run: Run, now: RunResult): RunResult;
  /** The id that a delegation, or a later attempt of it, had; undefined if nothing tells of it. */
  childId(parent: Run, child: ChildKey): string | undefined;
  /** The children that the code of a tool had started in a call, in their order. */
  startedIn(parent: Run, callId: string): readonly StartedChild[];
  /** Whether the child run began then. */
  begins(parent: Run, child: ChildKey, agent: string): boolean;
  /** A child's first message with the content that files had then. */
  message(parent: Run, child: ChildKey, text: string): string;
  /** Whether the parent had been told by the end of its turn how a delegation had ended. */
  isTold(parent: Run, delegation: OpenDelegation): boolean;
  /** Resolves in the turn in which the parent was told. */
  untilTold(parent: Run, delegation: OpenDelegation): Promise<void>;
  /** The parent waits for all that is left. */
  tellAll(parent: Run): void;
};
