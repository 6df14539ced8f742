import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { RetinueError } from "../../schema/error.ts";
import { decodeText } from "../lossless-text.ts";
import type { MessageChange, RowPort, RowQuery, StepMoment } from "../record.ts";
import { MESSAGE_COLUMNS, messageRow } from "./message-columns.ts";
import { IS_RUN, iterateArrays, prepareArrays } from "./sql.ts";

const REQUEST_CHARS = 500;
const LOG_PAGE = 1000;
const RUN_COLUMNS = MESSAGE_COLUMNS.split(", ")
  .map((name) => {
    if (name === "response_content") return "NULL";
    return name === "request_content" ? `substr(run.${name}, 1, ${REQUEST_CHARS})` : `run.${name}`;
  })
  .join(", ");
const LONG = new Set(["request_content", "response_content"]);
const CUT_COLUMNS = MESSAGE_COLUMNS.split(", ")
  .map((name) => (LONG.has(name) ? `substr(${name}, 1, ?5)` : name))
  .join(", ");
/** How SQLite is told that there is no limit. */
const EVERYTHING = -1;

/** Reads what runs, model calls and tool calls left. */
export function createRowReader(db: DatabaseSync): RowPort {
  const byId = prepareArrays(db, `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE id = ?`);
  const outline = prepareArrays(
    db,
    `SELECT ${RUN_COLUMNS}, (SELECT run_id FROM messages AS above WHERE above.id = run.parent_message_id)
      FROM messages AS run WHERE run.session_id = ?1 AND run.opened_seq > ?2 AND run.${IS_RUN} ORDER BY run.opened_seq, run.id LIMIT ?3`,
  );
  const log = prepareArrays(
    db,
    `${selectMoments("opened_seq", 0)} UNION ALL ${selectMoments("closed_seq", 1)} ORDER BY change_seq LIMIT ?3`,
  );
  // Another program may have stored what is no JSON; such a call has no name.
  const moments = prepareArrays(
    db,
    `SELECT opened_seq, run_id, started_at, completed_at, coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0), cost_usd,
      CASE WHEN request_type <> 'tool_call' THEN NULL
        WHEN json_valid(metadata_json) THEN coalesce(json_extract(metadata_json, '$.tool'), '?') ELSE '?' END
      FROM messages WHERE session_id = ?1 AND opened_seq > ?2 AND request_type IN ('continuation', 'tool_call')
      ORDER BY opened_seq, id LIMIT ?3`,
  );
  const last = db.prepare(
    `SELECT max(coalesce((SELECT max(opened_seq) FROM messages WHERE session_id = ?1), 0),
      coalesce((SELECT max(closed_seq) FROM messages WHERE session_id = ?1), 0)) AS seq`,
  );
  // Sums, because a group would be sorted first.
  const counts = db.prepare(
    `SELECT total(request_type = 'continuation') AS turns, total(request_type = 'tool_call') AS calls
      FROM messages WHERE session_id = ?`,
  );
  const text = db.prepare("SELECT content FROM prompts WHERE prompt_id = ?");
  const selectRows = createRowSelection(db);
  return {
    async readRow(id) {
      const values: unknown = byId.get(id);
      return Array.isArray(values) ? messageRow(values) : undefined;
    },
    async readRows(query) {
      const { after = null, limit = EVERYTHING, chars = null } = query;
      const sessionId = "sessionId" in query ? query.sessionId : null;
      const one = "parentId" in query ? query.parentId : runIdsIn(query);
      const values = chars === null ? [sessionId, one, after, limit] : [sessionId, one, after, limit, chars];
      return Array.from(iterateArrays(selectRows(query), ...values), (row) => messageRow(row));
    },
    async readOutline({ sessionId, after = 0, limit = EVERYTHING }) {
      return Array.from(iterateArrays(outline, sessionId, after, limit), (values) => {
        const above = values.at(-1);
        return { ...messageRow(values), parent_run_id: typeof above === "string" ? above : null };
      });
    },
    async readLog({ sessionId, after = 0, limit = LOG_PAGE }) {
      return Array.from(iterateArrays(log, sessionId, after, limit), (values): MessageChange => {
        const row = messageRow(values);
        const isClosed = values.at(-1) === 1;
        return isClosed
          ? { seq: row.closed_seq ?? 0, kind: "closed", row }
          : { seq: row.opened_seq, kind: "opened", row };
      });
    },
    async readMoments({ sessionId, after = 0, limit = EVERYTHING }) {
      return Array.from(iterateArrays(moments, sessionId, after, limit), readMoment);
    },
    readLastSeq: async (sessionId) => Number(last.get(sessionId)?.seq ?? 0),
    async countSteps(sessionId) {
      const sums = counts.get(sessionId);
      return { turns: Number(sums?.turns ?? 0), calls: Number(sums?.calls ?? 0) };
    },
    findRuns: createRunFinder(db),
    async readText(id) {
      const row = text.get(id);
      return row && decodeText(String(row.content));
    },
  };
}

/** Returns the function that gives the statement for a form of query, which is prepared once: session, parent or runs, seq, limit, characters. */
function createRowSelection(db: DatabaseSync): (query: RowQuery) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (query) => {
    const conditions: string[] = [];
    const isOfRuns = !("parentId" in query) && query.runIds !== undefined;
    if (isOfRuns) conditions.push("run_id IN (SELECT value FROM json_each(?2))");
    if ("parentId" in query) conditions.push("parent_message_id = ?2");
    // The sign keeps SQLite from going through the whole session for a few of its runs.
    if ("sessionId" in query) conditions.push(`${isOfRuns ? "+" : ""}session_id = ?1`);
    if (query.kind !== undefined) conditions.push(`${query.kind === "runs" ? "" : "NOT "}${IS_RUN}`);
    if (query.after !== undefined) conditions.push("opened_seq > ?3");
    const columns = query.chars === undefined ? MESSAGE_COLUMNS : CUT_COLUMNS;
    const sql = `SELECT ${columns} FROM messages WHERE ${conditions.join(" AND ")} ORDER BY opened_seq, id LIMIT ?4`;
    const statement = prepared.get(sql) ?? prepareArrays(db, sql);
    prepared.set(sql, statement);
    return statement;
  };
}

function runIdsIn({ runIds }: { runIds?: readonly string[] }): string | null {
  return runIds ? JSON.stringify(runIds) : null;
}

function selectMoments(column: string, closed: number): string {
  return `SELECT * FROM (SELECT ${MESSAGE_COLUMNS}, ${column} AS change_seq, ${closed} AS is_closed FROM messages
    WHERE session_id = ?1 AND ${column} > ?2 ORDER BY ${column} LIMIT ?3)`;
}

function readMoment(values: readonly SQLOutputValue[]): StepMoment {
  const [seq, runId, startedAt, endedAt, tokens, cost, tool] = values;
  return {
    seq: Number(seq),
    runId: String(runId),
    tool: tool === null ? null : decodeText(String(tool)),
    startedAt: String(startedAt),
    endedAt: typeof endedAt === "string" ? endedAt : null,
    tokens: Number(tokens),
    costUsd: typeof cost === "number" ? cost : null,
  };
}

const BEGINS = "run_id >= ?1 AND run_id < ?1 || char(1114111)";

function createRunFinder(db: DatabaseSync): RowPort["findRuns"] {
  const find = db.prepare(`SELECT DISTINCT run_id, session_id, kind FROM (
    SELECT run_id, session_id, 'run' AS kind FROM messages WHERE ${BEGINS} AND ${IS_RUN}
    UNION SELECT run_id, session_id, 'act' AS kind FROM file_changes
      WHERE ${BEGINS} AND (run_id LIKE 'und\\_%' ESCAPE '\\' OR run_id LIKE 'mrg\\_%' ESCAPE '\\')
  ) ORDER BY run_id = ?1 DESC, run_id LIMIT 6`);
  return async (prefix) => {
    if (prefix === "") return [];
    const found = find.all(prefix).map((row) => ({
      id: String(row.run_id),
      sessionId: String(row.session_id),
      kind: row.kind === "act" ? ("act" as const) : ("run" as const),
    }));
    return found[0]?.id === prefix ? found.slice(0, 1) : found;
  };
}

/**
 * Returns the function that reserves ids. The counter is SQLite's own for AUTOINCREMENT, moved past the whole block, so that
 * rows which other programs insert without an id never meet ours.
 */
export function createIdReservation(db: DatabaseSync): (count: number) => Promise<number> {
  const advance = db.prepare(
    "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'messages' RETURNING seq",
  );
  // Only for a database whose counter somebody removed.
  const restart = db.prepare(`INSERT INTO sqlite_sequence (name, seq)
    SELECT 'messages', coalesce(max(id), 0) + ? FROM messages RETURNING seq`);
  return async (count) => {
    const seq = (advance.get(count) ?? restart.get(count))?.seq;
    if (typeof seq !== "number") throw new RetinueError("store", "the record gives no more ids for rows");
    return seq - count + 1;
  };
}
