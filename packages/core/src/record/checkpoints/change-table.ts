import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { ChangeOpening, FileChange, FileState } from "../../schema/change.ts";
import type { RecordOp } from "../record-op.ts";
import { selectLastNumber } from "../rows/last-number.ts";
import { decodeText, encodeText } from "../rows/lossless-text.ts";

/** Keeps and reads what runs changed in projects. Await `committed()` to be sure that an opening is on disk. */
export type ChangeTable = {
  openChange(change: ChangeOpening): void;
  /** The change has happened, and this came of it. */
  closeChange(changeId: string, after: FileState): void;
  /** Changes made by, or about, any of these runs and acts, in the order they happened. */
  changesOf(ids: readonly string[]): FileChange[];
  /** Changes of one path that were closed after `seq` or are still open. */
  changesSince(root: string, path: string, seq: number): FileChange[];
  /** The seq of the change that closed last. */
  lastClosedSeq(): number;
};

const LAST_CLOSED = selectLastNumber("file_changes", "closed_seq");

/** Opens a change; values as `openingValues`. A change that was found late stands just before the one it preceded. */
export const INSERT_CHANGE = `INSERT INTO file_changes
  (change_id, session_id, run_id, about_run, message_id, root, path, source, before_mode, before_hash,
   after_mode, after_hash, outcome_known, note, opened_at, closed_seq, position)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
   CASE WHEN ?16 THEN ${LAST_CLOSED} + 1 END,
   coalesce((SELECT position - 0.5 FROM file_changes WHERE change_id = ?17),
            floor(${selectLastNumber("file_changes", "position")}) + 1))`;

/** Closes a change: mode, hash, id. */
export const CLOSE_CHANGE = `UPDATE file_changes SET after_mode = ?, after_hash = ?, outcome_known = 1,
  closed_seq = ${LAST_CLOSED} + 1
  WHERE change_id = ? AND closed_seq IS NULL`;

const SELECT = `SELECT change_id, session_id, run_id, about_run, message_id, root, path, source, before_mode,
  before_hash, after_mode, after_hash, outcome_known, closed_seq, position, note FROM file_changes`;

/** Creates the table's reader and writer over a database that has the schema of the record. */
export function createChangeTable(
  db: DatabaseSync,
  push: (op: RecordOp) => void,
  now: () => number,
): ChangeTable {
  const byIds = db.prepare(`${SELECT} WHERE run_id IN (SELECT value FROM json_each(?1))
    OR about_run IN (SELECT value FROM json_each(?1)) ORDER BY position, change_id`);
  const since = db.prepare(`${SELECT} WHERE root = ? AND path = ? AND (closed_seq IS NULL OR closed_seq > ?)
    ORDER BY position, change_id`);
  const last = db.prepare(`SELECT ${LAST_CLOSED} AS seq`);
  return {
    openChange(change) {
      push({ kind: "openChange", name: change.path, values: openingValues(change, now()) });
    },
    closeChange(changeId, after) {
      push({ kind: "closeChange", name: changeId, values: [...stateValues(after), changeId] });
    },
    changesOf: (ids) => byIds.all(JSON.stringify(ids)).map(changeOf),
    changesSince: (root, path, seq) => since.all(encodeText(root), encodeText(path), seq).map(changeOf),
    lastClosedSeq: () => Number(last.get()?.seq ?? 0),
  };
}

function openingValues(change: ChangeOpening, nowMs: number): SQLInputValue[] {
  const { after } = change;
  return [
    change.changeId,
    change.sessionId,
    change.runId,
    change.aboutRun ?? null,
    change.messageId,
    encodeText(change.root),
    encodeText(change.path),
    change.source,
    ...stateValues(change.before),
    ...stateValues(after ?? null),
    after === undefined ? 0 : 1,
    change.note === undefined ? null : encodeText(change.note),
    new Date(nowMs).toISOString(),
    change.done ? 1 : 0,
    change.beforeChange ?? null,
  ];
}

function stateValues(state: FileState): [mode: number | null, hash: string | null] {
  return state ? [state.mode, state.hash] : [null, null];
}

function changeOf(row: Record<string, SQLOutputValue>): FileChange {
  const text = (value: SQLOutputValue | undefined) => decodeText(String(value ?? ""));
  return {
    changeId: String(row.change_id),
    sessionId: String(row.session_id),
    runId: String(row.run_id),
    aboutRun: row.about_run === null ? null : String(row.about_run),
    messageId: row.message_id === null ? null : Number(row.message_id),
    root: text(row.root),
    path: text(row.path),
    source: row.source as FileChange["source"],
    before: stateOf(row.before_mode, row.before_hash),
    after: stateOf(row.after_mode, row.after_hash),
    outcomeKnown: row.outcome_known === 1,
    closedSeq: row.closed_seq === null ? null : Number(row.closed_seq),
    position: Number(row.position),
    note: row.note === null ? null : text(row.note),
  };
}

function stateOf(mode: SQLOutputValue | undefined, hash: SQLOutputValue | undefined): FileState {
  return mode === null || mode === undefined ? null : { mode: Number(mode), hash: String(hash ?? "") };
}
