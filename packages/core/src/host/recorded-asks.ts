import type { Clock } from "../budget/clock.ts";
import { type Repeated, repeat } from "../budget/repeat.ts";
import { untilAborted } from "../budget/until-aborted.ts";
import type { Record } from "../record/record.ts";
import type { ApprovalAnswer, ApprovalRequest, Redactor } from "../run/ports.ts";
import { messageOf } from "../schema/error.ts";
import type { Approval } from "../schema/record.ts";
import { AnsweredElsewhere, type Approver, STOPPED } from "./approvals.ts";
import type { EventBus } from "./event-bus.ts";

/** What questions are kept with. */
type Parts = { record: Record; clock: Clock; bus: EventBus; redactor: Redactor };

const LOOK_MS = 1_000;

/**
 * The questions of this process. While one waits it is in the record, where any other process can answer it: whichever
 * answer comes first counts. A process that is killed leaves its questions open, and the process that resumes the session finds
 * what was answered meanwhile.
 */
export class RecordedAsks {
  readonly #parts: Parts;
  /** How what waits here is told an answer that came from elsewhere. */
  readonly #waiting = new Map<string, (answer: ApprovalAnswer) => void>();
  readonly #looking: Repeated;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#looking = repeat(parts.clock, LOOK_MS, () => void this.look().catch(() => {}));
  }

  /** The approver, whose questions others can answer, too. Its signal then fires with `AnsweredElsewhere`. */
  through(approver: Approver): Approver {
    return async (request, signal) => {
      const { record, clock, redactor } = this.#parts;
      const { approvalId, answer } = await record.addApproval(
        approvalRecord(request, clock.wallMs(), redactor),
      );
      if (answer) return answer;
      if (signal.aborted) return STOPPED;
      const elsewhere = new AbortController();
      const here = AbortSignal.any([signal, elsewhere.signal]);
      const { promise: heard, resolve: hear } = Promise.withResolvers<ApprovalAnswer>();
      this.#waiting.set(approvalId, (given) => {
        hear(given);
        elsewhere.abort(new AnsweredElsewhere(given));
      });
      this.#looking.set(true);
      const asking = this.#askHere(approver, { ...request, approvalId }, here);
      try {
        return await untilAborted(Promise.race([heard, asking]), signal);
      } catch (thrown) {
        if (signal.aborted) return STOPPED;
        throw thrown;
      } finally {
        this.#waiting.delete(approvalId);
        if (this.#waiting.size === 0) this.#looking.set(false);
      }
    };
  }

  /** Answers a question of any process; false if somebody was faster. */
  async answer(approvalId: string, given: ApprovalAnswer): Promise<boolean> {
    const kept = this.#withoutSecrets(given);
    if (!(await this.#parts.record.answerApproval(approvalId, kept))) return false;
    this.#waiting.get(approvalId)?.(kept);
    return true;
  }

  /** Hears what other processes have answered, of all that waits or of some; false if that was nothing. */
  async look(approvalIds: Iterable<string> = this.#waiting.keys()): Promise<boolean> {
    let isHeard = false;
    for (const approvalId of [...approvalIds]) {
      const { answer } = await this.#parts.record.findApproval(approvalId);
      if (!answer) continue;
      this.#waiting.get(approvalId)?.(answer);
      isHeard = true;
    }
    return isHeard;
  }

  /** Nothing of a run that has ended waits any more. One whose session was left for later has not ended. */
  async runEnded(runId: string): Promise<void> {
    const { record, clock } = this.#parts;
    const answer = { ...STOPPED, note: "its run has ended", atMs: clock.wallMs() };
    try {
      for (const { approvalId } of await record.listApprovals({ runId, state: "waiting" }))
        await record.answerApproval(approvalId, answer);
    } catch {
      // The record may be busy for a moment. Of a session that has ended nobody is asked anything.
    }
  }

  async #askHere(approver: Approver, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    let given: ApprovalAnswer;
    try {
      given = await approver(request, signal);
    } catch (thrown) {
      given = { allowed: false, by: "the approver", note: messageOf(thrown) };
    }
    return signal.aborted ? given : await this.#keep(request.approvalId, given);
  }

  /** Writes the answer that was given here; one that came before it from elsewhere counts instead. */
  async #keep(approvalId: string, given: ApprovalAnswer): Promise<ApprovalAnswer> {
    const { record, clock, bus } = this.#parts;
    const kept = this.#withoutSecrets(given);
    if (await record.answerApproval(approvalId, kept)) return kept;
    const { answer, sessionId, runId, tool } = await record.findApproval(approvalId);
    const first = answer ?? kept;
    // Where nobody answered in time, nobody is there to be told.
    if (given.by === "nobody") return first;
    const message = `an answer came too late: '${tool}' was ${new AnsweredElsewhere(first).message}`;
    bus.publish({ type: "notice.raised", level: "warning", message, runId, sessionId, atMs: clock.wallMs() });
    return first;
  }

  #withoutSecrets({ allowed, by, note, scope }: ApprovalAnswer): NonNullable<Approval["answer"]> {
    const { redactor, clock } = this.#parts;
    return {
      allowed,
      by,
      ...(note !== undefined && { note: redactor.redact(note) }),
      ...(scope && { scope }),
      atMs: clock.wallMs(),
    };
  }
}

/** A question as the record keeps it, without secrets, so that every process can show and answer it. */
export function approvalRecord(
  asked: ApprovalRequest,
  requestedAtMs: number,
  redactor: Pick<Redactor, "redactJson">,
): Omit<Approval, "answer"> {
  const { approvalId, sessionId, runId, callId, tool, inputHash } = asked;
  const { input, presented, risk, reason, chain, targets, tainted, mustConfirm } = asked;
  const shown = { input, presented, risk, reason, chain, targets, tainted, mustConfirm };
  const request = redactor.redactJson(shown);
  return { approvalId, sessionId, runId, callId, tool, inputHash, request, requestedAtMs };
}
