import type { ApprovalAnswer } from "../../../loop/ports.ts";
import type { Approver } from "../../../runtime/approvals.ts";
import type { Tui } from "../tui.ts";

/** Asks on the screen. */
export type TuiApprover = {
  readonly approve: Approver;
  answer(approvalId: string, answer: ApprovalAnswer): void;
  /** Answers everything that is open with a no. */
  close(): void;
};

/** Creates it. A question whose run has ended is taken from the screen. */
export function createApprover(tui: Pick<Tui, "dispatch">): TuiApprover {
  const open = new Map<string, (answer: ApprovalAnswer) => void>();
  const answer = (approvalId: string, given: ApprovalAnswer): void => {
    open.get(approvalId)?.(given);
    open.delete(approvalId);
  };
  return {
    answer,
    approve(request, signal) {
      const { approvalId } = request;
      if (signal.aborted) return Promise.resolve({ allowed: false, by: "the stop of the run" });
      return new Promise((resolve) => {
        open.set(approvalId, resolve);
        const gone = () => {
          answer(approvalId, { allowed: false, by: "the stop of the run" });
          tui.dispatch({ type: "unasked", approvalId, atMs: Date.now() });
        };
        signal.addEventListener("abort", gone, { once: true });
        tui.dispatch({ type: "asked", request, atMs: Date.now() });
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
