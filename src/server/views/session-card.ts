import { sessionState } from "../../runtime/trace/session-state.ts";
import type { SessionCard, SessionHolder } from "../../schema/api/session.ts";
import type { SessionMatch } from "../../schema/inspect/session-summary.ts";
import type { SessionState } from "../../schema/inspect/trace.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Desk } from "../desk.ts";

/** How a session stands, and with whom. */
export type SessionStanding = { state: SessionState; holder: SessionHolder; asks: number };

/** Looks up how a session stands now. */
export function standingOf({ runtime }: Pick<Desk, "runtime">, row: SessionRow): SessionStanding {
  const { store } = runtime;
  const state = sessionState(store, row);
  return { state, holder: holderOf(runtime, row, state), asks: asksOf(runtime, row) };
}

/** A session as lists show it. */
export function sessionCard(
  desk: Pick<Desk, "runtime">,
  row: SessionRow & { found?: SessionMatch },
): SessionCard {
  const { metadata_json: _, ...shown } = row;
  return { ...shown, ...desk.runtime.store.sessionFigures(row.session_id), ...standingOf(desk, row) };
}

function holderOf(runtime: Desk["runtime"], row: SessionRow, state: SessionState): SessionHolder {
  if (runtime.liveRoots(row.session_id) !== null) return "here";
  return state === "running" ? "elsewhere" : null;
}

/** Of a session that has ended nothing waits, whatever the record still holds. */
function asksOf({ store }: Desk["runtime"], { session_id: sessionId, status }: SessionRow): number {
  return status === "running" ? store.countWaiting({ sessionId }).count : 0;
}
