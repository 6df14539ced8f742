import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { WorktreeRow } from "../../schema/change.ts";
import type { RecordOp } from "../record-op.ts";
import { selectLastNumber } from "../rows/last-number.ts";
import { decodeText, encodeText } from "../rows/lossless-text.ts";

/** The copies of projects that isolated runs work in. */
export type WorktreeTable = {
  /** Adds a copy, or puts its new state in place of the old. */
  saveWorktree(row: WorktreeRow): void;
  worktree(runId: string): WorktreeRow | undefined;
  /** Copies that are still there, in the order they were made. */
  liveWorktrees(): WorktreeRow[];
  /** The copy whose folder this is, also if it is gone. */
  worktreeAt(path: string): WorktreeRow | undefined;
};

/** Adds or replaces a copy; values as `valuesOf`. */
export const SAVE_WORKTREE = `INSERT INTO worktrees
  (run_id, session_id, agent, path, into_path, status, base_tree, base_commit, git_dir, line_json, tainted, created_at, position)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ${selectLastNumber("worktrees", "position")} + 1) ON CONFLICT (run_id) DO UPDATE SET
  status = ?6, base_tree = ?7, base_commit = ?8, git_dir = ?9, tainted = ?11`;

const SELECT = "SELECT * FROM worktrees";

/** Creates the table's reader and writer over a database that has the schema of the record. */
export function createWorktreeTable(db: DatabaseSync, push: (op: RecordOp) => void): WorktreeTable {
  const byRun = db.prepare(`${SELECT} WHERE run_id = ?`);
  const byPath = db.prepare(`${SELECT} WHERE path = ?`);
  const live = db.prepare(`${SELECT} WHERE status IN ('making', 'open', 'kept') ORDER BY position`);
  const one = (row: Record<string, SQLOutputValue> | undefined) => row && worktreeOf(row);
  return {
    saveWorktree: (row) => push({ kind: "saveWorktree", name: row.runId, values: valuesOf(row) }),
    worktree: (runId) => one(byRun.get(runId)),
    liveWorktrees: () => live.all().map(worktreeOf),
    worktreeAt: (path) => one(byPath.get(encodeText(path))),
  };
}

function valuesOf(row: WorktreeRow): SQLInputValue[] {
  return [
    row.runId,
    row.sessionId,
    row.agent,
    encodeText(row.path),
    encodeText(row.into),
    row.status,
    row.baseTree,
    row.baseCommit,
    row.gitDir === null ? null : encodeText(row.gitDir),
    JSON.stringify(row.line),
    row.tainted ? 1 : 0,
    row.createdAtMs,
  ];
}

function worktreeOf(row: Record<string, SQLOutputValue>): WorktreeRow {
  const text = (value: SQLOutputValue | undefined) =>
    value === null || value === undefined ? null : decodeText(String(value));
  return {
    runId: String(row.run_id),
    sessionId: String(row.session_id),
    agent: String(row.agent),
    path: text(row.path) ?? "",
    into: text(row.into_path) ?? "",
    status: row.status as WorktreeRow["status"],
    baseTree: text(row.base_tree),
    baseCommit: text(row.base_commit),
    gitDir: text(row.git_dir),
    line: JSON.parse(String(row.line_json)) as string[],
    tainted: row.tainted === 1,
    createdAtMs: Number(row.created_at),
  };
}
