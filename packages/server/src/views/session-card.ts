import type { Runtime } from "@retinue/core/runtime/create-runtime";
import type { SessionCard, SessionStanding } from "@retinue/core/schema/api/session";
import type { SessionMatch } from "@retinue/core/schema/inspect/session-summary";
import type { SessionState } from "@retinue/core/schema/inspect/trace";
import type { SessionRow } from "@retinue/core/schema/record";
import { sessionState } from "@retinue/core/trace/session-state";

/** Looks up the present state of a session. */
export async function readStanding(
  { runtime }: { runtime: Runtime },
  row: SessionRow,
): Promise<SessionStanding> {
  const { record } = runtime;
  const state = await sessionState(record, row);
  return { state, holder: findHolder(runtime, row, state), asks: await countAsks(runtime, row) };
}

/** A session as lists show it. */
export async function readSessionCard(
  desk: { runtime: Runtime },
  row: SessionRow & { found?: SessionMatch },
): Promise<SessionCard> {
  const { metadata_json: _, ...shown } = row;
  return {
    ...shown,
    ...(await desk.runtime.record.readFigures(row.session_id)),
    ...(await readStanding(desk, row)),
  };
}

function findHolder(runtime: Runtime, row: SessionRow, state: SessionState): SessionStanding["holder"] {
  if (runtime.liveRoots(row.session_id) !== null) return "here";
  return state === "running" ? "elsewhere" : null;
}

/** Of a session that has ended nothing waits, whatever the record still holds. */
async function countAsks(
  { record }: Runtime,
  { session_id: sessionId, status }: SessionRow,
): Promise<number> {
  return status === "running" ? (await record.countWaiting({ sessionId })).count : 0;
}
