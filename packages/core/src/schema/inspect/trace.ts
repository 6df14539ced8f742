import { type DeliverableVerdict, type FlowContext, RUN_STATUSES, type RunStatus } from "../result.ts";

/** The version of a trace's shape. Fields may be added; a change that breaks a reader raises it. */
export const TRACE_FORMAT = 1;

/**
 * How a session stands. A session that the record calls running may be at work, wait for a person, or have lost its
 * process; one that has ended has the status it ended with.
 */
export type SessionState = (typeof SESSION_STATES)[number];
export const SESSION_STATES = ["waiting", "interrupted", ...RUN_STATUSES] as const;

/** When something happened: moments in the record and on the clock. */
export type TraceSpan = {
  /** Seqs of the session's record, which order everything in it. */
  openedSeq: number;
  closedSeq: number | null;
  /** ISO 8601, UTC. */
  startedAt: string;
  /** Null while it is open. */
  endedAt: string | null;
  /** Milliseconds from the start of the session's first run. */
  startMs: number;
  /** The same of its end; null while it is open. */
  endMs: number | null;
  /** Milliseconds it worked; time between two processes does not count. Null while it is open. */
  durationMs: number | null;
};

/** One model call of a run. */
export type TraceTurn = TraceSpan & {
  messageId: number;
  turn: number;
  /** `turn` unless the call had another end, such as `summary`. */
  purpose: string;
  model: string | null;
  status: RunStatus;
  tokens: { input: number; output: number };
  costUsd: number | null;
  /** What the model said. */
  text: string;
  error: string | null;
};

/** How a tool call ended; `running` while it has not, `interrupted` if its process ended first. */
export type CallOutcome = (typeof CALL_OUTCOMES)[number];
export const CALL_OUTCOMES = ["ok", "cached", "error", "denied", "running", "interrupted"] as const;

/** One tool call of a run. A delegation that has a run of its own is that run, and no call. */
export type TraceCall = TraceSpan & {
  messageId: number;
  callId: string | null;
  tool: string;
  outcome: CallOutcome;
  /** The input as the model gave it, JSON in most cases. */
  input: string;
  output: string;
  error: string | null;
  /** Who approved it, if it was asked about. */
  approvedBy: string | null;
};

/** A step of a flow that has a name, or its `end`, with what the flow told then. */
export type TracePhase = { phase: string; context: FlowContext };

/** Something a person was asked. */
export type TraceApproval = {
  approvalId: string;
  callId: string;
  tool: string;
  reason: string;
  askedAt: string;
  /** Null until somebody has answered, as are the rest. */
  answeredAt: string | null;
  allowed: boolean | null;
  by: string | null;
  note: string | null;
};

/** One run with everything below it. */
export type TraceRun = TraceSpan & {
  runId: string;
  messageId: number;
  parentRunId: string | null;
  /** The call of the parent that made it. */
  callId: string | null;
  agent: string;
  model: string | null;
  depth: number;
  task: string;
  /** Retries of the same delegation that came before. */
  attempt: number;
  status: RunStatus;
  /** Completed with what there was when a limit cut it short. */
  partial: boolean;
  bailoutReason: string | null;
  error: string | null;
  /** Why it failed, for programs. */
  errorType: string | null;
  /** Ran at the same time as a sibling. */
  parallel: boolean;
  /** Its lane in a drawing where no two bars of a lane overlap and a run stands below its parent. */
  lane: number;
  /** Turns it took, and may take. */
  iterations: number;
  maxIterations: number | null;
  /** Unknown costs are null, never 0. */
  tokens: { self: number; subtree: number };
  costUsd: { self: number | null; subtree: number | null };
  /** What the child was given: how much of the conversation, and the whole first message. */
  context: { mode: string | null; message: string; systemPromptId: string | null };
  result: { summary: string; text: string; data?: unknown } | null;
  files: readonly string[];
  deliverables: readonly DeliverableVerdict[];
  warnings: readonly string[];
  tainted: boolean;
  turns: TraceTurn[];
  calls: TraceCall[];
  phases: TracePhase[];
  approvals: TraceApproval[];
  children: TraceRun[];
  /** False for a run that is there only because one below it was asked for. */
  matched: boolean;
};

/** What a run has unless something else is told of it, and what its outline leaves out then. The lists are never changed. */
export const PLAIN_RUN = {
  closedSeq: null,
  endMs: null,
  callId: null,
  model: null,
  attempt: 0,
  partial: false,
  bailoutReason: null,
  error: null,
  errorType: null,
  parallel: false,
  maxIterations: null,
  result: null,
  files: [],
  deliverables: [],
  warnings: [],
  tainted: false,
  approvals: [],
} satisfies Partial<TraceRun>;

/** What a whole trace amounts to, whatever a filter left of it. */
export type TraceTotals = {
  runs: number;
  agents: number;
  /** Deepest run; roots are 0. */
  depth: number;
  /** Most runs at one moment that had not ended. */
  atOnce: number;
  turns: number;
  calls: number;
  /** Runs by status; those cut short count as `partial`. */
  statuses: Readonly<Record<string, number>>;
  tokens: number;
  costUsd: number | null;
  /** Milliseconds in which anything was at work. */
  activeMs: number;
};

/** A stretch in which nothing was at work, left out of drawings. */
export type TraceGap = { startMs: number; endMs: number };

/** A session as a tree of runs, made from its record alone. */
export type Trace = {
  format: typeof TRACE_FORMAT;
  session: {
    id: string;
    title: string;
    project: string;
    workspace: string;
    status: RunStatus;
    state: SessionState;
    createdAt: string;
    updatedAt: string;
  };
  /** The last moment it tells of, in milliseconds from the start of the first run. */
  endMs: number;
  totals: TraceTotals;
  gaps: readonly TraceGap[];
  /** The root runs. */
  runs: TraceRun[];
};
