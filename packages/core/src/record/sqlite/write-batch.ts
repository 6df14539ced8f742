import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { OnCommit } from "../record.ts";
import { CLOSE_CHANGE, INSERT_CHANGE, SAVE_WORKTREE } from "./changes.ts";
import {
  INSERT_OPENED,
  INSERT_WHOLE,
  mergeMetadata,
  UPDATE_CLOSED,
  type Values,
  wholeValues,
} from "./message-columns.ts";
import { INSERT_SESSION, UPDATE_SESSION } from "./sessions.ts";
import { prepareTransaction } from "./sql.ts";

/** One write, ready for the database. */
export type RecordOp = RowOpening | RowClosing | PlainOp;

type RowOp = {
  id: number;
  sessionId: string;
  values: Values;
  onCommit: OnCommit | undefined;
  /** The session seq that it took; 0 until it is written, and if it never is. */
  seq: number;
};
type RowOpening = RowOp & { kind: "row.open"; named: readonly NamedText[] };
type RowClosing = RowOp & {
  kind: "row.close";
  status: string;
  /** Whether its metadata was merged over that of the opening; if not, the row is looked at before it is written. */
  isMerged: boolean;
  /** The row had been closed already. */
  isLate: boolean;
};
type PlainOp = {
  kind: "session.start" | "session.update" | "text.save" | "change.open" | "change.close" | "worktree.save";
  name: string;
  /** The session that it changes; texts and facts about the disk belong to none, whichever process has the session by now. */
  sessionId: string | null;
  values: SQLInputValue[];
};
/** A text that a row names; null if this process has not saved it itself. */
export type NamedText = { id: string; content: string | null };

const WHAT: { readonly [kind in RecordOp["kind"]]: string } = {
  "row.open": "the opening of row",
  "row.close": "the closing of row",
  "session.start": "the start of session",
  "session.update": "a change of session",
  "text.save": "text",
  "change.open": "the change of",
  "change.close": "the outcome of change",
  "worktree.save": "the copy of run",
};

/** Names an operation for a person. */
export function describeOp(op: RecordOp): string {
  return `${WHAT[op.kind]} ${"id" in op ? op.id : op.name}`;
}

/** Writes many operations at once. */
export type BatchWriter = {
  /**
   * Writes them in one transaction, or throws and leaves no trace: a RangeError for what can never be written. Operations of
   * sessions that may not be written any more are left out.
   */
  write(ops: readonly RecordOp[]): void;
  /** To be called when a session was taken: another process may have written it in the meantime. */
  forgetSeq(sessionId: string): void;
};

/** Creates the writer; `mayWrite` is asked inside the transaction, so nothing slips between. */
export function createBatchWriter(db: DatabaseSync, mayWrite: (sessionId: string) => boolean): BatchWriter {
  const statements = {
    "session.start": db.prepare(INSERT_SESSION),
    "session.update": db.prepare(UPDATE_SESSION),
    "text.save": db.prepare("INSERT OR IGNORE INTO prompts (prompt_id, content) VALUES (?, ?)"),
    "change.open": db.prepare(INSERT_CHANGE),
    "change.close": db.prepare(CLOSE_CHANGE),
    "worktree.save": db.prepare(SAVE_WORKTREE),
  };
  const inTransaction = prepareTransaction(db);
  const open = db.prepare(INSERT_OPENED);
  const whole = db.prepare(INSERT_WHOLE);
  const close = db.prepare(UPDATE_CLOSED);
  const useText = db.prepare("INSERT OR IGNORE INTO prompt_uses (session_id, prompt_id) VALUES (?, ?)");
  const find = db.prepare("SELECT session_id, closed_seq, metadata_json FROM messages WHERE id = ?");
  const last = db.prepare(`SELECT EXISTS (SELECT 1 FROM sessions WHERE session_id = ?1) AS known,
    max(coalesce((SELECT max(opened_seq) FROM messages WHERE session_id = ?1), 0),
        coalesce((SELECT max(closed_seq) FROM messages WHERE session_id = ?1), 0)) AS seq`);

  /** The last seq of each session that was written here. */
  const seqs = new Map<string, number>();

  function readSeq(sessionId: string): number {
    const row = last.get(sessionId);
    if (!row?.known) throw new RangeError(`no session '${sessionId}' in the record; start it first`);
    return Number(row.seq);
  }

  /** Gives rows their seqs, and finds the closings whose opening is in the same batch: both become one insert in its place. */
  function number(ops: readonly RecordOp[]): ReadonlyMap<number, RowClosing> {
    const opened = new Map<number, string>();
    const closed = new Set<number>();
    const closings = new Map<number, RowClosing>();
    for (const op of ops) {
      if (op.kind === "session.start") seqs.set(op.name, 0);
      if (op.kind === "row.open") opened.set(op.id, op.sessionId);
      else if (op.kind !== "row.close") continue;
      else if (closed.has(op.id)) op.isLate = true;
      else if (opened.get(op.id) === op.sessionId) closings.set(op.id, op);
      else if (!op.isMerged) prepareClosing(op);
      if (op.kind === "row.close") {
        if (op.isLate) continue;
        closed.add(op.id);
      }
      op.seq = (seqs.get(op.sessionId) ?? readSeq(op.sessionId)) + 1;
      seqs.set(op.sessionId, op.seq);
    }
    return closings;
  }

  /** Looks at a row that this process has not opened, or has closed already. */
  function prepareClosing(op: RowClosing): void {
    const row = find.get(op.id);
    if (!row || row.session_id !== op.sessionId) throw explainRefusal(op);
    op.isLate = row.closed_seq !== null;
    const [status, over] = op.values.shared;
    if (typeof over !== "string" || op.isLate) return;
    const before = row.metadata_json === null ? null : String(row.metadata_json);
    op.values.shared = [
      status ?? null,
      mergeMetadata(before, JSON.parse(over)),
      ...op.values.shared.slice(2),
    ];
  }

  function explainRefusal({ id, sessionId }: RowClosing): RangeError {
    const row = find.get(id);
    if (!row) return new RangeError(`no row ${id} in the record to close`);
    if (row.session_id === sessionId) return new RangeError(`row ${id} is not open`);
    return new RangeError(`row ${id} belongs to session '${row.session_id}', not to '${sessionId}'`);
  }

  function writeOp(op: RecordOp, closings: ReadonlyMap<number, RowClosing>): void {
    if (op.kind === "row.open") {
      for (const { id, content } of op.named) {
        // What the session used before is there for as long as the session is.
        const isFirst = useText.run(op.sessionId, id).changes === 1;
        if (isFirst && content !== null) statements["text.save"].run(id, content);
      }
      const closing = closings.get(op.id);
      if (closing) whole.run(...wholeValues(op.values, closing.values), op.seq, closing.seq);
      else open.run(...op.values.own, ...op.values.shared, op.seq);
    } else if (op.kind === "row.close") {
      if (op.isLate || closings.has(op.id)) return;
      const { own, shared } = op.values;
      if (close.run(...own, ...shared, op.seq, op.id, op.sessionId).changes !== 1) throw explainRefusal(op);
    } else statements[op.kind].run(...op.values);
  }

  function write(all: readonly RecordOp[]): void {
    try {
      inTransaction(() => {
        const ops = leaveOutLost(all, mayWrite);
        const closings = number(ops);
        for (const op of ops) writeOp(op, closings);
      });
    } catch (thrown) {
      seqs.clear();
      for (const op of all) forgetAttempt(op);
      throw thrown;
    }
  }
  return { write, forgetSeq: (sessionId) => void seqs.delete(sessionId) };
}

/** What was found out in a transaction that failed means nothing in the next one. */
function forgetAttempt(op: RecordOp): void {
  if ("seq" in op) op.seq = 0;
  if (op.kind === "row.close") op.isLate = false;
}

function leaveOutLost(
  ops: readonly RecordOp[],
  mayWrite: (sessionId: string) => boolean,
): readonly RecordOp[] {
  const refused = new Set(ops.map(({ sessionId }) => sessionId));
  for (const sessionId of refused) if (sessionId === null || mayWrite(sessionId)) refused.delete(sessionId);
  return refused.size === 0 ? ops : ops.filter(({ sessionId }) => !refused.has(sessionId));
}
