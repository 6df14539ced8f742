import type { DatabaseSync } from "node:sqlite";
import type { StopRequest } from "./record.ts";

/** Wishes to stop, left for the process that has a session. Writes are on disk when they return. */
export type StopTable = {
  askToStop(request: StopRequest): void;
  /** Everything that was asked for, of one session or of all. */
  stopsAsked(sessionId?: string): StopRequest[];
  /** Drops what was asked for a session, because it was done or means nothing any more. */
  forgetStops(sessionId: string): void;
};

/** Creates the table over a database that has the schema of the record. */
export function createStopTable(db: DatabaseSync): StopTable {
  const insert = db.prepare("INSERT OR IGNORE INTO stop_requests (session_id, id) VALUES (?, ?)");
  const list = db.prepare("SELECT session_id, id FROM stop_requests WHERE ?1 IS NULL OR session_id = ?1");
  const drop = db.prepare("DELETE FROM stop_requests WHERE session_id = ?");
  return {
    askToStop: ({ sessionId, id }) => void insert.run(sessionId, id),
    stopsAsked: (sessionId) =>
      list.all(sessionId ?? null).map((row) => ({ sessionId: String(row.session_id), id: String(row.id) })),
    forgetStops(sessionId) {
      // A look costs nothing; a deletion of nothing would still wait for other writers.
      if (list.get(sessionId)) drop.run(sessionId);
    },
  };
}
