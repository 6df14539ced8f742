import type { WaitingOn } from "../../schema/event.ts";
import type { Phase } from "../../schema/intent.ts";

/** How a run stands, as a person sees it: waiting is told from running, and cut short from completed. */
export type NodeStatus =
  | "pending"
  | "running"
  | "waiting"
  | "completed"
  | "partial"
  | "failed"
  | "timeout"
  | "cancelled";

/** A tool call under way: its name, its input in short, and what it last said of itself. */
export type CurrentTool = { readonly name: string; readonly input: string; readonly progress: string };

/** One run of the tree. All texts are plain, on one line, and short. */
export type RunNode = {
  readonly runId: string;
  readonly sessionId: string;
  readonly parentRunId: string | null;
  readonly messageId: number | null;
  readonly agent: string;
  readonly displayName: string;
  readonly icon: string | null;
  readonly model: string;
  readonly task: string;
  readonly depth: number;
  /** Retries that came before. */
  readonly attempt: number;
  readonly status: NodeStatus;
  readonly waitingOn: WaitingOn | null;
  readonly phase: Phase | null;
  /** What the model does while no tool is called. */
  readonly activity: "thinking" | "writing" | null;
  readonly currentTool: CurrentTool | null;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  /** Of this run and all below it. */
  readonly tokens: number;
  /** Of this run and all below it; null if a price is unknown. */
  readonly costUsd: number | null;
  /** Of this run alone; a delegation is a run, not a call. */
  readonly toolCalls: number;
  readonly turns: number;
  readonly error: string | null;
  /** The runs below that are still held; `below` counts those that were let go too. */
  readonly children: readonly RunNode[];
  readonly below: RunCounts;
};

/** How many runs there are, and how they stand. */
export type RunCounts = {
  readonly runs: number;
  /** Not ended. */
  readonly live: number;
  /** Failed, timed out or cancelled. */
  readonly failed: number;
};

/** Whether a run has not ended. */
export function isLive({ status }: Pick<RunNode, "status">): boolean {
  return status === "pending" || status === "running" || status === "waiting";
}

/** Whether a run ended without success. */
export function isFailed({ status }: Pick<RunNode, "status">): boolean {
  return status === "failed" || status === "timeout" || status === "cancelled";
}
