import type { TimeBox } from "../budget/deadline.ts";
import type { Agent, Deliverable, MandatoryDelegation } from "../schema/agent.ts";
import type { BailoutReason } from "../schema/result.ts";
import type { Layer } from "../schema/rights.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { CallResult } from "./calls/dispatch.ts";
import type { Flow } from "./flow.ts";
import type { CallableModel } from "./model/callable-model.ts";
import type { Reply, ToolCall } from "./model/read-stream.ts";
import type { Repeating } from "./turns/repetition.ts";

/** The bounds of one run, all filled in. */
export type RunLimits = {
  readonly turns: number;
  readonly toolCalls: number;
  readonly perTool: Readonly<Record<string, number>>;
  readonly contextChars: number;
  /** Tokens of one reply; absent: as many as the model can give. */
  readonly maxOutputTokens?: number;
  readonly timeoutMs: number;
  readonly firstTokenMs: number;
  readonly idleMs: number;
  /** How often a run may mend missing deliverables. */
  readonly repairs: number;
};

/** Everything about a run that is fixed when it starts. */
export type RunSpec = {
  readonly runId: string;
  readonly sessionId: string;
  readonly parentRunId: string | null;
  /** The parent's tool call that made this run. */
  readonly callId: string | null;
  readonly attempt: number;
  /** Its task's id in the parent's batch. */
  readonly taskId: string | null;
  readonly depth: number;
  readonly agent: Agent;
  readonly flow: Flow;
  /** Names of the ancestors, root first. */
  readonly ancestors: readonly string[];
  readonly system: string;
  /** The whole first message, with criteria, context and results. */
  readonly task: string;
  /** What of it the person or the parent asked for. */
  readonly asked: string;
  readonly model: CallableModel;
  readonly chain: readonly Layer[];
  readonly tools: ReadonlyMap<string, AnyTool>;
  readonly limits: RunLimits;
  readonly deliverables: readonly Deliverable[];
  /** Delegations that its request demands before it may answer. */
  readonly mandatory: readonly MandatoryDelegation[];
  readonly projectDir: string;
  readonly workspaceDir: string;
  /** The folder of the project that relative paths begin in, if it is not its top. */
  readonly cwd?: string | undefined;
  /** This run's row in the record. */
  readonly messageId: number;
  readonly startedAtMs: number;
  /** Monotonic. */
  readonly startedMs: number;
  /** Monotonic. */
  readonly deadlineMs: number;
  /** The time that a person or a program gave to it or to a run above it, everything below included. */
  readonly timeBox: TimeBox | null;
  /** How deep delegation may go below the root, the tightest limit of the line. */
  readonly maxDepth: number;
};

/** Why a run must end from outside. */
export type Interruption = {
  status: "cancelled" | "timeout" | "failed";
  bailout: BailoutReason;
  message: string;
};

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
