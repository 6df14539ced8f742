import { isRunRow } from "../record/read-tree.ts";
import { type SessionState, TRACE_FORMAT, type Trace, type TraceRun } from "../schema/inspect/trace.ts";
import type { Approval, MessageRow, SessionRow } from "../schema/record.ts";
import { findGaps, findWork, joinStretches, type Stretch } from "../show/timeline.ts";
import { walkRuns } from "../show/walk-runs.ts";
import { assignLanes, markParallel } from "./lanes.ts";
import { approvalOf, callOfRow, momentOf, phaseOfRow, runOfRow, turnOfRow } from "./trace-row.ts";
import { addUp } from "./trace-totals.ts";

/** What a trace is made from. */
export type TraceSource = {
  session: SessionRow;
  state: SessionState;
  /**
   * Rows of the session in the order they opened: all of them; or its runs with the id of the run above each, and the
   * calls of those that have not ended.
   */
  rows: Iterable<MessageRow & { parent_run_id?: string | null }>;
  approvals?: readonly Approval[];
  /** Now, for what is at work; what was broken off ends with the last thing the record tells of it. */
  nowMs: number;
};

/** The tree of runs of a session from its rows. A row whose parent is not among the earlier ones is a root. */
export function buildTrace({ session, state, rows, approvals = [], nowMs }: TraceSource): Trace {
  const tree = growTree(rows);
  for (const run of walkRuns(tree.roots)) closePhases(run);
  for (const asked of approvals) tree.byRunId.get(asked.runId)?.approvals.push(approvalOf(asked));
  const endMs = state === "running" ? Math.max(tree.lastMs, nowMs - tree.originMs) : tree.lastMs;
  if (state !== "running") breakOff(tree.roots);
  const work = joinStretches(workIn(tree.roots, endMs));
  markParallel(tree.roots);
  assignLanes(tree.roots, endMs);
  return {
    format: TRACE_FORMAT,
    session: {
      id: session.session_id,
      title: session.title,
      project: session.project,
      workspace: session.workspace,
      status: session.status,
      state,
      createdAt: session.created_at,
      updatedAt: session.updated_at,
    },
    endMs,
    totals: addUp(tree.roots, work),
    gaps: findGaps(work),
    runs: tree.roots,
  };
}

type Tree = { roots: TraceRun[]; byRunId: Map<string, TraceRun>; originMs: number; lastMs: number };

function growTree(rows: TraceSource["rows"]): Tree {
  const roots: TraceRun[] = [];
  /** The run that each row is, or belongs to. */
  const ownerOf = new Map<number, TraceRun>();
  const byRunId = new Map<string, TraceRun>();
  let originMs: number | undefined;
  let lastMs = 0;
  for (const row of rows) {
    originMs ??= momentOf(row.started_at);
    lastMs = Math.max(lastMs, momentOf(row.completed_at ?? row.started_at) - originMs);
    const above = ownerOf.get(row.parent_message_id ?? -1) ?? byRunId.get(row.parent_run_id ?? "");
    const run = isRunRow(row)
      ? runOfRow(row, above?.runId ?? null, originMs)
      : (above ?? byRunId.get(row.run_id));
    if (!run) continue;
    ownerOf.set(row.id, run);
    if (!isRunRow(row)) {
      addToRun(run, row, originMs);
      continue;
    }
    (above?.children ?? roots).push(run);
    byRunId.set(run.runId, run);
  }
  return { roots, byRunId, originMs: originMs ?? 0, lastMs };
}

function addToRun(run: TraceRun, row: MessageRow, originMs: number): void {
  if (row.request_type === "tool_call") {
    run.calls.push(callOfRow(row, originMs));
    return;
  }
  run.turns.push(turnOfRow(row, originMs));
  const phase = phaseOfRow(row);
  if (phase) run.phases.push(phase);
}

/** The end of a flow comes after its phases, once they are known. */
function closePhases({ phases }: TraceRun): void {
  const [first] = phases;
  if (first?.phase === "end" && phases.length > 1) phases.push(...phases.splice(0, 1));
}

/** Adds the calls of runs that were built without them; `rows` in the order they opened. */
export function fillRuns(trace: Trace, runs: Iterable<TraceRun>, rows: Iterable<MessageRow>): void {
  const originMs = momentOf(trace.runs[0]?.startedAt ?? null);
  const empty = new Map([...runs].filter(({ turns }) => turns.length === 0).map((run) => [run.runId, run]));
  for (const row of rows) {
    const run = empty.get(row.run_id);
    if (run) addToRun(run, row, originMs);
  }
  for (const run of empty.values()) closePhases(run);
  if (trace.session.state !== "running") breakOff([...empty.values()]);
}

function* workIn(roots: readonly TraceRun[], endMs: number): Generator<Stretch> {
  for (const run of walkRuns(roots)) {
    // Of one that is open nobody knows whether it worked all the time.
    if (run.endMs !== null) yield findWork(run, endMs);
    for (const turn of run.turns) yield findWork(turn, endMs);
    for (const call of run.calls) yield findWork(call, endMs);
  }
}

function breakOff(roots: readonly TraceRun[]): void {
  for (const run of walkRuns(roots))
    for (const call of run.calls) if (call.outcome === "running") call.outcome = "interrupted";
}
