import type { DatabaseSync } from "node:sqlite";
import type { RemovalPort } from "../record.ts";
import { prepareTransaction } from "./sql.ts";

const ABOUT = ["approvals", "stop_requests", "leases", "worktrees", "prompt_uses", "file_changes"];

/** Takes sessions out of the record. */
export function createRemoval(db: DatabaseSync): RemovalPort {
  const inTransaction = prepareTransaction(db);
  const status = db.prepare("SELECT status FROM sessions WHERE session_id = ?");
  const held = db.prepare("SELECT owner FROM leases WHERE session_id = ?");
  const copies = db.prepare(
    "SELECT count(*) AS n FROM worktrees WHERE session_id = ? AND status IN ('making', 'open', 'kept')",
  );
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

  function explainKept(sessionId: string): string | null {
    const found = status.get(sessionId);
    if (!found) return "it is not there";
    if (found.status === "running") return "it has not ended";
    if (held.get(sessionId)) return "a process works on it";
    if (Number(copies.get(sessionId)?.n) > 0) return "changes of it wait to be merged";
    return null;
  }
  const pragma = (name: string) => Number(Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0] ?? 0);
  return {
    whyKept: async (sessionId) => explainKept(sessionId),
    deleteSession: async (sessionId) =>
      inTransaction(() => {
        // Looked at inside the transaction: it may have gone on in the meantime.
        const mayGo = explainKept(sessionId) === null;
        if (mayGo) for (const removal of removals) removal.run(sessionId);
        return mayGo;
      }),
    measureSession: async (sessionId) => Number(size.get(sessionId)?.bytes ?? 0),
    listContents: async () => new Set(contents.all().map(({ hash }) => String(hash))),
    async measure() {
      const page = pragma("page_size");
      return { bytes: page * pragma("page_count"), freeBytes: page * pragma("freelist_count") };
    },
    async compact() {
      db.exec("VACUUM");
      db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    },
  };
}
