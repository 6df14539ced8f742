import type { ApprovalAnswer } from "../../loop/ports.ts";
import type { Approver } from "../../runtime/approvals.ts";
import { approvalRecord } from "../../runtime/parking/approval-record.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type Clock, systemClock } from "../../scheduler/clock.ts";
import type { ApprovalDecision } from "../../schema/api/approval.ts";
import type { Approval } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import { Conflict, NotFound } from "../api/route.ts";
import { PERSON } from "../person.ts";
import { type Repeated, repeat } from "./repeat.ts";

/** Where calls wait for a person's word. */
export type PersonsDesk = {
  /** The runtime's approver. */
  readonly approve: Approver;
  /** Takes a person's answer; throws if the question has been answered or is not known. */
  answer(approvalId: string, decision: ApprovalDecision): Promise<void>;
  /** When an open question is denied because nobody answered. */
  expiresAtMs(approvalId: string): number | null;
  /** Stops looking. What waits stays open in the record, for whoever goes on with its session. */
  close(): void;
};

/** A desk that has yet to be told whose questions it takes, because a runtime is made with its approver. */
export type NewPersonsDesk = PersonsDesk & {
  /** Must be called with the runtime that asks, before anything runs in it. */
  attach(runtime: AskingRuntime): void;
};

/** What a desk needs of a runtime. */
export type AskingRuntime = Pick<Runtime, "store" | "events" | "resume" | "redact">;

/** What a desk is made of. */
export type PersonsDeskOptions = {
  /** So long a question waits before it counts as denied; 0: as long as it takes. */
  readonly approvalMinutes: number;
  /** Told the session in which something waits, or no longer does. */
  onChange(sessionId: string): void;
  /** Told of a session that an answer should have set going and did not. */
  onFault?(sessionId: string, thrown: unknown): void;
  readonly clock?: Clock;
};

type Waiting = {
  readonly sessionId: string;
  readonly runId: string;
  readonly expiresAtMs: number | null;
  settle(answer: ApprovalAnswer): void;
};

const LOOK_MS = 1_000;
const STOPPED: ApprovalAnswer = { allowed: false, by: "the stop of the run" };

/** Creates the desk. Questions are kept in the record, so that every process can answer them and a restart loses none. */
export function createPersonsDesk(options: PersonsDeskOptions): NewPersonsDesk {
  return new RecordedDesk(options);
}

class RecordedDesk implements NewPersonsDesk {
  readonly #options: PersonsDeskOptions;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly #looking: Repeated;
  #runtime: AskingRuntime | null = null;
  #unsubscribe: () => void = () => {};

  constructor(options: PersonsDeskOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#looking = repeat(this.#clock, LOOK_MS, () => this.#look());
  }

  attach(runtime: AskingRuntime): void {
    this.#runtime = runtime;
    this.#unsubscribe = runtime.events((event) => {
      if (event.type !== "run.ended") return;
      try {
        this.#endRun(event.runId, event.sessionId);
      } catch {
        // The record may be busy, and a listener that throws would hear of no later run.
      }
    });
  }

  readonly approve: Approver = async (request, signal) => {
    const kept = this.#store().addApproval(approvalRecord(request, this.#clock.wallMs()));
    if (kept.answer) return kept.answer;
    if (signal.aborted) return STOPPED;
    const { sessionId, runId } = request;
    const { approvalId } = kept;
    const minutes = this.#options.approvalMinutes;
    return new Promise((resolve) => {
      const gone = () => this.#settle(approvalId, STOPPED);
      const settle = (answer: ApprovalAnswer) => {
        signal.removeEventListener("abort", gone);
        resolve(answer);
      };
      const expiresAtMs = minutes === 0 ? null : this.#clock.wallMs() + minutes * 60_000;
      this.#waiting.set(approvalId, { sessionId, runId, expiresAtMs, settle });
      signal.addEventListener("abort", gone, { once: true });
      this.#looking.set(true);
      this.#options.onChange(sessionId);
    });
  };

  async answer(approvalId: string, { allowed, scope, note }: ApprovalDecision): Promise<void> {
    const { store, redact } = this.#asking();
    const approval = findExactly(store, approvalId);
    const { sessionId } = approval;
    const words = note === undefined || note.trim() === "" ? {} : { note: redact(note) };
    this.#write(approval, { allowed, by: PERSON, ...words });
    const isHere = this.#settle(approvalId, {
      allowed,
      by: PERSON,
      ...words,
      ...(scope !== undefined && { scope }),
    });
    this.#options.onChange(sessionId);
    if (!isHere) await this.#goOn(sessionId);
  }

  expiresAtMs(approvalId: string): number | null {
    return this.#waiting.get(approvalId)?.expiresAtMs ?? null;
  }

  close(): void {
    this.#unsubscribe();
    this.#looking.set(false);
  }

  #asking(): AskingRuntime {
    if (!this.#runtime) throw new Error("the desk is attached to no runtime");
    return this.#runtime;
  }

  #store(): Store {
    return this.#asking().store;
  }

  #write({ approvalId, sessionId, answer }: Approval, given: ApprovalAnswer): void {
    const store = this.#store();
    const { allowed, by, note } = given;
    const isOpen = answer === null && store.session(sessionId)?.status === "running";
    const kept = { allowed, by, ...(note !== undefined && { note }), atMs: this.#clock.wallMs() };
    if (isOpen && store.answerApproval(approvalId, kept)) return;
    const settled = store.findApproval(approvalId).answer;
    if (!settled) throw new Conflict("its session has ended; there is nothing left to answer");
    throw new Conflict(`it was ${settled.allowed ? "allowed" : "denied"} already, by ${settled.by}`);
  }

  /** Tells the run that waits here; false if none does. */
  #settle(approvalId: string, answer: ApprovalAnswer): boolean {
    const waiting = this.#waiting.get(approvalId);
    if (!waiting) return false;
    this.#waiting.delete(approvalId);
    if (this.#waiting.size === 0) this.#looking.set(false);
    waiting.settle(answer);
    this.#options.onChange(waiting.sessionId);
    return true;
  }

  /** Hears what other processes answered, and lets run out what nobody did. */
  #look(): void {
    const store = this.#store();
    const nowMs = this.#clock.wallMs();
    for (const [approvalId, { expiresAtMs }] of [...this.#waiting]) {
      const { answer } = store.findApproval(approvalId);
      if (answer) this.#settle(approvalId, answer);
      else if (expiresAtMs !== null && nowMs >= expiresAtMs) this.#expire(approvalId);
    }
  }

  #expire(approvalId: string): void {
    const minutes = this.#options.approvalMinutes;
    const within = minutes === 1 ? "a minute" : `${minutes} minutes`;
    const denied = { allowed: false, by: "nobody", note: `nobody answered within ${within}` };
    this.#store().answerApproval(approvalId, { ...denied, atMs: this.#clock.wallMs() });
    this.#settle(approvalId, this.#store().findApproval(approvalId).answer ?? denied);
  }

  /** Of a run that has ended nothing waits any more. One whose session was left for later has not ended. */
  #endRun(runId: string, sessionId: string): void {
    const store = this.#store();
    const open = store.approvals({ sessionId, open: true }).filter((one) => one.runId === runId);
    for (const { approvalId } of open)
      store.answerApproval(approvalId, {
        allowed: false,
        by: STOPPED.by,
        note: "its run has ended",
        atMs: this.#clock.wallMs(),
      });
    if (open.length > 0) this.#options.onChange(sessionId);
  }

  /** Goes on with a session that nobody has, once everything in it is answered. */
  async #goOn(sessionId: string): Promise<void> {
    const store = this.#store();
    if (store.holderOf(sessionId) !== null) return;
    if (store.approvals({ sessionId, open: true, limit: 1 }).length > 0) return;
    try {
      await this.#asking().resume(sessionId);
    } catch (thrown) {
      // The answer is kept all the same, and whoever goes on with the session finds it.
      this.#options.onFault?.(sessionId, thrown);
    }
  }
}

function findExactly(store: Store, approvalId: string): Approval {
  try {
    const found = store.findApproval(approvalId);
    if (found.approvalId === approvalId) return found;
  } catch {
    // Its message lists approvals of other projects.
  }
  throw new NotFound(`there is no approval '${approvalId}'`);
}
