import type { TraceRun } from "../../../../src/schema/inspect/trace.ts";
import { useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { standingOf } from "../../ui/status.tsx";

/** How a run stands in one word. One that is open runs, waits for a person, or has lost its process. */
export function useStanding(run: TraceRun): string {
  const session = useSignal(useSession().session);
  if (run.endMs !== null) return standingOf(run);
  if (run.approvals.some(({ allowed }) => allowed === null)) return "waiting";
  const state = session?.state ?? "running";
  return state === "running" ? standingOf(run) : state;
}
