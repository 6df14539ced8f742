import type { Store } from "../record/create-store.ts";
import type { SessionState } from "../schema/inspect/trace.ts";
import type { SessionRow } from "../schema/record.ts";

/** How a session stands: who is at work on it and what waits is looked up only for one that has not ended. */
export function sessionState(store: Pick<Store, "holderOf" | "approvals">, row: SessionRow): SessionState {
  if (row.status !== "running") return row.status;
  if (store.holderOf(row.session_id) !== null) return "running";
  const waits = store.approvals({ sessionId: row.session_id, open: true, limit: 1 }).length > 0;
  return waits ? "waiting" : "interrupted";
}
