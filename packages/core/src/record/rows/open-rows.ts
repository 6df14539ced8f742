import type { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../../schema/error.ts";

/** What is remembered of a row until it closes. */
export type OpenRow = { sessionId: string; startedAtMs: number; metadata: string | null };

/** Knows which rows are open, those of an earlier process included. */
export type OpenRows = {
  opened(id: number, row: OpenRow): void;
  /** The open row; undefined when it is closed already. Throws when there is no such row in this session. */
  find(id: number, sessionId: string): OpenRow | undefined;
  /** The closing is handed over, but perhaps not on disk yet. */
  closing(id: number): void;
  closed(id: number): void;
};

/** Creates the knowledge of open rows over a database that has the schema of the record. */
export function createOpenRows(db: DatabaseSync): OpenRows {
  const open = new Map<number, OpenRow>();
  const closing = new Set<number>();
  const stored = db.prepare(
    "SELECT session_id, started_at, closed_seq, metadata_json FROM messages WHERE id = ?",
  );

  function fromDisk(id: number): OpenRow | undefined {
    if (closing.has(id)) return undefined;
    const row = stored.get(id);
    if (!row) throw new RetinueError("store", `no row ${id} in the record to close`);
    if (row.closed_seq !== null) return undefined;
    const metadata = row.metadata_json === null ? null : String(row.metadata_json);
    return { sessionId: String(row.session_id), startedAtMs: Date.parse(String(row.started_at)), metadata };
  }
  return {
    opened: (id, row) => open.set(id, row),
    find(id, sessionId) {
      const row = open.get(id) ?? fromDisk(id);
      if (row === undefined || row.sessionId === sessionId) return row;
      throw new RetinueError(
        "store",
        `row ${id} belongs to session '${row.sessionId}', not to '${sessionId}'`,
      );
    },
    closing(id) {
      open.delete(id);
      closing.add(id);
    },
    closed: (id) => closing.delete(id),
  };
}
