import { api } from "../../api/client.ts";
import type { SessionStore } from "../../live/session-store.ts";
import { attempt } from "../../ui/toast.tsx";
import type { ChatView } from "./chat-view.ts";

/** Stops a run; where others below it would stop with it, the person is asked first. */
export function askToStop(runId: string, store: SessionStore, view: ChatView): void {
  if (liveBelow(runId, store) > 0) view.stopping.set(runId);
  else void stopRun(runId);
}

/** Stops a run and everything below it. */
export function stopRun(runId: string): Promise<boolean> {
  return attempt(() => api.post(`/api/runs/${runId}/cancel`));
}

/** How many runs below a run have not ended. */
export function liveBelow(runId: string, store: SessionStore): number {
  let count = 0;
  for (const id of store.children(runId).value) {
    if (store.run(id)?.value.endedAtMs === null) count++;
    count += liveBelow(id, store);
  }
  return count;
}
