import type { MessageRow } from "../../schema/record.ts";

/** The run that a run's row belongs to: named in it, or found by the row above. Null for a root. */
export function parentRunOf(
  row: MessageRow,
  store: { message(id: number): MessageRow | undefined },
): string | null {
  if (row.parent_message_id === null) return null;
  const [, named] = /"parentRun":"([\w-]+)"/.exec(row.metadata_json ?? "") ?? [];
  return named ?? store.message(row.parent_message_id)?.run_id ?? null;
}
