import type { SessionCard } from "@retinue/core/schema/api/session";
import type { Trace, TraceRun } from "@retinue/core/schema/inspect/trace";
import { walkRuns } from "@retinue/core/show/walk-runs";

/** What a session amounts to, as far as it can be compared with another. */
export type SessionFacts = {
  standing: string;
  /** The run that the session ended with, or is at; undefined if nothing has run. */
  last: TraceRun | undefined;
  task: string;
  agent: string | null;
  /** Of all runs, the most used first. */
  models: readonly string[];
  prompts: number;
  runs: number;
  agents: number;
  levels: number;
  atOnce: number;
  turns: number;
  calls: number;
  tokens: number;
  /** Unknown is null, never 0. */
  costUsd: number | null;
  activeMs: number;
  failed: number;
  cutShort: number;
  stopped: number;
  asked: number;
  denied: number;
  deliverables: { there: number; all: number };
  /** Paths below the project or the session's workspace, each once. */
  files: readonly string[];
};

/** Adds up what a trace says. `aheadMs` has passed since it was read, which counts while the session is at work. */
export function gatherFacts(trace: Trace, card: SessionCard, aheadMs: number): SessionFacts {
  const { totals, runs: roots } = trace;
  const all = [...walkRuns(roots)];
  const count = (status: string) => totals.statuses[status] ?? 0;
  const approvals = all.flatMap((run) => run.approvals);
  const verdicts = all.flatMap((run) => run.deliverables);
  return {
    standing: nameOutcome(card, roots.at(-1)),
    last: roots.at(-1),
    task: roots[0]?.task ?? trace.session.title,
    agent: roots[0]?.agent ?? null,
    models: mostUsed(all.flatMap(({ model }) => model ?? [])),
    prompts: roots.length,
    runs: totals.runs,
    agents: totals.agents,
    levels: roots.length === 0 ? 0 : totals.depth + 1,
    atOnce: totals.atOnce,
    turns: totals.turns,
    calls: totals.calls,
    tokens: totals.tokens,
    costUsd: totals.costUsd,
    activeMs: totals.activeMs + (card.state === "running" ? Math.max(0, aheadMs) : 0),
    failed: count("failed") + count("timeout"),
    cutShort: count("partial"),
    stopped: count("cancelled"),
    asked: approvals.length,
    denied: approvals.filter(({ allowed }) => allowed === false).length,
    deliverables: { there: verdicts.filter(({ ok }) => ok).length, all: verdicts.length },
    files: [
      ...new Set(all.flatMap(({ files }) => files.map((file) => shortPath(file, trace.session)))),
    ].sort(),
  };
}

/** A session whose last run was cut short is not simply done. */
function nameOutcome({ state, asks }: SessionCard, last: TraceRun | undefined): string {
  if (state === "running" && asks > 0) return "waiting";
  return state === "completed" && last?.partial ? "partial" : state;
}

function mostUsed(names: readonly string[]): string[] {
  const uses = Map.groupBy(names, (name) => name);
  return [...uses].sort(([, one], [, other]) => other.length - one.length).map(([name]) => name);
}

/** Two sessions have the same project but never the same workspace, so that only what comes below it can be compared. */
function shortPath(file: string, { workspace, project }: Trace["session"]): string {
  for (const folder of [workspace, project])
    if (folder !== "" && file.startsWith(`${folder}/`)) return file.slice(folder.length + 1);
  return file;
}
