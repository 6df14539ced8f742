import type { StepView } from "@retinue/core/schema/api/session";
import type { TraceApproval, TraceRun } from "@retinue/core/schema/inspect/trace";
import { nameStatus } from "@retinue/core/show/standing";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { type Course, listAsks } from "./course.ts";
import { type CallMoment, createSpending, type Spending, spentAt } from "./moments.ts";

type RunCourse = { moments: readonly CallMoment[]; own: Spending; below: Spending };

/** Takes the part of a run out of the course. */
export function takeRunCourse(course: Course, run: TraceRun): RunCourse {
  return {
    moments: course.findMoments(run.runId),
    own: createSpending([run], course.findMoments),
    below: createSpending(walkRuns([run]), course.findMoments),
  };
}

/**
 * A run as it was at a moment: one that had not ended has no result, no error and no figures but those of its turns so far. The
 * seq of its end stays, because what is loaded of a run is kept by it.
 */
export function runAt(
  run: TraceRun,
  atMs: number,
  { moments, own, below, endMs }: RunCourse & { endMs: number },
): TraceRun {
  if (atMs >= endMs || (run.endMs !== null && run.endMs <= atMs)) return run;
  const turns = moments.filter(({ tool, startMs }) => tool === null && startMs <= atMs).length;
  const self = spentAt(own, atMs);
  const subtree = spentAt(below, atMs);
  return {
    ...run,
    status: "running",
    partial: false,
    bailoutReason: null,
    error: null,
    errorType: null,
    endedAt: null,
    endMs: null,
    durationMs: null,
    iterations: run.endMs === null ? turns : Math.min(turns, run.iterations),
    tokens: { self: self.tokens, subtree: subtree.tokens },
    costUsd: { self: self.costUsd, subtree: subtree.costUsd },
    result: null,
    files: [],
    deliverables: [],
    warnings: [],
    tainted: false,
    approvals: approvalsAt(run, atMs),
    children: run.children.filter(({ startMs }) => startMs <= atMs),
  };
}

/** What had been asked by a moment, with the answers that had been given. */
function approvalsAt(run: TraceRun, atMs: number): TraceApproval[] {
  const asks = listAsks(run);
  return run.approvals.flatMap((approval, index) => {
    const ask = asks[index];
    if (!ask || ask.askedMs > atMs) return [];
    return ask.answeredMs <= atMs
      ? [approval]
      : [{ ...approval, answeredAt: null, allowed: null, by: null, note: null }];
  });
}

/** A turn or call as it was at an earlier moment, since 1970: under way without what came of it; undefined if it began later. */
export function stepAt(step: StepView, atMs: number): StepView | undefined {
  if (step.startedAtMs > atMs) return undefined;
  if (step.endedAtMs !== null && step.endedAtMs <= atMs) return step;
  const { text: _text, output: _output, tokens: _tokens, costUsd: _cost, approvedBy: _by, ...known } = step;
  return {
    ...known,
    status: "running",
    endedAtMs: null,
    durationMs: null,
    error: null,
    // There is more of its texts in the record, but not of what was known then.
    isCut: false,
    ...(step.kind === "call" && { outcome: "running" as const }),
  };
}

/** Columns of a row that are written when it opens. */
const OPENED = [
  "id",
  "session_id",
  "parent_message_id",
  "started_at",
  "agent_role",
  "agent_depth",
  "system_prompt_id",
  "request_type",
  "request_content",
  "context_mode",
  "max_iterations",
  "max_duration_ms",
  "run_id",
  "call_id",
  "opened_seq",
  "replay",
];

/** The row of a run that had not ended: what was written of it when it began. */
export function openedRow(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(OPENED.filter((name) => name in row).map((name) => [name, row[name]]));
}

/** How a run stands that will begin later. */
export const NOT_BEGUN = "not begun";

/** The present: the last moment there is, and how the session stands then. */
type Present = { endMs: number; state: string };

/** How a run stood at a moment, in one word. At the last moment it stands as it does now. */
export function standingAt(run: TraceRun, atMs: number, { endMs, state }: Present): string {
  if (atMs < run.startMs) return NOT_BEGUN;
  if (run.endMs !== null && run.endMs <= atMs) return nameStatus(run);
  if (atMs >= endMs) return standingNow(run, state);
  const waits = listAsks(run).some(({ askedMs, answeredMs }) => askedMs <= atMs && atMs < answeredMs);
  return waits ? "waiting" : "running";
}

/** How a run stands in one word. One that is open runs, waits for a person, or has lost its process. */
export function standingNow(run: TraceRun, state: string): string {
  if (run.endMs !== null) return nameStatus(run);
  if (run.approvals.some(({ allowed }) => allowed === null)) return "waiting";
  return state === "running" ? nameStatus(run) : state;
}
