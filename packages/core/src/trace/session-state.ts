import type { Record } from "../record/record.ts";
import type { SessionState } from "../schema/inspect/trace.ts";
import type { SessionRow } from "../schema/record.ts";

/** How a session stands: who is at work on it and what waits is looked up only for one that has not ended. */
export async function sessionState(
  record: Pick<Record, "findHolder" | "listApprovals">,
  row: SessionRow,
): Promise<SessionState> {
  if (row.status !== "running") return row.status;
  if ((await record.findHolder(row.session_id)) !== null) return "running";
  const waits =
    (await record.listApprovals({ sessionId: row.session_id, state: "waiting", limit: 1 })).length > 0;
  return waits ? "waiting" : "interrupted";
}
