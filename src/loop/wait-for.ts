import type { WaitingOn } from "../schema/event.ts";
import type { LoopPorts } from "./ports.ts";
import type { Run } from "./run.ts";

/** Waits for something outside the run and lets watchers see what for. */
export async function waitFor<Value>(
  run: Run,
  on: WaitingOn,
  ports: LoopPorts,
  promise: Promise<Value>,
): Promise<Value> {
  const before = run.waitingOn;
  run.waitingOn = on;
  if (ports.watched()) ports.emit(run.spec.sessionId, { type: "run.waiting", runId: run.spec.runId, on });
  try {
    return await promise;
  } finally {
    run.waitingOn = before;
    if (ports.watched())
      ports.emit(run.spec.sessionId, { type: "run.waiting", runId: run.spec.runId, on: before });
  }
}
