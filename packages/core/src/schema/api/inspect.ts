import type { Trace, TraceRun } from "../inspect/trace.ts";
import type { ExecutionPlan, PlanDraft } from "../plan.ts";
import type { RunResult } from "../result.ts";
import type { Stats } from "../stats.ts";
import type { RightsRow } from "./agent.ts";

type Sparse<Fields> = { [Name in keyof Fields]?: NonNullable<Fields[Name]> | undefined };

/** A run as a tree of ten thousand needs it: what is null, false or empty is left out, and so is what follows from the rest. */
export type OutlineRun = Pick<
  TraceRun,
  "runId" | "messageId" | "agent" | "task" | "status" | "openedSeq" | "startMs" | "lane" | "iterations"
> &
  Sparse<
    Pick<
      TraceRun,
      | "closedSeq"
      | "endMs"
      | "callId"
      | "model"
      | "attempt"
      | "partial"
      | "bailoutReason"
      | "error"
      | "errorType"
      | "parallel"
      | "maxIterations"
      | "result"
      | "files"
      | "deliverables"
      | "warnings"
      | "tainted"
      | "approvals"
    >
  > & {
    /** Left out if it is the time from start to end. */
    durationMs?: number | null | undefined;
    /** What a delegation was given of the conversation. */
    contextMode?: string | undefined;
    /** Of the run alone, and with all below it where that is more. */
    tokens: number;
    subtreeTokens?: number | undefined;
    costUsd: number | null;
    subtreeCostUsd?: number | null | undefined;
    children?: OutlineRun[] | undefined;
  };

/** `GET /api/sessions/:id/trace`: the tree with its figures and lanes; turns and calls are read run by run. */
export type TraceView = Omit<Trace, "runs"> & {
  /** The moment that all milliseconds count from, by the clock. */
  originMs: number;
  runs: OutlineRun[];
};

/**
 * `GET /api/sessions/:id/moments`: when each model and tool call began and ended and what it took, a column for each fact, in
 * the order they opened. A session has a hundred times as many of them as runs.
 */
export type MomentList = {
  /** What `run` and `tool` count in. */
  runIds: string[];
  tools: string[];
  run: number[];
  /** Null of a model call. */
  tool: (number | null)[];
  startedAtMs: number[];
  endedAtMs: (number | null)[];
  tokens: number[];
  costUsd: (number | null)[];
  /** Give it as `after` for what follows; null if nothing does. */
  next: number | null;
};

/** `GET /api/runs/:id`: everything about one run. */
export type RunDetail = {
  runId: string;
  sessionId: string;
  systemPrompt: string | null;
  /** The whole first message it was given, and how much of the conversation that was. */
  message: string;
  contextMode: string | null;
  task: string;
  result: RunResult | null;
  /** The whole final text. */
  text: string;
  /** Its rights as they were when it began; null if the record does not hold them. */
  rights: RightsRow[] | null;
  delegatesTo: readonly string[];
  /** Files below the workspace that it made, which can be opened. */
  files: { path: string; root: "workspace" | "project"; exists: boolean }[];
  /** The row, names as in the table. */
  row: Record<string, unknown>;
};

/** `GET /api/runs/:id/diff`: what the run and everything below it changed. */
export type RunDiff = {
  folders: {
    root: string;
    isProject: boolean;
    files: { path: string; kind: string; added: number | null; removed: number | null; patch: string }[];
  }[];
  unkept: readonly string[];
};

/** `GET /api/stats`. */
export type StatsView = Stats & {
  /** Runs, successes and cost per day, the oldest first. */
  days: { day: string; runs: number; successes: number; costUsd: number | null; tokens: number }[];
};

/** `GET /api/health`. */
export type HealthView = {
  checks: {
    check: string;
    verdict: "ok" | "warning" | "problem" | "skipped";
    summary: string;
    details?: readonly string[];
    remedy?: string;
  }[];
  /** Repaired, odd or skipped agent files and settings. */
  problems: { severity: string; file: string; line: number; code: string; message: string; fix: string }[];
};

/** `GET /api/about`: what the app must know at its start. */
export type About = {
  version: string;
  project: string;
  projectName: string;
  startedAtMs: number;
  /** The agent that answers unless another is chosen. */
  agent: string;
  model: { name: string; isOffline: boolean };
  permissionMode: string;
  /** Requests to begin with, which work without any set-up. */
  examples: { title: string; task: string; agent: string | null }[];
};

/** `GET /api/plans` and what is done with them. */
export type PlanList = {
  plans: ExecutionPlan[];
  /** Asks for the page behind this one; null on the last. */
  next: string | null;
};
export type PlanRequest = { goal: string; agent?: string; model?: string };
export type PlanEdit = PlanDraft;
export type { ExecutionPlan };

/** What every refused request is answered with. */
export type ApiError = { error: { code: string; message: string; hint: string | null } };
