import type { ApprovalAnswer, ApprovalRequest } from "../../loop/ports.ts";
import type { Clock } from "../../scheduler/clock.ts";
import type { RetinueEvent } from "../../schema/event.ts";
import type { Store } from "../../store/create-store.ts";
import type { EventBus } from "../event-bus.ts";
import type { LiveRun, Session } from "../host.ts";
import { Parked } from "../take-lease.ts";
import { approvalRecord } from "./approval-record.ts";

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
  /** What a session waits for, by id, and how each is answered. */
  readonly #waiting = new Map<string, Map<string, (answer: ApprovalAnswer) => void>>();
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

  /** Keeps a question; who has answered it before, or does so while the rest of the session goes on, is heard. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { sessionId } = request;
    const { store, clock } = this.#parts;
    const { answer, approvalId: kept } = store.addApproval(approvalRecord(request, clock.wallMs()));
    if (answer) return Promise.resolve(answer);
    const waiting = this.#waiting.get(sessionId) ?? new Map();
    this.#waiting.set(sessionId, waiting);
    this.#look(sessionId);
    return new Promise((resolve) => {
      waiting.set(kept, resolve);
      const stopped = () => {
        waiting.delete(kept);
        resolve({ allowed: false, by: "the stop of the run" });
      };
      if (signal.aborted) stopped();
      else signal.addEventListener("abort", stopped, { once: true });
    });
  }

  /** Later, because what has just changed is told before it is done. */
  #look(sessionId: string): void {
    setImmediate(() => {
      const session = this.#find(sessionId);
      const waiting = this.#waiting.get(sessionId);
      if (!session || !waiting?.size || ![...session.live.values()].every(isAtRest)) return;
      if (this.#hear(waiting)) return;
      this.#waiting.delete(sessionId);
      void session.lease.park(new Parked([...waiting.keys()]));
    });
  }

  /** Passes on what other processes have answered in the meantime: they could not go on with a session that is open here. */
  #hear(waiting: Map<string, (answer: ApprovalAnswer) => void>): boolean {
    let heard = false;
    for (const [approvalId, settle] of waiting) {
      const { answer } = this.#parts.store.findApproval(approvalId);
      if (!answer) continue;
      waiting.delete(approvalId);
      settle(answer);
      heard = true;
    }
    return heard;
  }
}

/** A run that does nothing until a person or another run does something. */
function isAtRest({ run }: LiveRun): boolean {
  const { waits, slot } = run;
  return !slot.isUsed && (waits.has("approval") || waits.has("children") || waits.has("pause"));
}
