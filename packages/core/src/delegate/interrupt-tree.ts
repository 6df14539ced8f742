import type { Interruption } from "../run/run-spec.ts";
import type { LiveRun } from "../session/host.ts";

/** Ends a run and everything below it. */
export function cancelTree(live: LiveRun, message: string): void {
  interruptTree(live, { status: "cancelled", bailout: "cancelled", message });
}

/** Interrupts a run and everything below it. */
export function interruptTree(live: LiveRun, interruption: Interruption): void {
  live.run.interrupt(interruption);
  for (const kid of live.kids) interruptTree(kid, interruption);
}
