import type { DatabaseSync } from "node:sqlite";
import type { MessageRow } from "../../schema/record.ts";
import { MESSAGE_COLUMNS, messageRow } from "./message-row.ts";
import { arraysOf, prepare, rowsOf } from "./read-messages.ts";

/** A run's row without its long texts, and the run that its parent row belongs to. */
export type RunOutline = MessageRow & { parent_run_id: string | null };

/** Reads large sessions in parts: first their runs, then what is below some of them. */
export type OutlineReader = {
  /** The runs in the order they opened; what they answered is null, and what they were asked is cut. */
  runOutline(sessionId: string): RunOutline[];
  /** The model and tool calls of some runs, whole, in the order they opened. */
  stepsOf(sessionId: string, runIds: readonly string[]): MessageRow[];
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
const IS_RUN = "request_type IN ('prompt', 'delegation')";

/** Creates the reader of a database that has the schema of the record. */
export function createOutlineReader(db: DatabaseSync): OutlineReader {
  const runs = prepare(
    db,
    `SELECT ${RUN_COLUMNS}, (SELECT run_id FROM messages AS above WHERE above.id = run.parent_message_id)
      FROM messages AS run WHERE run.session_id = ? AND run.${IS_RUN} ORDER BY run.opened_seq, run.id`,
  );
  // The sign keeps SQLite from going through the whole session for a few of its runs.
  const steps = prepare(
    db,
    `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE run_id IN (SELECT value FROM json_each(?2))
      AND +session_id = ?1 AND NOT ${IS_RUN} ORDER BY opened_seq, id`,
  );
  // Sums, because a group would be sorted first.
  const counts = prepare(
    db,
    "SELECT total(request_type = 'continuation'), total(request_type = 'tool_call') FROM messages WHERE session_id = ?",
  );
  return {
    runOutline(sessionId) {
      const found: RunOutline[] = [];
      for (const values of arraysOf(runs, sessionId)) {
        const above = values[values.length - 1];
        found.push({ ...messageRow(values), parent_run_id: typeof above === "string" ? above : null });
      }
      return found;
    },
    stepsOf: (sessionId, runIds) => [...rowsOf(steps, sessionId, JSON.stringify(runIds))],
    stepCounts(sessionId) {
      const [sums = []] = arraysOf(counts, sessionId);
      return { turns: Number(sums[0] ?? 0), calls: Number(sums[1] ?? 0) };
    },
  };
}
