import type { ApprovalAnswer, ApprovalRequest } from "../../loop/ports.ts";
import type { Clock } from "../../scheduler/clock.ts";
import type { RetinueEvent } from "../../schema/event.ts";
import type { Store } from "../../store/create-store.ts";
import type { EventBus } from "../event-bus.ts";
import type { LiveRun, Session } from "../host.ts";
import { Parked } from "../take-lease.ts";

/** What a desk is made of. */
type Parts = { store: Store; clock: Clock; bus: EventBus };

/** After these something of a session may have come to rest. */
const CHANGES: ReadonlySet<RetinueEvent["type"]> = new Set(["run.waiting", "run.ended", "call.ended"]);

/**
 * Where asks wait when nobody watches: they are kept in the record, and once nothing else of the session can go on it is
 * left as it is. Whoever resumes it later finds the answers that were given in the meantime.
 */
export class ApprovalDesk {
  readonly #parts: Parts;
  /** Ids of what a session waits for. */
  readonly #waiting = new Map<string, Set<string>>();
  #find: (sessionId: string) => Session | undefined = () => undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.bus.subscribe((event) => {
      if (CHANGES.has(event.type) && this.#waiting.has(event.sessionId)) this.#look(event.sessionId);
    });
  }

  /** Tells where open sessions are found. */
  attach(find: (sessionId: string) => Session | undefined): void {
    this.#find = find;
  }

  /** Keeps a question; it is answered at once if somebody has answered it before, and otherwise not in this process. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { sessionId, runId, callId, tool, inputHash, approvalId } = request;
    const { input, presented, risk, reason, chain, targets, tainted, mustConfirm } = request;
    const { answer, approvalId: kept } = this.#parts.store.addApproval({
      ...{ approvalId, sessionId, runId, callId, tool, inputHash },
      request: { input, presented, risk, reason, chain, targets, tainted, mustConfirm },
      requestedAtMs: this.#parts.clock.wallMs(),
    });
    if (answer) return Promise.resolve(answer);
    const waiting = this.#waiting.get(sessionId) ?? new Set();
    this.#waiting.set(sessionId, waiting.add(kept));
    this.#look(sessionId);
    return new Promise((resolve) => {
      const stopped = () => resolve({ allowed: false, by: "the stop of the run" });
      if (signal.aborted) stopped();
      else signal.addEventListener("abort", stopped, { once: true });
    });
  }

  /** Later, because what has just changed is told before it is done. */
  #look(sessionId: string): void {
    setImmediate(() => {
      const session = this.#find(sessionId);
      const waiting = this.#waiting.get(sessionId);
      if (!session || !waiting || ![...session.live.values()].every(isAtRest)) return;
      this.#waiting.delete(sessionId);
      void session.lease.park(new Parked([...waiting]));
    });
  }
}

/** A run that does nothing until a person or another run does something. */
function isAtRest({ run }: LiveRun): boolean {
  const { waits, slot } = run;
  return !slot.isUsed && (waits.has("approval") || waits.has("children") || waits.has("pause"));
}
