import type { Approval } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainJson, plainLine, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { withRecord } from "../trace/open-record.ts";
import { ageOf, chainOf, waitingLine } from "./describe-waiting.ts";

/** `retinue approve` without an id: what waits for a person, the oldest first. */
export async function listWaiting(options: CommonOptions, terminal: Terminal): Promise<void> {
  const waiting = (await withRecord(terminal, findWaiting)) ?? [];
  if (options.json) return terminal.print(plainJson(waiting.map(waitingLine), 2));
  const [first] = waiting;
  if (!first) return terminal.print("nothing waits for approval");
  const now = Date.now();
  const rows = waiting.map((one) => rowOf(one, now));
  terminal.print(table([["APPROVAL", "AGE", "SESSION", "WHO ASKS", "TOOL", "WHY"], ...rows]).join("\n"));
  terminal.tell(`see one whole and answer it with: retinue approve ${first.approvalId}`);
}

/** What waits for a person in any project, the oldest first. */
export function findWaiting(store: Pick<Store, "approvals" | "session">): Approval[] {
  // A session that has ended needs no answer any more.
  return store
    .approvals({ open: true })
    .filter(({ sessionId }) => store.session(sessionId)?.status === "running");
}

function rowOf(approval: Approval, nowMs: number): string[] {
  const { approvalId, sessionId, tool, request } = approval;
  return [
    approvalId,
    ageOf(approval, nowMs),
    sessionId,
    plainLine(chainOf(approval).join(" > "), 120),
    plainLine(tool, 60),
    plainLine(typeof request.reason === "string" ? request.reason : "", 120),
  ];
}
