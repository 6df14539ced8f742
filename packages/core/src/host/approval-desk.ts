import type { ApprovalAnswer } from "../run/ports.ts";
import type { Run, Session } from "../run/run.ts";
import type { RetinueEvent } from "../schema/event.ts";
import { Parked } from "../session/take-lease.ts";
import { type Approver, STOPPED } from "./approvals.ts";
import type { EventBus } from "./event-bus.ts";
import type { RecordedAsks } from "./recorded-asks.ts";

/** After these something of a session may have come to rest. */
const CHANGES: ReadonlySet<RetinueEvent["type"]> = new Set(["run.waiting", "run.ended", "call.ended"]);

/** What is looked at of a session that may be left: what its runs wait for. */
type Waiting = {
  readonly live: ReadonlyMap<string, Resting>;
  readonly lease: Pick<Session["lease"], "park">;
};
type Resting = {
  readonly waits: { has(reason: "approval" | "children" | "pause"): boolean };
  readonly slot: Pick<Run["slot"], "isUsed">;
};

/**
 * Where asks wait when nobody watches: once nothing else of the session can continue, it is left as it is. The process that
 * resumes it later finds the answers that were given in the meantime.
 */
export class ApprovalDesk {
  readonly #asks: Pick<RecordedAsks, "look">;
  /** What a session waits for, by id. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #sessions: ReadonlyMap<string, Waiting>;

  constructor(asks: Pick<RecordedAsks, "look">, bus: EventBus, sessions: ReadonlyMap<string, Waiting>) {
    this.#asks = asks;
    this.#sessions = sessions;
    bus.subscribe((event) => {
      if (CHANGES.has(event.type) && this.#waiting.has(event.sessionId)) this.#look(event.sessionId);
    });
  }

  /** Answers nothing itself: who answers in the record while the rest of the session continues is heard. */
  readonly ask: Approver = ({ sessionId, approvalId }, signal) => {
    const waiting = this.#waiting.get(sessionId) ?? new Set();
    this.#waiting.set(sessionId, waiting.add(approvalId));
    this.#look(sessionId);
    return new Promise<ApprovalAnswer>((resolve) => {
      const over = () => {
        waiting.delete(approvalId);
        resolve(STOPPED);
      };
      if (signal.aborted) over();
      else signal.addEventListener("abort", over, { once: true });
    });
  };

  /** Later, because what has just changed is told before it is done. */
  #look(sessionId: string): void {
    setImmediate(async () => {
      const session = this.#sessions.get(sessionId);
      const waiting = this.#waiting.get(sessionId);
      const mayWork = () => ![...(session?.live.values() ?? [])].every(isAtRest);
      if (!session || !waiting?.size || mayWork()) return;
      // Those who answered in the meantime could not go on with a session that is open here.
      if ((await this.#asks.look(waiting)) || waiting.size === 0 || mayWork()) return;
      this.#waiting.delete(sessionId);
      void session.lease.park(new Parked([...waiting]));
    });
  }
}

/** A run that does nothing until a person or another run does something. */
function isAtRest({ waits, slot }: Resting): boolean {
  return !slot.isUsed && (waits.has("approval") || waits.has("children") || waits.has("pause"));
}
