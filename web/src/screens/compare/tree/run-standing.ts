import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { standingOf } from "../../../ui/status.tsx";

/** How a run stands in one word, in a session of that state. One that is open runs, waits for a person, or has lost its process. */
export function runStanding(run: TraceRun, state: string): string {
  if (run.endMs !== null) return standingOf(run);
  if (run.approvals.some(({ allowed }) => allowed === null)) return "waiting";
  return state === "running" ? standingOf(run) : state;
}
