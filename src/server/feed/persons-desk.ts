import type { Approver } from "../../runtime/approvals.ts";
import type { ApprovalDecision } from "../../schema/api/approval.ts";

/** Placeholder until the desk is there. */
export type PersonsDesk = {
  readonly approve: Approver;
  /** Takes a person's answer; throws if the question has been answered or is not known. */
  answer(approvalId: string, decision: ApprovalDecision): Promise<void>;
  /** When an open question is denied because nobody answered. */
  expiresAtMs(approvalId: string): number | null;
  close(): void;
};
