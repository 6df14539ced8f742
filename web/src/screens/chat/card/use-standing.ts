import { useSelected } from "../../../live/use-selected.ts";
import { useSession } from "../../../live/use-session.tsx";
import { standingOf } from "../../../ui/status.tsx";
import { useChatView } from "../chat-view.ts";
import { useRun } from "./use-run.ts";

/** How a run stands at this moment, in one word for its badge. */
export function useStanding(runId: string): string {
  const store = useSession();
  const view = useChatView();
  const run = useRun(runId);
  const holder = useSelected(store.session, (session) => session?.holder ?? null);
  const state = useSelected(store.session, (session) => session?.state);
  const isPaused = useSelected(store.live(runId), (live) => live?.isPaused === true);
  const waitingOn = useSelected(store.live(runId), (live) => live?.waitingOn ?? null);
  const asks = useSelected(view.asks, (asks) => asks.has(runId));
  if (run.endedAtMs !== null) return standingOf(run);
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
