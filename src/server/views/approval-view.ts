import type { ApprovalView } from "../../schema/api/approval.ts";
import type { Approval, SessionRow } from "../../schema/record.ts";
import type { Risk } from "../../schema/rights.ts";
import type { Desk } from "../desk.ts";
import { proposedDiff } from "./proposed-diff.ts";

/** A question with everything a person must see before the answer; the call itself is never cut. */
export async function approvalView(
  { runtime, person }: Pick<Desk, "runtime" | "person">,
  approval: Approval,
  session: SessionRow,
): Promise<ApprovalView> {
  const { approvalId, sessionId, runId, callId, tool, request, requestedAtMs, answer } = approval;
  const { store } = runtime;
  const isOpen = answer === null && session.status === "running";
  return {
    approvalId,
    sessionId,
    session: session.title,
    runId,
    callId,
    tool,
    input: request.input ?? null,
    presented: typeof request.presented === "string" ? request.presented : null,
    risk: riskOf(request.risk),
    reason: typeof request.reason === "string" ? request.reason : "",
    chain: textsOf(request.chain),
    targets: listOf(request.targets).map(targetName),
    tainted: request.tainted === true,
    diff: isOpen ? await proposedDiff(store, approval, session) : null,
    requestedAtMs,
    expiresAtMs: person.expiresAtMs(approvalId),
    isParked: isOpen && store.holderOf(sessionId) === null,
    answer: answer && {
      allowed: answer.allowed,
      by: answer.by,
      note: answer.note ?? null,
      atMs: answer.atMs,
    },
  };
}

/** What is not known is not called harmless. */
function riskOf(value: unknown): Risk {
  return value === "low" || value === "medium" ? value : "high";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textsOf(value: unknown): string[] {
  return listOf(value).map(String);
}

/** What a call touches, as people name it. */
function targetName(target: unknown): string {
  if (typeof target !== "object" || target === null) return String(target);
  const named = new Map<string, unknown>(Object.entries(target));
  const name = named.get("kind") === "path" && named.get("root") !== "outside" ? named.get("relative") : null;
  const other = ["path", "command", "host", "address", "agent"].map((key) => named.get(key));
  return String([name, ...other].find((one) => typeof one === "string" && one !== "") ?? "?");
}
