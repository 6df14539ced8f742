import type { PLAIN_RUN, Trace, TraceRun } from "../inspect/trace.ts";
import type { ExecutionPlan } from "../plan.ts";
import type { RunResult } from "../result.ts";
import {
  anything,
  byName,
  declared,
  filledText,
  flag,
  list,
  number,
  oneOf,
  orNull,
  type Shape,
  shape,
  type TypeIn,
  text,
  whole,
} from "../shape.ts";
import type { DayStats, RunStats, StatsGroup } from "../stats.ts";
import { RightsRow } from "./agent.ts";

const TRACE_VERSION: Shape<Trace["format"]> = { type: "integer" };

/** A run as a tree of ten thousand needs it: what is null, false or empty is left out, and so is what follows from the rest. */
export type OutlineRun = Pick<
  TraceRun,
  "runId" | "messageId" | "agent" | "task" | "status" | "openedSeq" | "startMs" | "lane" | "iterations"
> & { [Name in keyof typeof PLAIN_RUN]?: NonNullable<TraceRun[Name]> | undefined } & {
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
export const TraceView = shape({
  format: TRACE_VERSION,
  session: declared<Trace["session"]>(),
  /** The moment that all milliseconds count from, by the clock. */
  originMs: number,
  endMs: number,
  totals: declared<Trace["totals"]>(),
  gaps: list(shape({ startMs: number, endMs: number })),
  runs: list(declared<OutlineRun>()),
});
export type TraceView = TypeIn<typeof TraceView>;

/**
 * `GET /api/sessions/:id/moments`: when each model and tool call began and ended and what it took, a column for each fact, in
 * the order they opened. A session has a hundred times as many of them as runs.
 */
export const MomentList = shape({
  /** What `run` and `tool` count in. */
  runIds: list(text),
  tools: list(text),
  run: list(whole),
  /** Null of a model call. */
  tool: list(orNull(whole)),
  startedAtMs: list(number),
  endedAtMs: list(orNull(number)),
  tokens: list(number),
  costUsd: list(orNull(number)),
  /** Give it as `after` for what follows; null if nothing does. */
  next: orNull(whole),
});
export type MomentList = TypeIn<typeof MomentList>;

/** `GET /api/runs/:id`: everything about one run. */
export const RunDetail = shape({
  runId: text,
  sessionId: text,
  systemPrompt: orNull(text),
  /** The whole first message it was given, and how much of the conversation that was. */
  message: text,
  contextMode: orNull(text),
  task: text,
  result: orNull(declared<RunResult>()),
  /** The whole final text. */
  text,
  /** Its rights as they were when it began; null if the record does not hold them. */
  rights: orNull(list(RightsRow)),
  delegatesTo: list(text),
  /** Files below the workspace that it made, which can be opened. */
  files: list(shape({ path: text, root: oneOf("workspace", "project"), exists: flag })),
  /** The row, names as in the table. */
  row: byName(anything),
});
export type RunDetail = TypeIn<typeof RunDetail>;

/** `GET /api/runs/:id/diff`: what the run and everything below it changed. */
export const RunDiff = shape({
  folders: list(
    shape({
      root: text,
      isProject: flag,
      files: list(
        shape({ path: text, kind: text, added: orNull(whole), removed: orNull(whole), patch: text }),
      ),
    }),
  ),
  unkept: list(text),
});
export type RunDiff = TypeIn<typeof RunDiff>;

const DAY: Shape<DayStats> = shape({
  day: text,
  runs: whole,
  successes: whole,
  costUsd: orNull(number),
  tokens: number,
});

/** `GET /api/stats`. */
export const StatsView = shape({
  groups: list(declared<StatsGroup>()),
  total: declared<RunStats>(),
  /** Runs, successes and cost per day, the oldest first. */
  days: list(DAY),
});
export type StatsView = TypeIn<typeof StatsView>;

/** `GET /api/health`. */
export const HealthView = shape({
  checks: list(
    shape({
      check: text,
      verdict: oneOf("ok", "warning", "problem", "skipped"),
      summary: text,
      "details?": list(text),
      "remedy?": text,
    }),
  ),
  /** Repaired, odd or skipped agent files and settings. */
  problems: list(shape({ severity: text, file: text, line: whole, code: text, message: text, fix: text })),
});
export type HealthView = TypeIn<typeof HealthView>;

/** `GET /api/about`: what the app must know at its start. */
export const About = shape({
  version: text,
  project: text,
  projectName: text,
  startedAtMs: number,
  /** The agent that answers unless another is chosen. */
  agent: text,
  model: shape({ name: text, isOffline: flag }),
  permissionMode: text,
  /** Requests to begin with, which work without any set-up. */
  examples: list(shape({ title: text, task: text, agent: orNull(text) })),
});
export type About = TypeIn<typeof About>;

/** `GET /api/plans`. */
export const PlanList = shape({
  plans: list(declared<ExecutionPlan>()),
  /** Asks for the page behind this one; null on the last. */
  next: orNull(text),
});
export type PlanList = TypeIn<typeof PlanList>;

/** `POST /api/plans`. */
export const PlanRequest = shape({
  goal: filledText(20_000),
  "agent?": filledText(300),
  "model?": filledText(300),
});

/** `POST /api/plans/:id/run`. */
export const PlanRunRequest = shape({
  "model?": filledText(300),
  "onFailure?": oneOf("continue", "stop"),
});

/** What every refused request is answered with. */
export const ApiError = shape({ error: shape({ code: text, message: text, hint: orNull(text) }) });
export type ApiError = TypeIn<typeof ApiError>;
