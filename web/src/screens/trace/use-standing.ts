import type { TraceRun } from "../../../../src/schema/inspect/trace.ts";
import { useSignal } from "../../live/signal.ts";
import { useSelected } from "../../live/use-selected.ts";
import { useSession } from "../../live/use-session.tsx";
import { standingAt, standingNow } from "./replay/course/standing-at.ts";
import { useReplay } from "./replay/replay-scope.tsx";

/** How a run stands in one word: now, or where the playhead is. */
export function useStanding(run: TraceRun): string {
  const session = useSignal(useSession().session);
  const { at, endMs } = useReplay();
  const state = session?.state ?? "running";
  return useSelected(at, (atMs) =>
    atMs === null ? standingNow(run, state) : standingAt(run, atMs, { endMs, state }),
  );
}
