import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { UntrustedNote } from "../schema/change.ts";
import type { Fingerprint, UntrustedAuthor } from "./record.ts";
import { decodeText, encodeText } from "./rows/lossless-text.ts";

/**
 * What runs wrote that held untrusted text, until a person has looked at it: contents and names by their hash, and spans of
 * time in which anything below a folder may have been written. Writes are on disk when they return.
 */
export type UntrustedTable = {
  noteUntrusted(about: UntrustedAuthor & Fingerprint & { path: string }): void;
  /** Notes the name of something whose content is not noted, such as a folder. */
  noteUntrustedName(about: UntrustedAuthor & { path: string; hash: string }): void;
  /** From now on whatever changes below the root is untrusted; `sinceMs: 0` means all that is there. Gives the span's id. */
  openSpan(about: UntrustedAuthor & { sinceMs: number }): number;
  /** Ends a span; without a time it is forgotten, because its contents are noted one by one. */
  closeSpan(id: number, untilMs?: number): void;
  /** The spans of a session that have a beginning and no end yet: its process ended inside of them, unless it lives. */
  openSpans(sessionId: string): UntrustedNote[];
  /** Whether there is anything untrusted; if folders are given, in a project at, below or above one of them. */
  hasUntrusted(roots?: readonly string[]): boolean;
  hasUntrustedSize(size: number): boolean;
  hasUntrustedHash(hash: string): boolean;
  /** Whether any of these names was noted in any of these folders. */
  hasUntrustedName(hashes: readonly string[], roots: readonly string[]): boolean;
  /** Whether whatever changed at that moment below one of these folders is untrusted. */
  isSpanOver(roots: readonly string[], atMs: number): boolean;
  /**
   * All notes, the latest first. If a project is given, those that make something untrusted in it: its own, and those of
   * projects below and above it.
   */
  untrustedFiles(project?: string): UntrustedNote[];
  /** A person has looked: these notes, and every other note of the same contents, are dropped. Gives how many were. */
  trustNotes(ids: readonly number[]): number;
};

/** Creates the table over a database that has the schema of the record. */
export function createUntrustedTable(db: DatabaseSync, now: () => number): UntrustedTable {
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
  return {
    noteUntrusted({ root, path, hash, size, sessionId, runId }) {
      note.run(encodeText(root), encodeText(path), hash, size, sessionId, runId, stamp());
    },
    noteUntrustedName({ root, path, hash, sessionId, runId }) {
      note.run(encodeText(root), encodeText(path), hash, null, sessionId, runId, stamp());
    },
    openSpan: ({ root, sinceMs, sessionId, runId }) =>
      Number(open.run(encodeText(root), sinceMs, sessionId, runId, stamp()).lastInsertRowid),
    closeSpan: (id, untilMs) => void (untilMs === undefined ? forget.run(id) : close.run(untilMs, id)),
    openSpans: (sessionId) => opened.all(sessionId).map(fromRow),
    hasUntrusted: (places) =>
      places
        ? roots.all().some(({ root }) => places.some((place) => overlap(place, decodeText(String(root)))))
        : any.get() !== undefined,
    hasUntrustedSize: (size) => bySize.get(size) !== undefined,
    hasUntrustedHash: (hash) => byHash.get(hash) !== undefined,
    hasUntrustedName: (hashes, folders) =>
      byName.get(JSON.stringify(hashes), JSON.stringify(folders.map(encodeText))) !== undefined,
    isSpanOver: (folders, atMs) =>
      span.get(JSON.stringify(folders.map(encodeText)), Math.round(atMs)) !== undefined,
    untrustedFiles(project) {
      const isHere = ({ root, project: home }: Record<string, SQLOutputValue>) =>
        project === undefined ||
        [root, home ?? root].some((folder) => overlap(project, decodeText(String(folder))));
      return list.all().filter(isHere).map(fromRow);
    },
    trustNotes: (ids) => Number(trust.run(JSON.stringify(ids)).changes),
  };
}

/** Whether one folder is the other, or lies in it. */
function overlap(one: string, other: string): boolean {
  const close = (path: string) => (path.endsWith("/") ? path : `${path}/`);
  const [a, b] = [close(one), close(other)];
  return a.startsWith(b) || b.startsWith(a);
}

function fromRow(row: Record<string, SQLOutputValue>): UntrustedNote {
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
