import type { DatabaseSync } from "node:sqlite";
import type { FoundRun } from "../record.ts";

/** Finds runs by their ids. */
export type RunFinder = {
  /** Runs and acts whose id begins with `prefix`, six at most; one with exactly this id is the only one. */
  runsLike(prefix: string): FoundRun[];
};

const BEGINS = "run_id >= ?1 AND run_id < ?1 || char(1114111)";

/** Creates the finder over a database that has the schema of the record. */
export function createRunFinder(db: DatabaseSync): RunFinder {
  const find = db.prepare(`SELECT DISTINCT run_id, session_id, kind FROM (
    SELECT run_id, session_id, 'run' AS kind FROM messages
      WHERE ${BEGINS} AND request_type IN ('prompt', 'delegation')
    UNION SELECT run_id, session_id, 'act' AS kind FROM file_changes
      WHERE ${BEGINS} AND (run_id LIKE 'und\\_%' ESCAPE '\\' OR run_id LIKE 'mrg\\_%' ESCAPE '\\')
  ) ORDER BY run_id = ?1 DESC, run_id LIMIT 6`);
  return {
    runsLike(prefix) {
      if (prefix === "") return [];
      const found = find.all(prefix).map((row) => ({
        id: String(row.run_id),
        sessionId: String(row.session_id),
        kind: row.kind === "act" ? ("act" as const) : ("run" as const),
      }));
      return found[0]?.id === prefix ? found.slice(0, 1) : found;
    },
  };
}
