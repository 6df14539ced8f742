import type { ApprovalRequest, Redactor } from "../run/ports.ts";
import type { Approval } from "../schema/record.ts";

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
