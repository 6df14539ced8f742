import type { DatabaseSync } from "node:sqlite";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { Journal, MessageClosing, MessageOpening } from "../schema/record.ts";
import { closingValues, openingValues } from "./message-columns.ts";
import type { MessageIds } from "./message-ids.ts";
import type { RecordOp } from "./record-writer.ts";
import type { StoreNotice } from "./writer.ts";

/** A journal that can also close a row with nothing but an error. */
export type StoreJournal = Omit<Journal, "committed"> & {
  /** Closes a row as failed now, with what was thrown. */
  fail(id: number, sessionId: string, thrown: unknown, onCommit?: (seq: number) => void): void;
  /** Lets a session begin counting before its row is on disk. */
  begin(sessionId: string): void;
  /** Must be told of each operation that was written. */
  written(op: RecordOp): void;
};

/** What the journal needs from outside. */
export type JournalPorts = {
  db: DatabaseSync;
  ids: MessageIds;
  push(op: RecordOp): void;
  now(): number;
  onNotice(notice: StoreNotice): void;
};

type OpenRow = { sessionId: string; startedAtMs: number; metadata: string | null };

/** Gives rows their ids and session seqs in memory and hands them to the writer. */
export function createJournal({ db, ids, push, now, onNotice }: JournalPorts): StoreJournal {
  const openRows = new Map<number, OpenRow>();
  /** Rows whose closing is handed over but perhaps not on disk. */
  const closing = new Set<number>();
  const seqs = new Map<string, number>();
  const lastSeq = db.prepare(`SELECT EXISTS (SELECT 1 FROM sessions WHERE session_id = ?1) AS known,
    max(coalesce((SELECT max(opened_seq) FROM messages WHERE session_id = ?1), 0),
        coalesce((SELECT max(closed_seq) FROM messages WHERE session_id = ?1), 0)) AS seq`);
  const storedRow = db.prepare(
    "SELECT session_id, started_at, closed_seq, metadata_json FROM messages WHERE id = ?",
  );

  function nextSeq(sessionId: string): number {
    return (seqs.get(sessionId) ?? storedSeq(sessionId)) + 1;
  }

  function storedSeq(sessionId: string): number {
    const row = lastSeq.get(sessionId);
    if (!row?.known)
      throw new RetinueError("store", `no session '${sessionId}' in the record; start it first`);
    return Number(row.seq);
  }

  /** Undefined when the row is already closed. */
  function rowToClose(id: number, sessionId: string): OpenRow | undefined {
    const row = openRows.get(id) ?? rowFromDisk(id);
    if (row && row.sessionId !== sessionId) {
      throw new RetinueError(
        "store",
        `row ${id} belongs to session '${row.sessionId}', not to '${sessionId}'`,
      );
    }
    return row;
  }

  function rowFromDisk(id: number): OpenRow | undefined {
    if (closing.has(id)) return undefined;
    const row = storedRow.get(id);
    if (!row) throw new RetinueError("store", `no row ${id} in the record to close`);
    if (row.closed_seq !== null) return undefined;
    const metadata = row.metadata_json === null ? null : String(row.metadata_json);
    return { sessionId: String(row.session_id), startedAtMs: Date.parse(String(row.started_at)), metadata };
  }

  function open(row: MessageOpening, onCommit?: (seq: number) => void): number {
    const seq = nextSeq(row.sessionId);
    const id = ids.next();
    const values = openingValues(id, seq, row);
    const metadata = row.metadata === undefined ? null : JSON.stringify(row.metadata);
    openRows.set(id, { sessionId: row.sessionId, startedAtMs: row.startedAtMs, metadata });
    seqs.set(row.sessionId, seq);
    push({ kind: "open", id, seq, values, onCommit });
    return id;
  }

  function close(id: number, sessionId: string, row: MessageClosing, onCommit?: (seq: number) => void): void {
    const opened = rowToClose(id, sessionId);
    if (!opened) {
      const message = `Row ${id} of session ${sessionId} is already closed; its late outcome '${row.status}' is not recorded.`;
      onNotice({ level: "warning", message });
      return;
    }
    const seq = nextSeq(sessionId);
    const values = closingValues(seq, row, opened.metadata);
    openRows.delete(id);
    closing.add(id);
    seqs.set(sessionId, seq);
    push({ kind: "close", id, seq, values, onCommit });
  }

  function fail(id: number, sessionId: string, thrown: unknown, onCommit?: (seq: number) => void): void {
    const completedAtMs = now();
    const startedAtMs = rowToClose(id, sessionId)?.startedAtMs ?? completedAtMs;
    const durationMs = Math.max(0, completedAtMs - startedAtMs);
    close(
      id,
      sessionId,
      { status: "failed", completedAtMs, durationMs, errorMessage: messageOf(thrown) },
      onCommit,
    );
  }

  function written(op: RecordOp): void {
    if (op.kind === "close") closing.delete(op.id);
    if (op.kind === "open" || op.kind === "close") op.onCommit?.(op.seq);
  }

  return { open, close, fail, written, begin: (sessionId) => seqs.set(sessionId, 0) };
}
