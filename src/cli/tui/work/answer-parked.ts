import { RetinueError } from "../../../schema/error.ts";
import { findWaiting } from "../../approve/list-waiting.ts";
import { plainLine } from "../../plain-text.ts";
import type { Desk } from "./engine.ts";

const MOST_LISTED = 20;

/** What waits for an answer, here or in sessions of other processes; of many the oldest, and how to see the rest. */
export function listParked({ runtime }: Pick<Desk, "runtime">): string {
  const waiting = findWaiting(runtime.store);
  if (waiting.length === 0) return "nothing waits for an answer";
  const lines = waiting.slice(0, MOST_LISTED).map(({ approvalId, tool, sessionId, request }) => {
    const chain = Array.isArray(request.chain) ? request.chain.map(String).join(" › ") : "?";
    const reason = plainLine(String(request.reason ?? ""), 200);
    return `${approvalId}  ${chain} asks for ${plainLine(tool, 60)} in ${sessionId}\n  ${reason}`;
  });
  const more = waiting.length - MOST_LISTED;
  const rest = more > 0 ? [`and ${more} more; see them all with: retinue approve`] : [];
  return [...lines, ...rest, "", "/approve ID allows it, /approve ID no [why] denies it"].join("\n");
}

/** `/approve ID [no [why]]`: answers, and lets the session go on if nothing else in it waits. */
export async function answerParked({ runtime, say }: Desk, rest: string): Promise<void> {
  const [, id = "", no, note = ""] = /^(\S+)(?:\s+(no)\b\s*([\s\S]*))?$/.exec(rest) ?? [];
  if (id === "") throw new RetinueError("input", "say which: /approve ID, or /approve ID no why");
  const { approvalId, sessionId, tool } = runtime.store.findApproval(id);
  const allowed = no === undefined;
  const by = "the person at the terminal";
  if (!runtime.answer(approvalId, { allowed, by, ...(note !== "" && { note }) }))
    throw new RetinueError("input", `${approvalId} has been answered already`);
  say(`${allowed ? "allowed" : "denied"}: ${tool}`);
  // Whoever has the session, in this process or another, goes on with the answer.
  if (runtime.store.holderOf(sessionId) !== null) return;
  if (runtime.store.approvals({ sessionId, open: true, limit: 1 }).length > 0) return;
  await (await runtime.resume(sessionId)).results;
}
