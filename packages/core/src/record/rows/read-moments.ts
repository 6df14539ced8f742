import type { DatabaseSync } from "node:sqlite";
import type { StepMoment } from "../record.ts";
import { decodeText } from "./lossless-text.ts";
import { arraysOf, prepare } from "./read-messages.ts";

/** Reads when everything in a session happened. */
export type MomentReader = {
  /** So many model and tool calls that opened after a seq, in that order. */
  momentsAfter(sessionId: string, after: number, limit: number): StepMoment[];
};

/** Creates the reader of a database that has the schema of the record. */
export function createMomentReader(db: DatabaseSync): MomentReader {
  // Another program may have stored what is no JSON; such a call has no name.
  const moments = prepare(
    db,
    `SELECT opened_seq, run_id, started_at, completed_at, coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0), cost_usd,
      CASE WHEN request_type <> 'tool_call' THEN NULL
        WHEN json_valid(metadata_json) THEN coalesce(json_extract(metadata_json, '$.tool'), '?') ELSE '?' END
      FROM messages WHERE session_id = ?1 AND opened_seq > ?2 AND request_type IN ('continuation', 'tool_call')
      ORDER BY opened_seq, id LIMIT ?3`,
  );
  return {
    momentsAfter(sessionId, after, limit) {
      const found: StepMoment[] = [];
      for (const [seq, runId, startedAt, endedAt, tokens, cost, tool] of arraysOf(
        moments,
        sessionId,
        after,
        limit,
      ))
        found.push({
          seq: Number(seq),
          runId: String(runId),
          tool: tool === null ? null : decodeText(String(tool)),
          startedAt: String(startedAt),
          endedAt: typeof endedAt === "string" ? endedAt : null,
          tokens: Number(tokens),
          costUsd: typeof cost === "number" ? cost : null,
        });
      return found;
    },
  };
}
