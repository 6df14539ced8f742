import type { StopRequest, StopTable } from "../record/stop-table.ts";
import type { Interruption } from "../run/run-spec.ts";

/** How a run ends that somebody stopped from another process. */
export const STOPPED_FROM_OUTSIDE: Interruption = {
  status: "cancelled",
  bailout: "cancelled",
  message: "cancelled from outside",
};

const LOOK_MS = 1_000;

/** Looks each second for wishes to stop that other processes left; the answer ends the looking. */
export function watchStops(
  store: Pick<StopTable, "stopsAsked">,
  act: (request: StopRequest) => void,
): () => void {
  const look = () => {
    try {
      for (const request of store.stopsAsked()) act(request);
    } catch {
      // A database that is busy now is looked at again in a second.
    }
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return () => clearInterval(timer);
}
