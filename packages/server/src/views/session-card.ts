import type { SessionCard, SessionStanding } from "@retinue/core/schema/api/session";
import type { SessionMatch } from "@retinue/core/schema/inspect/session-summary";
import type { SessionState } from "@retinue/core/schema/inspect/trace";
import type { SessionRow } from "@retinue/core/schema/record";
import type { Runtime } from "@retinue/core/session/runtime";
import { sessionState } from "@retinue/core/trace/session-state";

/** Looks up how a session stands now. */
export function readStanding({ runtime }: { runtime: Runtime }, row: SessionRow): SessionStanding {
  const { store } = runtime;
  const state = sessionState(store, row);
  return { state, holder: findHolder(runtime, row, state), asks: countAsks(runtime, row) };
}

/** A session as lists show it. */
export function readSessionCard(
  desk: { runtime: Runtime },
  row: SessionRow & { found?: SessionMatch },
): SessionCard {
  const { metadata_json: _, ...shown } = row;
  return { ...shown, ...desk.runtime.store.sessionFigures(row.session_id), ...readStanding(desk, row) };
}

function findHolder(runtime: Runtime, row: SessionRow, state: SessionState): SessionStanding["holder"] {
  if (runtime.liveRoots(row.session_id) !== null) return "here";
  return state === "running" ? "elsewhere" : null;
}

/** Of a session that has ended nothing waits, whatever the record still holds. */
function countAsks({ store }: Runtime, { session_id: sessionId, status }: SessionRow): number {
  return status === "running" ? store.countWaiting({ sessionId }).count : 0;
}
