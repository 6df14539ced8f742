import type { StepView } from "../../../../../../src/schema/api/session.ts";
import type { TraceApproval, TraceRun } from "../../../../../../src/schema/inspect/trace.ts";
import { everyRun } from "../../trace-index.ts";
import { asksOf, type Course } from "./course.ts";
import type { Moment } from "./moment.ts";
import { createSpending, type Spending, spentAt } from "./spending.ts";

/** What is known of one run: its calls, what it used by itself, and with everything below it. */
export type RunCourse = { moments: readonly Moment[]; own: Spending; below: Spending };

/** Takes the part of a run out of the course. */
export function courseOfRun(course: Course, run: TraceRun): RunCourse {
  return {
    moments: course.momentsOf(run.runId),
    own: createSpending([run], course.momentsOf),
    below: createSpending(everyRun([run]), course.momentsOf),
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
export function approvalsAt(run: TraceRun, atMs: number): TraceApproval[] {
  const asks = asksOf(run);
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
