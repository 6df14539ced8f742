import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { decodeText, encodeText } from "../lossless-text.ts";

/** The condition of rows that are runs. */
export const IS_RUN = "request_type IN ('prompt', 'delegation')";

/** A statement whose rows come as arrays, which SQLite hands over three times faster than objects. */
export function prepareArrays(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** What such a statement gives, a row at a time. */
export function* iterateArrays(
  statement: StatementSync,
  ...values: SQLInputValue[]
): Generator<readonly SQLOutputValue[]> {
  for (const row of statement.iterate(...values)) if (isArray(row)) yield row;
}

function isArray(row: unknown): row is readonly SQLOutputValue[] {
  return Array.isArray(row);
}

/** Returns the function that does something whole or not at all, while nobody else writes. */
export function prepareTransaction(db: DatabaseSync): <Value>(work: () => Value) => Value {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  return (work) => {
    begin.run();
    try {
      const value = work();
      commit.run();
      return value;
    } catch (thrown) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw thrown;
    }
  };
}

/**
 * SQL for the highest number that a column of this table ever had. Triggers keep the numbers of rows that were deleted, so
 * that the next number is always a new one.
 */
export function selectLastNumber(table: string, column: string): string {
  return `max(coalesce((SELECT max(${column}) FROM ${table}), 0),
    coalesce((SELECT last FROM last_numbers WHERE series = '${table}.${column}'), 0))`;
}

/** A stored text as it was given; null where there is none. */
export function readStoredText(value: SQLOutputValue | undefined): string | null {
  return typeof value === "string" ? decodeText(value) : null;
}

/** A text as it is stored; null where there is none. */
export function storeText(text: string | undefined): string | null {
  return text === undefined ? null : encodeText(text);
}

/** A value as JSON, which escapes lone surrogates itself; null where there is none. */
export function storeJson(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** Collects the conditions of a query, each with its value; without a value there is no condition. */
export class Conditions {
  readonly #conditions: string[];
  readonly values: SQLInputValue[] = [];

  constructor(...always: string[]) {
    this.#conditions = always;
  }

  add(condition: string, value: SQLInputValue | undefined): this {
    if (value === undefined) return this;
    this.#conditions.push(condition);
    this.values.push(value);
    return this;
  }

  get where(): string {
    return this.#conditions.length > 0 ? `WHERE ${this.#conditions.join(" AND ")}` : "";
  }
}
