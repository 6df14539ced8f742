import type { Store } from "../record/create-store.ts";
import type { StopRequest } from "../record/stop-table.ts";
import { isClosed, metadataOf } from "../run/read-row.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { MessageRow, SessionRow } from "../schema/record.ts";
import { fanOutOf } from "./root-tasks.ts";
import { takeLease } from "./take-lease.ts";

const MESSAGE = "cancelled while no process had the session";

/**
 * Ends a session that no living process has, or one run of it; `noted` means that the run is ended when somebody goes on
 * with its session. False if it had ended by itself.
 */
export async function cancelUnheld(
  store: Store,
  { sessionId, id }: StopRequest,
  by: string,
): Promise<"cancelled" | "noted" | false> {
  const row = store.findSession(sessionId);
  if (id === sessionId || isOnlyTask(store, row, id))
    return (await cancelRecorded(store, row, by)) && "cancelled";
  store.askToStop({ sessionId, id });
  return "noted";
}

/** Without its one task nothing of a session is left to go on with. */
function isOnlyTask(store: Store, row: SessionRow, runId: string): boolean {
  const isRoot = store.attemptsOf(runId).some((run) => run.agent_depth === 0);
  return isRoot && fanOutOf(row) === undefined;
}

/**
 * Ends a session that no living process has: its open rows are closed as cancelled, what waits for a person is answered
 * with no, and it is never resumed. Throws if a living process has it; false if it had ended by itself.
 */
export async function cancelRecorded(store: Store, row: SessionRow, by: string): Promise<boolean> {
  const { session_id: sessionId } = row;
  const lease = takeLease(store, sessionId);
  try {
    // Its process may have ended it between the caller's look and this hold.
    if (store.findSession(sessionId).status !== "running") return false;
    const atMs = Date.now();
    for (const open of store.messages(sessionId).toReversed())
      if (!isClosed(open)) closeRow(store, open, atMs);
    store.endSession(sessionId, "cancelled");
    await store.written();
    for (const { approvalId } of store.approvals({ sessionId, open: true }))
      store.answerApproval(approvalId, { allowed: false, by, note: MESSAGE, atMs });
    store.forgetStops(sessionId);
    return true;
  } finally {
    lease.release();
  }
}

function closeRow(store: Store, row: MessageRow, atMs: number): void {
  const isRun = row.request_type === "prompt" || row.request_type === "delegation";
  const { attempt } = metadataOf(row);
  const about = { runId: row.run_id, sessionId: row.session_id, agent: row.agent_role ?? "" };
  const { details, ...result } = failedResult(
    { ...about, ...(typeof attempt === "number" && { attempt }) },
    { type: "cancelled", message: MESSAGE, recoverable: false },
  );
  store.close(row.id, row.session_id, {
    status: "cancelled",
    completedAtMs: atMs,
    durationMs: Math.max(0, atMs - Date.parse(row.started_at)),
    errorMessage: MESSAGE,
    ...(isRun && { responseContent: details, bailoutReason: "cancelled", metadata: { result } }),
  });
}
