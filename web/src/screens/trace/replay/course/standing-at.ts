import type { TraceRun } from "../../../../../../src/schema/inspect/trace.ts";
import { standingOf } from "../../../../ui/status.tsx";
import { asksOf } from "./course.ts";

/** How a run stands that will begin later. */
export const NOT_BEGUN = "not begun";

/** The present: the last moment there is, and how the session stands then. */
export type Present = { endMs: number; state: string };

/** How a run stood at a moment, in one word. At the last moment it stands as it does now. */
export function standingAt(run: TraceRun, atMs: number, { endMs, state }: Present): string {
  if (atMs < run.startMs) return NOT_BEGUN;
  if (run.endMs !== null && run.endMs <= atMs) return standingOf(run);
  if (atMs >= endMs) return standingNow(run, state);
  const waits = asksOf(run).some(({ askedMs, answeredMs }) => askedMs <= atMs && atMs < answeredMs);
  return waits ? "waiting" : "running";
}

/** How a run stands in one word. One that is open runs, waits for a person, or has lost its process. */
export function standingNow(run: TraceRun, state: string): string {
  if (run.endMs !== null) return standingOf(run);
  if (run.approvals.some(({ allowed }) => allowed === null)) return "waiting";
  return state === "running" ? standingOf(run) : state;
}
