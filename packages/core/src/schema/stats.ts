/** What the figures are grouped by. */
export type StatsBy = (typeof STATS_BY)[number];
export const STATS_BY = ["role", "model", "both"] as const;

/** Which runs count, and how they are grouped; a filter that is absent lets every run through. */
export type StatsQuery = {
  /** `both` unless said otherwise. */
  by?: StatsBy;
  /** Runs that began at this moment or later. */
  sinceMs?: number;
  sessionId?: string;
  /** The whole name of an agent. */
  agent?: string;
  /** The whole id of a model, as recorded for the run. */
  model?: string;
  /** The project's folder, as recorded for the session. */
  project?: string;
};

/** A share with the interval in which, at 95 %, the true one lies. */
export type Share = { rate: number; low: number; high: number; n: number };

/** What runs left and called. Files count for each run that touched them; tests are null if none were counted. */
export type WorkFigures = {
  files: number;
  testsRun: number | null;
  testsPassed: number | null;
  toolCalls: number;
};

/**
 * The figures of some runs. Each attempt of a delegation is a run. A rate and percentiles of fewer than `FEWEST_RUNS`
 * ended runs would mislead and are `null`.
 */
export type RunStats = {
  /** All of them, those included that have not ended. */
  runs: number;
  /** Running now, or broken off with their process. */
  open: number;
  /** Completed, and not cut short. */
  successes: number;
  /** Completed with what there was when a limit cut them short; no successes. */
  partials: number;
  /** Stopped, by a person or with their parent, or never started: neither successes nor failures. */
  cancelled: number;
  /** The others that ended, by status. */
  failures: Readonly<Record<string, number>>;
  /** Successes among all runs that ended and were not cancelled. */
  success: Share | null;
  /** Of all runs that ended, however they did. */
  durationMs: { p50: number; p95: number } | null;
  /** Of the runs' own model calls, not of their children's. */
  tokens: { input: number; output: number; total: number };
  /** Of the same calls; unknown, `null`, as soon as the price of one was. */
  costUsd: number | null;
  /** Of the runs themselves, not of their children. */
  work: WorkFigures;
  /** With everything below the runs, each run once although it may stand below several others. */
  subtree: WorkFigures & { tokens: number; costUsd: number | null };
  /** The cost of all runs, the failed included, for each success; `null` without a success or a known cost. */
  costPerSuccessUsd: number | null;
  /** Models that were called without a known price. */
  unpricedModels: readonly string[];
  /** Runs that repeated a failed attempt. */
  retries: number;
  /** Runs cut short, by reason. */
  bailouts: Readonly<Record<string, number>>;
};

/** The figures of one role or model; what was not grouped by is absent, what was not recorded is `null`. */
export type StatsGroup = RunStats & { role?: string | null; model?: string | null };

/** Figures by group, those with the most runs first, and of all of them together. */
export type Stats = { groups: readonly StatsGroup[]; total: RunStats };

/** The runs of one day (UTC), such as `2026-01-31`; unknown costs are null. */
export type DayStats = {
  day: string;
  runs: number;
  successes: number;
  costUsd: number | null;
  tokens: number;
};

/** With fewer ended runs than this nothing is said about how likely or how fast. */
export const FEWEST_RUNS = 5;
