import type { DatabaseSync, SQLInputValue, SQLOutputValue } from "node:sqlite";
import { RetinueError } from "../../schema/error.ts";
import type { SessionQuery } from "../../schema/inspect/session-summary.ts";
import { listSome } from "../../schema/list-some.ts";
import type { SessionRow } from "../../schema/record.ts";
import { decodeText, encodeText } from "../lossless-text.ts";
import type { FoundSessions, SessionChange, SessionOpening, SessionPort } from "../record.ts";
import { matchSession, type SearchedRun, splitSearch } from "../session-search.ts";
import { Conditions, IS_RUN, readStoredText, selectLastNumber, storeJson, storeText } from "./sql.ts";

const COLUMNS = "session_id, title, project, workspace, created_at, updated_at, status, metadata_json";
/** Texts are searched in at most this many sessions, the last changed ones, and in this many of their runs. */
const MOST_SEARCHED = 2_000;
const MOST_RUNS_SEARCHED = 100_000;

const LAST_CHANGE = selectLastNumber("sessions", "changed");
/** The place in the order of changes that a change takes. */
const NEXT_CHANGE = `${LAST_CHANGE} + 1`;

/** Writes a new session; values as `sessionValues`. */
export const INSERT_SESSION = `INSERT INTO sessions (${COLUMNS}, changed)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ${NEXT_CHANGE})`;
/** Changes a session; values as `sessionChangeValues`. */
export const UPDATE_SESSION = `UPDATE sessions SET status = coalesce(?, status), title = coalesce(?, title),
  metadata_json = coalesce(?, metadata_json), updated_at = ?, changed = ${NEXT_CHANGE} WHERE session_id = ?`;

/** What a starting session stores. */
export function sessionValues(row: SessionOpening, nowMs: number): SQLInputValue[] {
  const at = new Date(nowMs).toISOString();
  const texts = [row.title, row.project, row.workspace].map(encodeText);
  return [row.sessionId, ...texts, at, at, row.status ?? "running", storeJson(row.metadata)];
}

/** What a change of a session stores. */
export function sessionChangeValues(
  sessionId: string,
  change: SessionChange,
  nowMs: number,
): SQLInputValue[] {
  const { status = null, title, metadata } = change;
  return [status, storeText(title), storeJson(metadata), new Date(nowMs).toISOString(), sessionId];
}

/** Finds sessions by what they are and by what was said in them. */
export function createSessionReader(db: DatabaseSync): Omit<SessionPort, "startSession"> {
  const byId = db.prepare(`SELECT ${COLUMNS} FROM sessions WHERE session_id = ?`);
  const latest = db.prepare(`SELECT ${COLUMNS} FROM sessions ORDER BY changed DESC LIMIT 5`);
  const prefixed = db.prepare(
    `SELECT ${COLUMNS} FROM sessions WHERE substr(session_id, 1, length(?1)) = ?1 LIMIT 6`,
  );
  const lastChange = db.prepare(`SELECT ${LAST_CHANGE} AS place`);
  const version = db.prepare("PRAGMA data_version");
  const texts = db.prepare(
    `SELECT agent_role, request_content, response_content FROM messages
      WHERE session_id = ? AND ${IS_RUN} ORDER BY opened_seq`,
  );
  const figures = db.prepare(
    `SELECT count(*) AS runs, count(DISTINCT agent_role) AS agents, coalesce(max(agent_depth), 0) AS depth,
      total(total_tokens) AS tokens, total(cost_usd) AS cost,
      total(completed_at IS NOT NULL AND cost_usd IS NULL) AS unpriced
      FROM messages WHERE session_id = ? AND ${IS_RUN}`,
  );
  const roots = db.prepare(
    `SELECT agent_role, started_at, duration_ms FROM messages
      WHERE session_id = ? AND request_type = 'prompt' ORDER BY opened_seq`,
  );

  function find(sessionId: string): SessionRow | undefined {
    const row = byId.get(sessionId);
    return row && readSession(row);
  }
  /** The runs of a session, as long as some of all that may be searched are left. */
  function* iterateRuns(sessionId: string, left: { runs: number }): Generator<SearchedRun> {
    for (const run of texts.iterate(sessionId)) {
      left.runs--;
      yield {
        agent: readStoredText(run.agent_role),
        task: readStoredText(run.request_content),
        answer: readStoredText(run.response_content),
      };
    }
  }
  function search(query: SessionQuery): FoundSessions {
    const words = splitSearch(query.search ?? "");
    const { limit = 50 } = query;
    const wanted = limit < 0 ? Number.MAX_SAFE_INTEGER - 1 : limit;
    const most = words.length === 0 ? wanted : MOST_SEARCHED;
    const { where, values } = conditionsFor(query);
    const candidates = db
      .prepare(`SELECT ${COLUMNS} FROM sessions ${where} ORDER BY changed DESC LIMIT ?`)
      .all(...values, most + 1)
      .map(readSession);
    const sessions: FoundSessions["sessions"] = [];
    const left = { runs: MOST_RUNS_SEARCHED };
    for (const [index, row] of candidates.slice(0, most).entries()) {
      if (sessions.length >= wanted) return { sessions };
      if (left.runs <= 0) return { sessions, searchedOnly: index };
      const match = matchSession(row, words, iterateRuns(row.session_id, left));
      if (match) sessions.push(match === "row" ? row : { ...row, found: match });
    }
    const isCut = words.length > 0 && candidates.length > most;
    return { sessions, ...(isCut && { searchedOnly: most }) };
  }

  return {
    listSessions: async (query = {}) => search(query),
    readSession: async (sessionId) => find(sessionId),
    async findSession(prefix) {
      const exact = find(prefix);
      if (exact) return exact;
      const rows = prefix === "" ? [] : prefixed.all(prefix).map(readSession);
      if (rows.length === 1 && rows[0]) return rows[0];
      throw notFound(prefix, rows, latest.all().map(readSession));
    },
    async readFigures(sessionId) {
      const sums = figures.get(sessionId) ?? {};
      const tasks = roots.all(sessionId);
      return {
        agent: readStoredText(tasks[0]?.agent_role),
        runs: Number(sums.runs ?? 0),
        agents: Number(sums.agents ?? 0),
        depth: Number(sums.depth ?? 0),
        tokens: Number(sums.tokens ?? 0),
        cost_usd: Number(sums.unpriced ?? 0) > 0 ? null : Number(sums.cost ?? 0),
        duration_ms: sumWorkedMs(tasks),
      };
    },
    readVersion: async () => ({
      changed: Number(lastChange.get()?.place ?? 0),
      others: Number(version.get()?.data_version ?? 0),
    }),
  };
}

function conditionsFor({ project, status, sinceMs, untilMs, afterChange }: SessionQuery): Conditions {
  const conditions = status === "ended" ? new Conditions("status <> 'running'") : new Conditions();
  return conditions
    .add("status = ?", status === "ended" ? undefined : status)
    .add("project = ?", project === undefined ? undefined : encodeText(project))
    .add("changed > ?", afterChange)
    .add("updated_at >= ?", sinceMs === undefined ? undefined : new Date(sinceMs).toISOString())
    .add("updated_at < ?", untilMs === undefined ? undefined : new Date(untilMs).toISOString());
}

/** The time that any of the tasks took, which may have run at once. */
function sumWorkedMs(tasks: readonly Record<string, SQLOutputValue>[]): number {
  let worked = 0;
  let untilMs = 0;
  for (const { started_at: started, duration_ms: duration } of tasks) {
    const fromMs = Date.parse(String(started)) || 0;
    const toMs = fromMs + Math.max(0, Number(duration ?? 0));
    worked += Math.max(0, toMs - Math.max(fromMs, untilMs));
    untilMs = Math.max(untilMs, toMs);
  }
  return worked;
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

function readSession(row: Record<string, SQLOutputValue>): SessionRow {
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
