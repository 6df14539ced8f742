import { untilAborted } from "../../budget/until-aborted.ts";
import { messageOf } from "../../schema/error.ts";
import { compact } from "../compact.ts";
import { lastText } from "../history.ts";
import { limitReached } from "../limits.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { waitFor } from "../wait-for.ts";
import { fail, interrupted, type Next } from "./next.ts";

/** After this long a wait for the disk is shown. */
const SLOW_DISK_MS = 1_000;

/**
 * What came before is on disk, then pause, steering, limits and room in the context, in that order. Waiting for the disk
 * here is how runs stand still while it refuses writes, and why no turn that was paid for is lost in a crash.
 */
export async function beforeTurn(run: Run, ports: LoopPorts): Promise<Next | null> {
  const unwritten = await onDisk(run, ports);
  if (unwritten) return fail(lastText(run), "failed", `the record could not be written: ${unwritten}`);
  while (run.paused && !run.interruption) await waitFor(run, "pause", ports, run.paused.promise);
  const recorded = ports.recorded?.beforeTurn(run);
  if (run.interruption) return { kind: "end", ending: interrupted(run) };
  for (const text of run.steering.splice(0)) {
    run.pushUser(text);
    run.steered.push(text);
    ports.addresses.addTyped(text);
    ports.emit(run.spec.sessionId, { type: "run.steered", runId: run.spec.runId, text });
  }
  const reason = recorded ?? limitReached(run, ports.clock.monotonicMs());
  if (reason) return { kind: "wrap_up", reason };
  const { contextChars } = run.spec.limits;
  if (run.turn === 0 && run.contextChars > contextChars && !run.resumption)
    return fail(
      "",
      "context_overflow",
      `prompt and task alone have ${run.contextChars} characters; the limit is ${contextChars}`,
    );
  if (run.contextChars > contextChars && !run.spec.flow.condenses)
    return fail("", "context_overflow", `the results are longer than ${contextChars} characters`);
  if (run.contextChars > contextChars) await compact(run, ports, contextChars);
  return run.interruption ? { kind: "end", ending: interrupted(run) } : null;
}

/** Waits until everything so far is on disk, or the run is stopped; says what is wrong if it never will be. */
async function onDisk(run: Run, ports: LoopPorts): Promise<string | null> {
  let shown: PromiseWithResolvers<void> | null = null;
  const stopTimer = ports.clock.timer(SLOW_DISK_MS, () => {
    shown = Promise.withResolvers<void>();
    void waitFor(run, "store", ports, shown.promise);
  });
  const written = ports.journal.committed().then(() => null, messageOf);
  const result = await untilAborted(written, run.signal).catch(() => null);
  stopTimer();
  (shown as PromiseWithResolvers<void> | null)?.resolve();
  return result;
}
