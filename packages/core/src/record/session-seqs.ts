import type { DatabaseSync } from "node:sqlite";
import { RetinueError } from "../schema/error.ts";

/** Counts the changes of each session in memory, from where its rows on disk end. */
export type SessionSeqs = {
  /** Lets a session begin at 1 before its row is on disk. */
  begin(sessionId: string): void;
  /** The next seq, which stays the next until it is used. */
  next(sessionId: string): number;
  use(sessionId: string, seq: number): void;
};

/** Creates the counter over a database that has the schema of the record. */
export function createSessionSeqs(db: DatabaseSync): SessionSeqs {
  const last = new Map<string, number>();
  const stored = db.prepare(`SELECT EXISTS (SELECT 1 FROM sessions WHERE session_id = ?1) AS known,
    max(coalesce((SELECT max(opened_seq) FROM messages WHERE session_id = ?1), 0),
        coalesce((SELECT max(closed_seq) FROM messages WHERE session_id = ?1), 0)) AS seq`);

  function storedSeq(sessionId: string): number {
    const row = stored.get(sessionId);
    if (!row?.known)
      throw new RetinueError("store", `no session '${sessionId}' in the record; start it first`);
    return Number(row.seq);
  }
  return {
    begin: (sessionId) => last.set(sessionId, 0),
    next: (sessionId) => (last.get(sessionId) ?? storedSeq(sessionId)) + 1,
    use: (sessionId, seq) => last.set(sessionId, seq),
  };
}
