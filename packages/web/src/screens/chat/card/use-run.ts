import type { RunView } from "@retinue/core/schema/api/session";
import { nameStatus } from "@retinue/core/show/standing";
import { useSelected, useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { useChatView } from "../chat-view.ts";

/** A run of the session around this part of the page. Rows are made only for runs that are known. */
export function useRun(runId: string): RunView {
  const signal = useSession().run(runId);
  if (!signal) throw new Error(`the session has no run ${runId}`);
  return useSignal(signal);
}

/** What was loaded of a run is not loaded again whenever its row comes back into sight. */
export const FOR_GOOD = { staleTime: Number.POSITIVE_INFINITY };

/** How a run stands at this moment, in one word for its badge. */
export function useStandingNow(runId: string): string {
  const store = useSession();
  const view = useChatView();
  const run = useRun(runId);
  const holder = useSelected(store.session, (session) => session?.holder ?? null);
  const state = useSelected(store.session, (session) => session?.state);
  const isPaused = useSelected(store.live(runId), (live) => live?.isPaused === true);
  const waitingOn = useSelected(store.live(runId), (live) => live?.waitingOn ?? null);
  const asks = useSelected(view.asks, (asks) => asks.has(runId));
  if (run.endedAtMs !== null) return nameStatus(run);
  if (asks || waitingOn === "approval") return "waiting";
  if (holder === null) return state === "waiting" ? "paused" : "interrupted";
  if (isPaused || waitingOn === "pause") return "paused";
  if (run.status === "pending" || waitingOn === "slot") return "pending";
  return "running";
}

/** Whether somebody works on the session right now, here or elsewhere. */
export function useIsHeld(): boolean {
  return useSelected(useSession().session, (session) => session?.holder != null);
}

/** Whether this server works on it, so that runs can be spoken to. */
export function useIsHere(): boolean {
  return useSelected(useSession().session, (session) => session?.holder === "here");
}
