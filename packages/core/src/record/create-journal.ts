import { messageOf } from "../schema/error.ts";
import type { Journal, MessageClosing, MessageOpening } from "../schema/record.ts";
import type { NamedText, RecordOp } from "./record-op.ts";
import { closingValues, openingValues } from "./rows/message-columns.ts";
import type { MessageIds } from "./rows/message-ids.ts";
import type { OpenRows } from "./rows/open-rows.ts";
import type { SessionSeqs } from "./session-seqs.ts";
import type { StoreNotice } from "./writer.ts";

/** A journal that can also close a row with nothing but an error. */
export type StoreJournal = Omit<Journal, "committed" | "open"> & {
  /** Opens a row under an id of its own if none is given. */
  open(row: MessageOpening, onCommit?: (seq: number) => void, id?: number): number;
  /** Closes a row as failed now, with what was thrown. */
  fail(id: number, sessionId: string, thrown: unknown, onCommit?: (seq: number) => void): void;
};

/** What the journal needs from outside. */
export type JournalPorts = {
  ids: MessageIds;
  seqs: SessionSeqs;
  rows: OpenRows;
  findNamed(row: MessageOpening): NamedText[];
  push(op: RecordOp): void;
  now(): number;
  onNotice(notice: StoreNotice): void;
};

/** Gives rows their ids and session seqs in memory and hands them to the writer. */
export function createJournal(ports: JournalPorts): StoreJournal {
  const { ids, seqs, rows, findNamed, push, now, onNotice } = ports;
  function open(row: MessageOpening, onCommit?: (seq: number) => void, id = ids.next()): number {
    const { sessionId, startedAtMs } = row;
    const seq = seqs.next(sessionId);
    const values = openingValues(id, seq, row);
    const metadata = row.metadata === undefined ? null : JSON.stringify(row.metadata);
    push({ kind: "open", id, sessionId, seq, values, onCommit, named: findNamed(row) });
    seqs.use(sessionId, seq);
    rows.opened(id, { sessionId, startedAtMs, metadata });
    return id;
  }

  function close(id: number, sessionId: string, row: MessageClosing, onCommit?: (seq: number) => void): void {
    const opened = rows.find(id, sessionId);
    if (!opened) {
      const message = `Row ${id} of session ${sessionId} is already closed; its late outcome '${row.status}' is not recorded.`;
      onNotice({ level: "warning", message });
      return;
    }
    const seq = seqs.next(sessionId);
    push({ kind: "close", id, sessionId, seq, values: closingValues(seq, row, opened.metadata), onCommit });
    seqs.use(sessionId, seq);
    rows.closing(id);
  }

  function fail(id: number, sessionId: string, thrown: unknown, onCommit?: (seq: number) => void): void {
    const completedAtMs = now();
    const startedAtMs = rows.find(id, sessionId)?.startedAtMs ?? completedAtMs;
    const durationMs = Math.max(0, completedAtMs - startedAtMs);
    close(
      id,
      sessionId,
      { status: "failed", completedAtMs, durationMs, errorMessage: messageOf(thrown) },
      onCommit,
    );
  }

  return { open, close, fail };
}
