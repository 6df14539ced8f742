import type { Store } from "../record/create-store.ts";
import type { Trace, TraceRun } from "../schema/inspect/trace.ts";
import type { SessionRow } from "../schema/record.ts";
import { sessionState } from "./session-state.ts";
import { buildTrace, fillRuns } from "./trace-tree.ts";

/** A trace whose runs have their figures, and their turns and calls only once they are asked for. */
export type TraceOutline = {
  readonly trace: Trace;
  /** Reads the turns, calls and phases of these runs. */
  fill(runs: Iterable<TraceRun>): void;
};

/** Reads a session's whole trace from the record, whoever may be writing it. */
export function loadTrace(store: Store, session: SessionRow, nowMs = Date.now()): Trace {
  return buildTrace({ ...contextOf(store, session), rows: store.messages(session.session_id), nowMs });
}

/** The same of a session that may have many thousand runs, of which few will be looked at. Prompts are cut. */
export function loadOutline(store: Store, session: SessionRow, nowMs = Date.now()): TraceOutline {
  const id = session.session_id;
  const runs = store.runOutline(id);
  const open = runs.filter((run) => run.closed_seq === null).map((run) => run.run_id);
  const rows = [...runs, ...store.stepsOf(id, open)];
  const trace = buildTrace({ ...contextOf(store, session), rows, nowMs });
  return {
    trace: { ...trace, totals: { ...trace.totals, ...store.stepCounts(id) } },
    fill(wanted) {
      const some = [...wanted];
      const ids = some.map(({ runId }) => runId);
      fillRuns(trace, some, store.stepsOf(id, ids));
    },
  };
}

function contextOf(store: Store, session: SessionRow) {
  return {
    session,
    state: sessionState(store, session),
    approvals: store.approvals({ sessionId: session.session_id }),
  };
}
