import type { ApprovalAnswer, ApprovalRequest } from "../../../loop/ports.ts";
import { type Approver, STOPPED } from "../../../runtime/approvals.ts";
import { AnsweredElsewhere } from "../../../runtime/parking/answered-elsewhere.ts";
import { plainLine } from "../../plain-text.ts";
import type { Entry } from "../state/entry.ts";
import type { Tui } from "../tui.ts";

/** Asks on the screen. */
export type TuiApprover = {
  readonly approve: Approver;
  answer(approvalId: string, answer: ApprovalAnswer): void;
  /** Answers everything that is open with a no. */
  close(): void;
};

/** Creates it. A question whose run has ended, or that somebody else has answered, is taken from the screen. */
export function createApprover(
  tui: Pick<Tui, "dispatch">,
  diffOf: (request: ApprovalRequest) => Promise<string | null> = async () => null,
): TuiApprover {
  const open = new Map<string, (answer: ApprovalAnswer) => void>();
  const answer = (approvalId: string, given: ApprovalAnswer): void => {
    open.get(approvalId)?.(given);
    open.delete(approvalId);
  };
  return {
    answer,
    approve(request, signal) {
      const { approvalId } = request;
      if (signal.aborted) return Promise.resolve(STOPPED);
      return new Promise((resolve) => {
        open.set(approvalId, resolve);
        const gone = () => {
          answer(approvalId, STOPPED);
          tui.dispatch({ type: "unasked", approvalId, atMs: Date.now() });
          // A no is told with its note when the call hears of it.
          if (signal.reason instanceof AnsweredElsewhere && signal.reason.answer.allowed)
            tui.dispatch({ type: "say", entry: allowed(request.tool, signal.reason.answer) });
        };
        signal.addEventListener("abort", gone, { once: true });
        void diffOf(request)
          .catch(() => null)
          .then((diff) => {
            if (open.has(approvalId)) tui.dispatch({ type: "asked", request, diff, atMs: Date.now() });
          });
      });
    },
    close() {
      for (const approvalId of [...open.keys()]) {
        answer(approvalId, { allowed: false, by: "the end of the program" });
        tui.dispatch({ type: "unasked", approvalId, atMs: Date.now() });
      }
    },
  };
}

function allowed(tool: string, { by }: ApprovalAnswer): Entry {
  return {
    kind: "notice",
    level: "info",
    text: `${plainLine(tool, 80)} was allowed by ${plainLine(by, 100)}`,
  };
}
