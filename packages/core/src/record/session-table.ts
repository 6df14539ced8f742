import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { RetinueError } from "../schema/error.ts";
import { listSome } from "../schema/list-some.ts";
import type { SessionRow } from "../schema/record.ts";
import type { SessionChange, SessionOpening } from "./record.ts";
import { selectLastNumber } from "./rows/last-number.ts";
import { decodeText, encodeText } from "./rows/lossless-text.ts";

/** Reads sessions. */
export type SessionReader = {
  /** The last changed first, by order of writing and not by the clock; 50 unless said otherwise, all with -1. */
  sessions(query?: { limit?: number; project?: string; status?: SessionRow["status"] }): SessionRow[];
  session(sessionId: string): SessionRow | undefined;
  /** The place of the last change of any session in the order of changes, also of one that was deleted. */
  lastChange(): number;
  /** The one session whose id begins with `prefix`; an error lists what was available. */
  findSession(prefix: string): SessionRow;
};

/** The columns that `sessionRow` reads. */
export const SESSION_COLUMNS =
  "session_id, title, project, workspace, created_at, updated_at, status, metadata_json";

const LAST_CHANGE = selectLastNumber("sessions", "changed");
/** The place in the order of changes that a change takes. */
const NEXT_CHANGE = `${LAST_CHANGE} + 1`;

/** Writes a new session; values as `sessionValues`. */
export const INSERT_SESSION = `INSERT INTO sessions (${SESSION_COLUMNS}, changed)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_CHANGE})`;
/** Changes a session; values as `sessionChangeValues`. */
export const UPDATE_SESSION = `UPDATE sessions SET status = coalesce(?, status), title = coalesce(?, title),
  metadata_json = coalesce(?, metadata_json), updated_at = ?, changed = ${NEXT_CHANGE} WHERE session_id = ?`;

/** What a starting session stores. */
export function sessionValues(row: SessionOpening, nowMs: number): SQLInputValue[] {
  const at = new Date(nowMs).toISOString();
  const texts = [row.title, row.project, row.workspace].map(encodeText);
  return [row.sessionId, ...texts, at, at, row.status ?? "running", json(row.metadata)];
}

/** What a change of a session stores. */
export function sessionChangeValues(
  sessionId: string,
  change: SessionChange,
  nowMs: number,
): SQLInputValue[] {
  const title = change.title === undefined ? null : encodeText(change.title);
  return [change.status ?? null, title, json(change.metadata), new Date(nowMs).toISOString(), sessionId];
}

/** Creates the reader of a database that has the schema of the record. */
export function createSessionReader(db: DatabaseSync): SessionReader {
  const byId = db.prepare(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE session_id = ?`);
  const list = db.prepare(
    `SELECT ${SESSION_COLUMNS} FROM sessions
      WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR status = ?2) ORDER BY changed DESC LIMIT ?3`,
  );
  const prefixed = db.prepare(
    `SELECT ${SESSION_COLUMNS} FROM sessions WHERE substr(session_id, 1, length(?1)) = ?1 LIMIT 6`,
  );

  function session(sessionId: string): SessionRow | undefined {
    const row = byId.get(sessionId);
    return row && sessionRow(row);
  }
  const sessions: SessionReader["sessions"] = ({ limit = 50, project, status } = {}) =>
    list.all(project === undefined ? null : encodeText(project), status ?? null, limit).map(sessionRow);
  function findSession(prefix: string): SessionRow {
    const exact = session(prefix);
    if (exact) return exact;
    const rows = prefix === "" ? [] : prefixed.all(prefix).map(sessionRow);
    if (rows.length === 1 && rows[0]) return rows[0];
    throw notFound(prefix, rows, sessions({ limit: 5 }));
  }
  const latest = db.prepare(`SELECT ${LAST_CHANGE} AS place`);
  return { sessions, session, findSession, lastChange: () => Number(latest.get()?.place ?? 0) };
}

function notFound(prefix: string, rows: readonly SessionRow[], recent: readonly SessionRow[]): RetinueError {
  const ids = listSome((rows.length > 0 ? rows : recent).map((row) => row.session_id));
  if (rows.length > 0)
    return new RetinueError("input", `'${prefix}' fits several sessions: ${ids}`, "Give more of the id.");
  if (ids === "")
    return new RetinueError(
      "input",
      `no session '${prefix}'; there are none yet`,
      "Start one with `retinue run`.",
    );
  return new RetinueError(
    "input",
    `no session '${prefix}'; the latest are: ${ids}`,
    "List them with `retinue sessions`.",
  );
}

/** One row of `sessions`. */
export function sessionRow(row: Record<string, SQLOutputValue>): SessionRow {
  return {
    session_id: String(row.session_id),
    title: decodeText(String(row.title)),
    project: decodeText(String(row.project)),
    workspace: decodeText(String(row.workspace)),
    created_at: String(row.created_at),
    updated_at: String(row.updated_at),
    status: row.status as SessionRow["status"],
    metadata_json: row.metadata_json as string | null,
  };
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
