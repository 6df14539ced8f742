import { type Clock, systemClock } from "@retinue/core/budget/clock";
import { type Repeated, repeat } from "@retinue/core/budget/repeat";
import { type Approver, STOPPED } from "@retinue/core/host/approvals";
import type { ApprovalAnswer } from "@retinue/core/run/ports";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import type { ApprovalDecision } from "@retinue/core/schema/api/approval";
import type { Approval } from "@retinue/core/schema/record";
import { Conflict } from "../http/http-errors.ts";

/** Who approves over HTTP, as the record names them. */
export const PERSON = "the person in the browser";

/** What a desk needs of a runtime. */
type AskingRuntime = Pick<Runtime, "record" | "answer" | "resume">;

/** What a desk is made of. */
type PersonsDeskOptions = {
  /** So long a question waits before it counts as denied; 0: as long as it takes. */
  readonly approvalMinutes: number;
  /** Told the session in which something was answered. */
  onChange(sessionId: string): void;
  /** Told of a session that an answer should have set going and did not. */
  onFault?(sessionId: string, thrown: unknown): void;
  readonly clock?: Clock;
};

type Waiting = { readonly deadlineMs: number; end(answer: ApprovalAnswer): void };

const LOOK_MS = 1_000;

/** Where calls wait for a person's approval. */
export class PersonsDesk {
  readonly #options: PersonsDeskOptions;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly #looking: Repeated;
  #runtime: AskingRuntime | null = null;

  constructor(options: PersonsDeskOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#looking = repeat(this.#clock, LOOK_MS, () => this.#expire());
  }

  /** Must be called with the runtime that asks, before anything is answered: a runtime is made with this desk's approver. */
  attach(runtime: AskingRuntime): void {
    this.#runtime = runtime;
  }

  /** The runtime's approver: the runtime hears the answers, and this one ends the wait when there is none in time. */
  readonly approve: Approver = ({ approvalId }, signal) =>
    new Promise((resolve) => {
      const end = (answer: ApprovalAnswer) => {
        this.#waiting.delete(approvalId);
        if (this.#waiting.size === 0) this.#looking.set(false);
        resolve(answer);
      };
      signal.addEventListener("abort", () => end(STOPPED), { once: true });
      const { approvalMinutes: minutes } = this.#options;
      if (minutes === 0) return;
      // Of the time that passed for this machine: nobody could answer while it slept.
      this.#waiting.set(approvalId, { deadlineMs: this.#clock.monotonicMs() + minutes * 60_000, end });
      this.#looking.set(true);
    });

  /** Takes a person's answer; throws if the question has been answered. */
  async answer(
    { approvalId, sessionId }: Approval,
    { allowed, scope, note = "" }: ApprovalDecision,
  ): Promise<void> {
    const { record, answer } = this.#asking();
    const words = note.trim() === "" ? {} : { note };
    const given = { allowed, by: PERSON, ...words, ...(scope && { scope }) };
    const isOpen = (await record.readSession(sessionId))?.status === "running";
    if (!isOpen || !(await answer(approvalId, given))) throw refusal(await record.findApproval(approvalId));
    this.#options.onChange(sessionId);
    await this.#goOn(sessionId);
  }

  /** When an open question is denied because nobody answered. */
  expiresAtMs(approvalId: string): number | null {
    const waiting = this.#waiting.get(approvalId);
    if (!waiting) return null;
    return Math.round(this.#clock.wallMs() + waiting.deadlineMs - this.#clock.monotonicMs());
  }

  /** Stops looking. What waits stays open in the record until its session is resumed. */
  close(): void {
    this.#looking.set(false);
  }

  #asking(): AskingRuntime {
    if (!this.#runtime) throw new Error("the desk is attached to no runtime");
    return this.#runtime;
  }

  #expire(): void {
    const minutes = this.#options.approvalMinutes;
    const within = minutes === 1 ? "a minute" : `${minutes} minutes`;
    const nowMs = this.#clock.monotonicMs();
    for (const { deadlineMs, end } of [...this.#waiting.values()])
      if (nowMs >= deadlineMs)
        end({ allowed: false, by: "nobody", note: `nobody answered within ${within}` });
  }

  /** Resumes a session that no process has, once everything in it is answered. */
  async #goOn(sessionId: string): Promise<void> {
    const { record, resume } = this.#asking();
    if ((await record.findHolder(sessionId)) !== null) return;
    if ((await record.listApprovals({ sessionId, state: "waiting", limit: 1 })).length > 0) return;
    try {
      await resume(sessionId);
    } catch (thrown) {
      // The answer is kept all the same, and is used when the session is resumed.
      this.#options.onFault?.(sessionId, thrown);
    }
  }
}

function refusal({ answer }: Approval): Conflict {
  if (!answer) return new Conflict("its session has ended; there is nothing left to answer");
  return new Conflict(`it was ${answer.allowed ? "allowed" : "denied"} already, by ${answer.by}`);
}
