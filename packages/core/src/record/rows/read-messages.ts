import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import type { MessageNode, MessageRow } from "../../schema/record.ts";
import { buildTree } from "../read-tree.ts";
import type { MessageChange } from "../record.ts";
import { MESSAGE_COLUMNS, messageRow } from "./message-row.ts";

/** Reads the rows of a session back. */
export type MessageReader = {
  message(id: number): MessageRow | undefined;
  /** All rows in the order they opened. */
  messages(sessionId: string): MessageRow[];
  children(messageId: number): MessageRow[];
  /** The rows that are runs: prompts and delegations. */
  runs(sessionId: string): MessageRow[];
  /** The root rows with everything below them. */
  tree(sessionId: string): MessageNode[];
  /** What opened or closed after `seq`, in that order; to go on, ask again with the last seq received. */
  changesAfter(sessionId: string, seq: number, limit?: number): MessageChange[];
};

const SELECT = `SELECT ${MESSAGE_COLUMNS} FROM messages`;
const DEFAULT_LIMIT = 1000;

/** Creates the reader of a database that has the schema of the record. */
export function createMessageReader(db: DatabaseSync): MessageReader {
  const byId = prepare(db, `${SELECT} WHERE id = ?`);
  const ofSession = prepare(db, `${SELECT} WHERE session_id = ? ORDER BY opened_seq, id`);
  const ofParent = prepare(db, `${SELECT} WHERE parent_message_id = ? ORDER BY opened_seq, id`);
  const runs = prepare(
    db,
    `${SELECT} WHERE session_id = ? AND request_type IN ('prompt', 'delegation') ORDER BY opened_seq, id`,
  );
  const changes = prepare(db, changesQuery());
  return {
    message(id) {
      const values: unknown = byId.get(id);
      return isArray(values) ? messageRow(values) : undefined;
    },
    messages: (sessionId) => [...rowsOf(ofSession, sessionId)],
    children: (messageId) => [...rowsOf(ofParent, messageId)],
    runs: (sessionId) => [...rowsOf(runs, sessionId)],
    tree: (sessionId) => buildTree(rowsOf(ofSession, sessionId)),
    changesAfter(sessionId, seq, limit = DEFAULT_LIMIT) {
      const found: MessageChange[] = [];
      for (const values of arraysOf(changes, sessionId, seq, limit, sessionId, seq, limit, limit)) {
        const kind = values[values.length - 1] === 1 ? "closed" : "opened";
        const row = messageRow(values);
        found.push({ seq: kind === "closed" ? (row.closed_seq ?? 0) : row.opened_seq, kind, row });
      }
      return found;
    },
  };
}

function changesQuery(): string {
  const half = (column: string, closed: number): string =>
    `SELECT * FROM (SELECT ${MESSAGE_COLUMNS}, ${column} AS change_seq, ${closed} AS is_closed FROM messages
      WHERE session_id = ? AND ${column} > ? ORDER BY ${column} LIMIT ?)`;
  return `${half("opened_seq", 0)} UNION ALL ${half("closed_seq", 1)} ORDER BY change_seq LIMIT ?`;
}

/** A statement whose rows come as arrays. */
export function prepare(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** The rows of `messages` that a statement gives. */
export function* rowsOf(
  statement: StatementSync,
  ...values: SQLInputValue[]
): Generator<MessageRow, undefined> {
  for (const row of arraysOf(statement, ...values)) yield messageRow(row);
}

/** What a statement gives, a row at a time. */
export function* arraysOf(
  statement: StatementSync,
  ...values: SQLInputValue[]
): Generator<readonly SQLOutputValue[]> {
  for (const row of statement.iterate(...values)) if (isArray(row)) yield row;
}

function isArray(row: unknown): row is readonly SQLOutputValue[] {
  return Array.isArray(row);
}
