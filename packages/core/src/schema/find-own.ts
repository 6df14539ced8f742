/** The value that a table itself has under a key; what every object inherits, such as `constructor`, is nothing. */
export function findOwn<Value>(
  table: Readonly<Record<string, Value>> | undefined,
  key: string,
): Value | undefined {
  return table !== undefined && Object.hasOwn(table, key) ? table[key] : undefined;
}
