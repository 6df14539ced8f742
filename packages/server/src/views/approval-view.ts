import type { ApprovalView } from "@retinue/core/schema/api/approval";
import type { Approval, SessionRow } from "@retinue/core/schema/record";
import type { Risk } from "@retinue/core/schema/rights";
import { showInput } from "@retinue/core/schema/show-input";
import type { ServerDesk } from "../desk.ts";
import { proposedDiff } from "./proposed-diff.ts";

/** A question with everything a person must see before the answer; the call itself is never cut. */
export async function approvalView(
  { runtime, person }: Pick<ServerDesk, "runtime" | "person">,
  approval: Approval,
  session: SessionRow,
): Promise<ApprovalView> {
  const { approvalId, sessionId, runId, callId, tool, request, requestedAtMs, answer } = approval;
  const { record } = runtime;
  const isOpen = answer === null && session.status === "running";
  const diff = isOpen ? await proposedDiff(record, approval, session) : null;
  return {
    approvalId,
    sessionId,
    session: session.title,
    runId,
    callId,
    tool,
    input: request.input ?? null,
    presented: presentedIn(request, diff),
    risk: readRisk(request.risk),
    reason: typeof request.reason === "string" ? request.reason : "",
    chain: readTexts(request.chain),
    targets: readList(request.targets).map(targetName),
    tainted: request.tainted === true,
    diff,
    requestedAtMs,
    expiresAtMs: person.expiresAtMs(approvalId),
    isParked: isOpen && (await record.findHolder(sessionId)) === null,
    answer: answer && {
      allowed: answer.allowed,
      by: answer.by,
      note: answer.note ?? null,
      atMs: answer.atMs,
    },
  };
}

/** The call in the tool's words, or else what it is given; null for a command or a change, which are shown as they are. */
function presentedIn({ presented, input }: Approval["request"], diff: string | null): string | null {
  if (typeof presented === "string") return presented;
  if (diff !== null) return null;
  const isCommand = typeof input === "object" && input !== null && "command" in input;
  return isCommand ? null : showInput(input ?? null);
}

/** What is not known is not called harmless. */
function readRisk(value: unknown): Risk {
  return value === "low" || value === "medium" ? value : "high";
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function readTexts(value: unknown): string[] {
  return readList(value).map(String);
}

/** What a call touches, as people name it. */
function targetName(target: unknown): string {
  if (typeof target !== "object" || target === null) return String(target);
  const named = new Map<string, unknown>(Object.entries(target));
  const name = named.get("kind") === "path" && named.get("root") !== "outside" ? named.get("relative") : null;
  const other = ["path", "command", "host", "address", "agent"].map((key) => named.get(key));
  return String([name, ...other].find((one) => typeof one === "string" && one !== "") ?? "?");
}
