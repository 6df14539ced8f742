import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { ChangeOpening, FileChange, FileState, WorktreeRow } from "../../schema/change.ts";
import { encodeText } from "../lossless-text.ts";
import type { ChangePort } from "../record.ts";
import { readStoredText, selectLastNumber, storeText } from "./sql.ts";

const LAST_CLOSED = selectLastNumber("file_changes", "closed_seq");

/** Opens a change; values as `changeValues`. A change that was found late comes just before the one it preceded. */
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

const SELECT_CHANGE = `SELECT change_id, session_id, run_id, about_run, message_id, root, path, source, before_mode,
  before_hash, after_mode, after_hash, outcome_known, closed_seq, position, note FROM file_changes`;

/** Adds or replaces a copy; values as `worktreeValues`. */
export const SAVE_WORKTREE = `INSERT INTO worktrees
  (run_id, session_id, agent, path, into_path, status, base_tree, base_commit, git_dir, line_json, tainted, created_at, position)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ${selectLastNumber("worktrees", "position")} + 1) ON CONFLICT (run_id) DO UPDATE SET
  status = ?6, base_tree = ?7, base_commit = ?8, git_dir = ?9, tainted = ?11`;

/** Reads changes to files and copies of projects. */
export function createChangeReader(db: DatabaseSync): ChangePort {
  const byIds = db.prepare(`${SELECT_CHANGE} WHERE run_id IN (SELECT value FROM json_each(?1))
    OR about_run IN (SELECT value FROM json_each(?1)) ORDER BY position, change_id`);
  const since =
    db.prepare(`${SELECT_CHANGE} WHERE root = ? AND path = ? AND (closed_seq IS NULL OR closed_seq > ?)
    ORDER BY position, change_id`);
  const last = db.prepare(`SELECT ${LAST_CLOSED} AS seq`);
  const byRun = db.prepare("SELECT * FROM worktrees WHERE run_id = ?");
  const byPath = db.prepare("SELECT * FROM worktrees WHERE path = ?");
  const live = db.prepare(
    "SELECT * FROM worktrees WHERE status IN ('making', 'open', 'kept') ORDER BY position",
  );
  return {
    async listChanges(query) {
      if ("ids" in query) return byIds.all(JSON.stringify(query.ids)).map(readChange);
      return since.all(encodeText(query.root), encodeText(query.path), query.after).map(readChange);
    },
    readLastChange: async () => Number(last.get()?.seq ?? 0),
    async findWorktree(query) {
      const row = "runId" in query ? byRun.get(query.runId) : byPath.get(encodeText(query.path));
      return row && readWorktree(row);
    },
    listWorktrees: async () => live.all().map(readWorktree),
  };
}

/** What an opening change stores. */
export function changeValues(change: ChangeOpening, nowMs: number): SQLInputValue[] {
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
    storeText(change.note),
    new Date(nowMs).toISOString(),
    change.done ? 1 : 0,
    change.beforeChange ?? null,
  ];
}

/** What a state of a file stores. */
export function stateValues(state: FileState): [mode: number | null, hash: string | null] {
  return state ? [state.mode, state.hash] : [null, null];
}

function readChange(row: Record<string, SQLOutputValue>): FileChange {
  return {
    changeId: String(row.change_id),
    sessionId: String(row.session_id),
    runId: String(row.run_id),
    aboutRun: row.about_run === null ? null : String(row.about_run),
    messageId: row.message_id === null ? null : Number(row.message_id),
    root: readStoredText(row.root) ?? "",
    path: readStoredText(row.path) ?? "",
    source: row.source as FileChange["source"],
    before: readState(row.before_mode, row.before_hash),
    after: readState(row.after_mode, row.after_hash),
    outcomeKnown: row.outcome_known === 1,
    closedSeq: row.closed_seq === null ? null : Number(row.closed_seq),
    position: Number(row.position),
    note: readStoredText(row.note),
  };
}

function readState(mode: SQLOutputValue | undefined, hash: SQLOutputValue | undefined): FileState {
  return mode === null || mode === undefined ? null : { mode: Number(mode), hash: String(hash ?? "") };
}

/** What a copy stores. */
export function worktreeValues(row: WorktreeRow): SQLInputValue[] {
  return [
    row.runId,
    row.sessionId,
    row.agent,
    encodeText(row.path),
    encodeText(row.into),
    row.status,
    row.baseTree,
    row.baseCommit,
    storeText(row.gitDir ?? undefined),
    JSON.stringify(row.line),
    row.tainted ? 1 : 0,
    row.createdAtMs,
  ];
}

function readWorktree(row: Record<string, SQLOutputValue>): WorktreeRow {
  return {
    runId: String(row.run_id),
    sessionId: String(row.session_id),
    agent: String(row.agent),
    path: readStoredText(row.path) ?? "",
    into: readStoredText(row.into_path) ?? "",
    status: row.status as WorktreeRow["status"],
    baseTree: readStoredText(row.base_tree),
    baseCommit: readStoredText(row.base_commit),
    gitDir: readStoredText(row.git_dir),
    line: JSON.parse(String(row.line_json)) as string[],
    tainted: row.tainted === 1,
    createdAtMs: Number(row.created_at),
  };
}
