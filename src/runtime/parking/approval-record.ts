import type { ApprovalRequest } from "../../loop/ports.ts";
import type { Approval } from "../../schema/record.ts";

/** A question as the record keeps it, so that every process can show and answer it. */
export function approvalRecord(asked: ApprovalRequest, requestedAtMs: number): Omit<Approval, "answer"> {
  const { approvalId, sessionId, runId, callId, tool, inputHash } = asked;
  const { input, presented, risk, reason, chain, targets, tainted, mustConfirm } = asked;
  const request = { input, presented, risk, reason, chain, targets, tainted, mustConfirm };
  return { approvalId, sessionId, runId, callId, tool, inputHash, request, requestedAtMs };
}
