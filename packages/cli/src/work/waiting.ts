import type { Record } from "@retinue/core/record/record";
import type { Approval } from "@retinue/core/schema/record";
import { showInput } from "@retinue/core/schema/show-input";
import { showDuration } from "@retinue/core/show/measures";
import { cutToLine, escapeControls } from "@retinue/core/text/plain-text";

/** Who answers at a terminal, as the record names them. */
export const PERSON_HERE = "the person at the terminal";

/** A call as a person reads it before the answer: the change it makes, the tool's own words, or what it is given; all of it. */
export function describeAskedCall(call: {
  diff?: string | null;
  presented?: unknown;
  input?: unknown;
}): string {
  const { diff, presented, input } = call;
  return escapeControls(diff ?? (typeof presented === "string" ? presented : showInput(input)));
}

/** What waits for a person in any project, the oldest first. */
export async function findWaiting(
  record: Pick<Record, "listApprovals" | "readSession">,
): Promise<Approval[]> {
  // A session that has ended needs no answer any more.
  const waiting: Approval[] = [];
  for (const asked of await record.listApprovals({ state: "waiting" }))
    if ((await record.readSession(asked.sessionId))?.status === "running") waiting.push(asked);
  return waiting;
}

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
export function toWaitingLine(approval: Approval): WaitingLine {
  const { approvalId, sessionId, runId, callId, tool, request, requestedAtMs } = approval;
  return {
    approval_id: approvalId,
    session_id: sessionId,
    run_id: runId,
    tool_use_id: callId,
    tool_name: tool,
    tool_input: request.input ?? null,
    chain: listAskers(approval),
    risk: typeof request.risk === "string" ? request.risk : "",
    reason: readReason(approval),
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
    ...waiting.map((one) => `   ${one.approvalId}  ${describeAsk(one)}`),
    `hint: see it and answer with: retinue approve ${first.approvalId}`,
  ];
}

/** Who asks for what and why, on one line. */
export function describeAsk(approval: Approval): string {
  return sayAsk(listAskers(approval), approval.tool, readReason(approval));
}

/** Which agent asks for which tool and why, in one line. */
export function sayAsk(chain: readonly string[], tool: string, reason: string): string {
  const why = cutToLine(reason, 300);
  return `${cutToLine(chain.join(" > "), 300)} asks to use ${cutToLine(tool, 80)}${why && `: ${why}`}`;
}

/** How risky a call is, in one line. */
export function sayRisk(risk: string, isTainted: boolean): string {
  return `risk: ${cutToLine(risk, 40)}${isTainted ? ", and untrusted text has entered this run" : ""}`;
}

/** How long a question has waited. */
export function showWaitingTime({ requestedAtMs }: Approval, nowMs: number): string {
  return showDuration(Math.max(0, nowMs - requestedAtMs));
}

/** The agents that lead to the question, from the root down. */
export function listAskers({ request }: Pick<Approval, "request">): string[] {
  return Array.isArray(request.chain) ? request.chain.map(String) : [];
}

/** Why it is asked. */
export function readReason({ request: { reason } }: Pick<Approval, "request">): string {
  return typeof reason === "string" ? reason : "";
}
