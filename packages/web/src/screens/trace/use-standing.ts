import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { useSelected, useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { usePlayhead } from "./playhead/playhead-scope.tsx";
import { standingAt, standingNow } from "./playhead/run-at.ts";

/** How a run stands in one word: now, or where the playhead is. */
export function useStandingThen(run: TraceRun): string {
  const session = useSignal(useSession().session);
  const { at, endMs } = usePlayhead();
  const state = session?.state ?? "running";
  return useSelected(at, (atMs) =>
    atMs === null ? standingNow(run, state) : standingAt(run, atMs, { endMs, state }),
  );
}
