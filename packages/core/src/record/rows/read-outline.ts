import type { DatabaseSync } from "node:sqlite";
import type { MessageRow } from "../../schema/record.ts";
import type { RunOutline } from "../record.ts";
import { MESSAGE_COLUMNS, messageRow } from "./message-row.ts";
import { arraysOf, prepare, rowsOf } from "./read-messages.ts";

/** Which model and tool calls are wanted. */
export type StepQuery = {
  sessionId: string;
  runId?: string | undefined;
  after: number;
  limit: number;
  /** Characters of each text. */
  chars: number;
};

/** Which of a session's runs are wanted: so many of those that opened after a seq. */
export type OutlinePart = { after?: number; limit?: number };

/** Reads large sessions in parts: first their runs, then what is below some of them. */
export type OutlineReader = {
  /** The runs in the order they opened; what they answered is null, and what they were asked is cut. */
  runOutline(sessionId: string, part?: OutlinePart): RunOutline[];
  /** The model and tool calls of some runs, whole, in the order they opened. */
  stepsOf(sessionId: string, runIds: readonly string[]): MessageRow[];
  /** The rows of one run, an attempt each, whole and in the order they opened. */
  attemptsOf(runId: string): MessageRow[];
  /** Model and tool calls that opened after a seq, in that order, of a session or of one of its runs; texts are cut. */
  stepsAfter(query: StepQuery): MessageRow[];
  /** The last seq that the record of a session has; 0 for none. */
  lastSeq(sessionId: string): number;
  /** How many model and tool calls a session has. */
  stepCounts(sessionId: string): { turns: number; calls: number };
};

const REQUEST_CHARS = 500;
const RUN_COLUMNS = MESSAGE_COLUMNS.split(", ")
  .map((name) => {
    if (name === "response_content") return "NULL";
    return name === "request_content" ? `substr(run.${name}, 1, ${REQUEST_CHARS})` : `run.${name}`;
  })
  .join(", ");
const LONG = new Set(["request_content", "response_content"]);
const STEP_COLUMNS = MESSAGE_COLUMNS.split(", ")
  .map((name) => (LONG.has(name) ? `substr(${name}, 1, ?4)` : name))
  .join(", ");
/** How SQLite is told that there is no limit. */
const EVERYTHING = -1;
const IS_RUN = "request_type IN ('prompt', 'delegation')";

/** Creates the reader of a database that has the schema of the record. */
export function createOutlineReader(db: DatabaseSync): OutlineReader {
  const runs = prepare(
    db,
    `SELECT ${RUN_COLUMNS}, (SELECT run_id FROM messages AS above WHERE above.id = run.parent_message_id)
      FROM messages AS run WHERE run.session_id = ?1 AND run.opened_seq > ?2 AND run.${IS_RUN} ORDER BY run.opened_seq, run.id LIMIT ?3`,
  );
  // The sign keeps SQLite from going through the whole session for a few of its runs.
  const steps = prepare(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE run_id IN (SELECT value FROM json_each(?2))
      AND +session_id = ?1 AND NOT ${IS_RUN} ORDER BY opened_seq, id`,
  );
  const attempts = prepare(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE run_id = ? AND ${IS_RUN} ORDER BY opened_seq, id`,
  );
  const after = (condition: string) =>
    prepare(
      db,
      `SELECT ${STEP_COLUMNS} FROM messages WHERE ${condition} AND opened_seq > ?2 AND NOT ${IS_RUN}
        ORDER BY opened_seq LIMIT ?3`,
    );
  const ofSession = after("session_id = ?1");
  const ofRun = after("run_id = ?5 AND +session_id = ?1");
  const last = prepare(
    db,
    `SELECT max(coalesce((SELECT max(opened_seq) FROM messages WHERE session_id = ?1), 0),
      coalesce((SELECT max(closed_seq) FROM messages WHERE session_id = ?1), 0))`,
  );
  // Sums, because a group would be sorted first.
  const counts = prepare(
    db,
    "SELECT total(request_type = 'continuation'), total(request_type = 'tool_call') FROM messages WHERE session_id = ?",
  );
  return {
    runOutline(sessionId, { after = 0, limit = EVERYTHING } = {}) {
      const found: RunOutline[] = [];
      for (const values of arraysOf(runs, sessionId, after, limit)) {
        const above = values[values.length - 1];
        found.push({ ...messageRow(values), parent_run_id: typeof above === "string" ? above : null });
      }
      return found;
    },
    stepsOf: (sessionId, runIds) => [...rowsOf(steps, sessionId, JSON.stringify(runIds))],
    attemptsOf: (runId) => [...rowsOf(attempts, runId)],
    stepsAfter({ sessionId, runId, after: seq, limit, chars }) {
      const values = [sessionId, seq, limit, chars];
      return [...(runId === undefined ? rowsOf(ofSession, ...values) : rowsOf(ofRun, ...values, runId))];
    },
    lastSeq(sessionId) {
      const [row = []] = arraysOf(last, sessionId);
      return Number(row[0] ?? 0);
    },
    stepCounts(sessionId) {
      const [sums = []] = arraysOf(counts, sessionId);
      return { turns: Number(sums[0] ?? 0), calls: Number(sums[1] ?? 0) };
    },
  };
}
