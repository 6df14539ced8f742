import { findEndMs } from "./limits.ts";
import type { Interruption, Pace, Run } from "./run.ts";

/** How often a run is looked at whose clocks all stand still. */
const LOOK_MS = 1_000;

/** Things reach a run as they happen. */
export const livePace: Pace = {
  beforeTurn: () => null,
  watch(run) {
    const stop = findStop(run);
    if (stop) run.interrupt(stop);
    return watchDeadline(run);
  },
  refuseChild: (_parent, _child, stopped) => stopped,
  hear: (_parent, _about, ended) => ended,
  untilEnded(_parent, some, enough, orUntil) {
    const ends: Promise<unknown>[] = some.map((one) => one.done);
    return enough === "all" ? Promise.all(ends) : Promise.race([...ends, ...orUntil]);
  },
  hearAll: () => {},
  stopChildren: (_parent, stop) => stop(),
};

/** What has stopped a run before it came to life. */
function findStop({ parent, session }: Run): Interruption | null {
  return parent ? (parent.interruption ?? parent.children?.stopping ?? null) : session.stop;
}

/** Ends the run at its deadline, which does not come while its clocks stand still; returns how to stop watching. */
function watchDeadline(run: Run): () => void {
  const { clock } = run.host;
  let stop = () => {};
  const findLeftMs = () => {
    const end = findEndMs(run);
    return end === Number.POSITIVE_INFINITY ? LOOK_MS : end - clock.monotonicMs();
  };
  // Timers of equal length share a list: of a long time the whole seconds are waited for first.
  const shorten = (leftMs: number) => (leftMs > 2_000 ? Math.floor(leftMs / 1_000) * 1_000 : leftMs);
  const arm = (delayMs: number) => {
    stop = clock.timer(shorten(delayMs), () => {
      const leftMs = findLeftMs();
      if (leftMs >= 1) return arm(leftMs);
      const { limits, agent } = run;
      const message = `${agent.name} did not finish within its time (${Math.round(limits.timeoutMs / 1000)} s)`;
      run.interrupt({ status: "timeout", bailout: "timeout", message });
    });
  };
  arm(findLeftMs());
  return () => stop();
}
