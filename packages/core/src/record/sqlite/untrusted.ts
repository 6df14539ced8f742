import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { UntrustedNote } from "../../schema/change.ts";
import { decodeText, encodeText } from "../lossless-text.ts";
import type { UntrustedPort } from "../record.ts";

/** Keeps notes of what is untrusted. */
export function createUntrustedTable(db: DatabaseSync, now: () => number): UntrustedPort {
  const note = db.prepare(`INSERT INTO untrusted_files (root, path, hash, size, session_id, run_id, noted_at)
    VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (root, path, hash) DO NOTHING`);
  const open = db.prepare(`INSERT INTO untrusted_files (root, path, since_ms, session_id, run_id, noted_at)
    VALUES (?, '', ?, ?, ?, ?)`);
  const forget = db.prepare("DELETE FROM untrusted_files WHERE id = ?");
  const close = db.prepare("UPDATE untrusted_files SET until_ms = ? WHERE id = ?");
  const opened = db.prepare(
    "SELECT * FROM untrusted_files WHERE session_id = ? AND since_ms > 0 AND until_ms IS NULL",
  );
  const any = db.prepare("SELECT 1 FROM untrusted_files LIMIT 1");
  const roots = db.prepare("SELECT DISTINCT root FROM untrusted_files");
  const bySize = db.prepare("SELECT 1 FROM untrusted_files WHERE size = ? LIMIT 1");
  const byHash = db.prepare("SELECT 1 FROM untrusted_files WHERE hash = ? LIMIT 1");
  const byName = db.prepare(`SELECT 1 FROM untrusted_files WHERE hash IN (SELECT value FROM json_each(?))
    AND size IS NULL AND root IN (SELECT value FROM json_each(?)) LIMIT 1`);
  const span = db.prepare(`SELECT 1 FROM untrusted_files WHERE root IN (SELECT value FROM json_each(?1))
    AND since_ms <= ?2 AND (until_ms IS NULL OR until_ms >= ?2) LIMIT 1`);
  const list = db.prepare(`SELECT note.*, session.project FROM untrusted_files AS note
    LEFT JOIN sessions AS session USING (session_id) ORDER BY note.id DESC`);
  const trust = db.prepare(`DELETE FROM untrusted_files WHERE id IN (SELECT value FROM json_each(?1))
    OR hash IN (SELECT hash FROM untrusted_files WHERE id IN (SELECT value FROM json_each(?1)))`);
  const stamp = () => new Date(now()).toISOString();
  const storeList = (texts: readonly string[]) => JSON.stringify(texts.map(encodeText));
  return {
    async noteUntrusted({ root, path, hash, size, sessionId, runId }) {
      note.run(encodeText(root), encodeText(path), hash, size ?? null, sessionId, runId, stamp());
    },
    openSpan: async ({ root, sinceMs, sessionId, runId }) =>
      Number(open.run(encodeText(root), sinceMs, sessionId, runId, stamp()).lastInsertRowid),
    async closeSpan(id, untilMs) {
      if (untilMs === undefined) forget.run(id);
      else close.run(untilMs, id);
    },
    async hasUntrusted(places) {
      if (!places) return any.get() !== undefined;
      return roots.all().some(({ root }) => places.some((place) => overlap(place, decodeText(String(root)))));
    },
    async isUntrusted(query) {
      if ("size" in query) return bySize.get(query.size) !== undefined;
      if ("hash" in query) return byHash.get(query.hash) !== undefined;
      if ("names" in query)
        return byName.get(JSON.stringify(query.names), storeList(query.roots)) !== undefined;
      return span.get(storeList(query.roots), Math.round(query.atMs)) !== undefined;
    },
    async listUntrusted(query = {}) {
      if ("openIn" in query) return opened.all(query.openIn).map(readNote);
      const { project } = query;
      const isHere = ({ root, project: home }: Record<string, SQLOutputValue>) =>
        project === undefined ||
        [root, home ?? root].some((folder) => overlap(project, decodeText(String(folder))));
      return list.all().filter(isHere).map(readNote);
    },
    trustNotes: async (ids) => Number(trust.run(JSON.stringify(ids)).changes),
  };
}

/** Whether one folder is the other, or lies in it. */
function overlap(one: string, other: string): boolean {
  const close = (path: string) => (path.endsWith("/") ? path : `${path}/`);
  const [a, b] = [close(one), close(other)];
  return a.startsWith(b) || b.startsWith(a);
}

function readNote(row: Record<string, SQLOutputValue>): UntrustedNote {
  const text = (name: string) => decodeText(String(row[name]));
  const number = (name: string) => (row[name] === null ? null : Number(row[name]));
  return {
    id: Number(row.id),
    root: text("root"),
    path: text("path"),
    hash: row.hash === null ? null : String(row.hash),
    isName: row.hash !== null && row.size === null,
    sinceMs: number("since_ms"),
    untilMs: number("until_ms"),
    sessionId: String(row.session_id),
    runId: String(row.run_id),
    notedAt: String(row.noted_at),
  };
}
