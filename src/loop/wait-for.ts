import type { WaitingOn } from "../schema/event.ts";
import type { LoopPorts } from "./ports.ts";
import type { Run } from "./run.ts";

/** What a run waits for at no cost of its own time. */
const FREE: ReadonlySet<WaitingOn> = new Set(["children", "approval", "pause"]);

/** Waits for something outside the run and lets watchers see what for. Time with children or a person is not the run's own. */
export async function waitFor<Value>(
  run: Run,
  on: WaitingOn,
  ports: LoopPorts,
  promise: Promise<Value>,
): Promise<Value> {
  if (FREE.has(on)) run.stopClock(ports.clock.monotonicMs());
  change(run, on, 1, ports);
  try {
    return await promise;
  } finally {
    if (FREE.has(on)) run.startClock(ports.clock.monotonicMs());
    change(run, on, -1, ports);
  }
}

/** Several calls of a run may wait for the same; watchers are told when the first begins and the last ends. */
function change(run: Run, on: WaitingOn, by: 1 | -1, ports: LoopPorts): void {
  const before = run.waitingOn;
  const count = (run.waits.get(on) ?? 0) + by;
  if (count > 0) run.waits.set(on, count);
  else run.waits.delete(on);
  const { sessionId, runId } = run.spec;
  if (ports.watched() && run.waitingOn !== before) {
    ports.emit(sessionId, { type: "run.waiting", runId, on: run.waitingOn });
  }
}
