import type { Approval } from "../../schema/record.ts";
import { showDuration } from "../measures.ts";
import { plainLine } from "../plain-text.ts";

/** A question as scripts read it. */
export type WaitingLine = {
  approval_id: string;
  session_id: string;
  run_id: string;
  tool_use_id: string;
  tool_name: string;
  tool_input: unknown;
  /** Who asks: the agents from the root down. */
  chain: readonly string[];
  risk: string;
  reason: string;
  asked_at: string;
};

/** A question with everything a script needs to answer it. */
export function waitingLine(approval: Approval): WaitingLine {
  const { approvalId, sessionId, runId, callId, tool, request, requestedAtMs } = approval;
  return {
    approval_id: approvalId,
    session_id: sessionId,
    run_id: runId,
    tool_use_id: callId,
    tool_name: tool,
    tool_input: request.input ?? null,
    chain: chainOf(approval),
    risk: textOf(request.risk),
    reason: textOf(request.reason),
    asked_at: new Date(requestedAtMs).toISOString(),
  };
}

/** What a session that was left for later waits for, and how to answer it. */
export function describeWaiting(waiting: readonly Approval[]): string[] {
  const [first] = waiting;
  if (!first) return [];
  const count = waiting.length === 1 ? "an approval" : `${waiting.length} approvals`;
  return [
    `⏸ waiting for ${count}; the session ${first.sessionId} is left as it is until then`,
    ...waiting.map((one) => `   ${one.approvalId}  ${headline(one)}`),
    `hint: see it and answer with: retinue approve ${first.approvalId}`,
  ];
}

/** Who asks for what and why, on one line. */
export function headline(approval: Approval): string {
  const why = plainLine(textOf(approval.request.reason), 200);
  return `${plainLine(chainOf(approval).join(" > "), 200)} asks to use ${plainLine(approval.tool, 80)}${why && `: ${why}`}`;
}

/** How long a question has waited. */
export function ageOf({ requestedAtMs }: Approval, nowMs: number): string {
  return showDuration(Math.max(0, nowMs - requestedAtMs));
}

/** The agents that lead to the question, from the root down. */
export function chainOf({ request }: Approval): string[] {
  return Array.isArray(request.chain) ? request.chain.map(String) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
