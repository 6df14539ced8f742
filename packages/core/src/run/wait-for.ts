import type { Deadline } from "../budget/deadline.ts";
import { untilAborted } from "../budget/until-aborted.ts";
import { messageOf } from "../schema/error.ts";
import type { WaitingOn } from "../schema/event.ts";
import type { Run } from "./run.ts";

/**
 * Waits for something outside the run and lets watchers see what for. Time with children is not the run's own, and time
 * with a person counts for nobody.
 */
export async function waitFor<Value>(run: Run, on: WaitingOn, promise: Promise<Value>): Promise<Value> {
  const stopped = findStopped(run, on);
  for (const deadline of stopped) deadline.stop(run.host.clock.monotonicMs());
  change(run, on, 1);
  try {
    return await promise;
  } finally {
    for (const deadline of stopped) deadline.start(run.host.clock.monotonicMs());
    change(run, on, -1);
  }
}

/** The clocks that stand still during a wait. */
function findStopped(run: Run, on: WaitingOn): Deadline[] {
  if (on === "children") return [run.deadline];
  if (on !== "approval" && on !== "pause") return [];
  const stopped = [run.deadline];
  for (let box = run.timeBox; box; box = box.outer) stopped.push(box.deadline);
  return stopped;
}

/** Several calls of a run may wait for the same; watchers are told when the first begins and the last ends. */
function change(run: Run, on: WaitingOn, by: 1 | -1): void {
  const isWatched = run.host.watched();
  const before = isWatched && run.waitingOn;
  const count = (run.waits.get(on) ?? 0) + by;
  if (count > 0) run.waits.set(on, count);
  else run.waits.delete(on);
  if (isWatched && run.waitingOn !== before)
    run.session.emit({ type: "run.waiting", runId: run.runId, on: run.waitingOn });
}

/** What a tool says of a call before it is made; a run that was stopped does not wait for it. */
export async function askTool<Value>(run: Run, said: Value | Promise<Value>): Promise<Value> {
  return said instanceof Promise ? untilAborted(said, run.signal) : said;
}

/** After this long a wait for the disk is shown. */
const SLOW_DISK_MS = 1_000;

/**
 * Waits until everything so far is on disk, or the run is stopped; says what is wrong if it never will be. This is how runs
 * stand still while the disk refuses writes, and why no turn that was paid for is lost in a crash. A run waits once a turn: with
 * the row of its next model call, which makes one transaction; or, if somebody watches, before that turn begins, so that who
 * hears of what happened can still hold the run or say something to it.
 */
export async function waitForDisk(run: Run): Promise<string | null> {
  const written = run.session.journal.committed().then(() => null, messageOf);
  const orStopped = untilAborted(written, run.signal).catch(() => null);
  if (!run.host.watched()) return orStopped;
  let shown: PromiseWithResolvers<void> | null = null;
  const stopTimer = run.host.clock.timer(SLOW_DISK_MS, () => {
    shown = Promise.withResolvers<void>();
    void waitFor(run, "store", shown.promise);
  });
  const result = await orStopped;
  stopTimer();
  (shown as PromiseWithResolvers<void> | null)?.resolve();
  return result;
}
