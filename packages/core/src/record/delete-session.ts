import type { DatabaseSync } from "node:sqlite";
import type { SessionRow } from "../schema/record.ts";
import { encodeText } from "./rows/lossless-text.ts";
import { SESSION_COLUMNS, sessionRow } from "./session-table.ts";

/** Takes sessions out of the record. Writes are on disk when they return. */
export type SessionDeleter = {
  /**
   * Takes out a session with everything about it and the texts that no other names, whole or not at all; false if it has
   * not ended or is not there. Notes of untrusted files stay: they are about the project. No number that it had is used again.
   */
  deleteSession(sessionId: string): boolean;
  /** Why a session must stay; null if it may go. */
  whyKept(sessionId: string): string | null;
  /** Sessions that ended and did not change since this moment, the oldest first. */
  endedBefore(untilMs: number, project?: string): SessionRow[];
  /** About how many bytes of the record a session takes. */
  sizeInRecord(sessionId: string): number;
  /** Hashes of contents that some change still needs. */
  neededContents(): Set<string>;
  /** Bytes of the database file, and those in it that nothing uses. */
  fileSize(): { bytes: number; freeBytes: number };
  /** Gives what nothing uses back to the disk; throws if another process is writing. */
  compactFile(): void;
};

const ABOUT = ["approvals", "stop_requests", "leases", "worktrees", "prompt_uses", "file_changes"];

/** Creates it over a database that has the schema of the record. */
export function createSessionDeleter(db: DatabaseSync): SessionDeleter {
  const status = db.prepare("SELECT status FROM sessions WHERE session_id = ?");
  const held = db.prepare("SELECT owner FROM leases WHERE session_id = ?");
  const copies = db.prepare(
    "SELECT count(*) AS n FROM worktrees WHERE session_id = ? AND status IN ('making', 'open', 'kept')",
  );
  const old =
    db.prepare(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE status <> 'running' AND updated_at < ?1
    AND (?2 IS NULL OR project = ?2) ORDER BY changed`);
  const size =
    db.prepare(`SELECT total(200 + coalesce(length(request_content), 0) + coalesce(length(response_content), 0)
    + coalesce(length(tool_calls_json), 0) + coalesce(length(metadata_json), 0)) AS bytes
    FROM messages WHERE session_id = ?`);
  const contents = db.prepare(`SELECT before_hash AS hash FROM file_changes WHERE before_hash IS NOT NULL
    UNION SELECT after_hash FROM file_changes WHERE after_hash IS NOT NULL`);
  const removals = [
    // Before it is forgotten what the session used.
    db.prepare(`DELETE FROM prompts WHERE prompt_id IN (SELECT prompt_id FROM prompt_uses WHERE session_id = ?1)
      AND NOT EXISTS (SELECT 1 FROM prompt_uses AS used WHERE used.prompt_id = prompts.prompt_id AND used.session_id <> ?1)`),
    ...ABOUT.map((table) => db.prepare(`DELETE FROM ${table} WHERE session_id = ?`)),
    db.prepare("DELETE FROM messages WHERE session_id = ?"),
    db.prepare("DELETE FROM sessions WHERE session_id = ?"),
  ];

  function whyKept(sessionId: string): string | null {
    const found = status.get(sessionId);
    if (!found) return "it is not there";
    if (found.status === "running") return "it has not ended";
    if (held.get(sessionId)) return "a process works on it";
    if (Number(copies.get(sessionId)?.n) > 0) return "changes of it wait to be merged";
    return null;
  }
  const pragma = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  return {
    whyKept,
    deleteSession(sessionId) {
      db.exec("BEGIN IMMEDIATE");
      try {
        // Looked at inside the transaction: it may have gone on in the meantime.
        const mayGo = whyKept(sessionId) === null;
        if (mayGo) for (const removal of removals) removal.run(sessionId);
        db.exec("COMMIT");
        return mayGo;
      } catch (thrown) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw thrown;
      }
    },
    endedBefore: (untilMs, project) =>
      old
        .all(new Date(untilMs).toISOString(), project === undefined ? null : encodeText(project))
        .map(sessionRow),
    sizeInRecord: (sessionId) => Number(size.get(sessionId)?.bytes ?? 0),
    neededContents: () => new Set(contents.all().map(({ hash }) => String(hash))),
    fileSize() {
      const page = pragma("page_size");
      return { bytes: page * pragma("page_count"), freeBytes: page * pragma("freelist_count") };
    },
    compactFile() {
      db.exec("VACUUM");
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
  };
}
