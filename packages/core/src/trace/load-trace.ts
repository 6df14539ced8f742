import type { Record } from "../record/record.ts";
import type { Trace, TraceRun } from "../schema/inspect/trace.ts";
import type { SessionRow } from "../schema/record.ts";
import { sessionState } from "./session-state.ts";
import { buildTrace, fillRuns } from "./trace-tree.ts";

/** A trace whose runs have their figures, and their turns and calls only once they are asked for. */
export type TraceOutline = {
  readonly trace: Trace;
  /** Reads the turns, calls and phases of these runs. */
  fill(runs: Iterable<TraceRun>): Promise<void>;
};

/** Reads a session's whole trace from the record, also while another process writes it. */
export async function loadTrace(record: Record, session: SessionRow, nowMs = Date.now()): Promise<Trace> {
  return buildTrace({
    ...(await contextOf(record, session)),
    rows: await record.readRows({ sessionId: session.session_id }),
    nowMs,
  });
}

/** The same of a session that may have many thousand runs, of which few will be looked at. Prompts are cut. */
export async function loadOutline(
  record: Record,
  session: SessionRow,
  nowMs = Date.now(),
): Promise<TraceOutline> {
  const id = session.session_id;
  const runs = await record.readOutline({ sessionId: id });
  const open = runs.filter((run) => run.closed_seq === null).map((run) => run.run_id);
  const rows = [...runs, ...(await record.readRows({ sessionId: id, runIds: open, kind: "steps" }))];
  const trace = buildTrace({ ...(await contextOf(record, session)), rows, nowMs });
  return {
    trace: { ...trace, totals: { ...trace.totals, ...(await record.countSteps(id)) } },
    async fill(wanted) {
      const some = [...wanted];
      const ids = some.map(({ runId }) => runId);
      fillRuns(trace, some, await record.readRows({ sessionId: id, runIds: ids, kind: "steps" }));
    },
  };
}

async function contextOf(record: Record, session: SessionRow) {
  return {
    session,
    state: await sessionState(record, session),
    approvals: await record.listApprovals({ sessionId: session.session_id }),
  };
}
