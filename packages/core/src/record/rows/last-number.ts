/**
 * SQL for the highest number that a column of this table ever had. Triggers keep the numbers of rows that were deleted, so
 * that the next number is always a new one.
 */
export function selectLastNumber(table: string, column: string): string {
  return `max(coalesce((SELECT max(${column}) FROM ${table}), 0),
    coalesce((SELECT last FROM last_numbers WHERE series = '${table}.${column}'), 0))`;
}
