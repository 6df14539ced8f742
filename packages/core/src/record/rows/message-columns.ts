import type { SQLInputValue } from "node:sqlite";
import type { MessageClosing, MessageOpening } from "../../schema/record.ts";
import { encodeText } from "./lossless-text.ts";

const OPENED = [
  "id",
  "session_id",
  "parent_message_id",
  "started_at",
  "agent_role",
  "agent_depth",
  "system_prompt_id",
  "request_type",
  "request_content",
  "context_mode",
  "max_iterations",
  "max_duration_ms",
  "run_id",
  "call_id",
  "opened_seq",
  "replay",
];
/** Columns that a closing may overwrite. */
const SHARED = ["status", "metadata_json", "model_id", "context_token_count"];
const CLOSED = [
  "completed_at",
  "duration_ms",
  "response_content",
  "response_summary",
  "tool_calls_json",
  "files_modified_json",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "iteration_count",
  "bailout_reason",
  "error_message",
  "closed_seq",
  "cost_usd",
];

/** Writes a row that is open; values as `openedValues`. */
export const INSERT_OPENED = insert([...OPENED, ...SHARED]);
/** Writes a row that closed before it was first written; values as `wholeValues`. */
export const INSERT_WHOLE = insert([...OPENED, ...CLOSED, ...SHARED]);
/** Closes a row; values as `closedValues`, then the id. */
export const UPDATE_CLOSED = `UPDATE messages SET ${CLOSED.map((name) => `${name} = ?`).join(", ")}, ${SHARED.map(
  (name) => `${name} = coalesce(?, ${name})`,
).join(", ")} WHERE id = ? AND closed_seq IS NULL`;

/** The values of one half of a row, those of the shared columns apart. */
export type Values = { own: SQLInputValue[]; shared: SQLInputValue[] };

/** What an opening stores. Made at once, so that the caller may change its objects afterwards. */
export function openingValues(id: number, seq: number, row: MessageOpening): Values {
  return {
    own: [
      id,
      row.sessionId,
      row.parentId,
      new Date(row.startedAtMs).toISOString(),
      encodeText(row.agentRole),
      row.depth,
      row.systemPromptId ?? null,
      row.type,
      text(row.requestContent),
      row.contextMode ?? null,
      row.maxIterations ?? null,
      row.maxDurationMs ?? null,
      row.runId,
      text(row.callId),
      seq,
      row.replay ?? null,
    ],
    shared: ["running", json(row.metadata), text(row.modelId), row.contextTokenCount ?? null],
  };
}

/** What a closing stores; `openedMetadata` is the JSON its own metadata is merged over. */
export function closingValues(seq: number, row: MessageClosing, openedMetadata: string | null): Values {
  return {
    own: [
      new Date(row.completedAtMs).toISOString(),
      row.durationMs,
      text(row.responseContent),
      text(row.responseSummary),
      json(row.toolCalls),
      json(row.filesModified),
      row.promptTokens ?? null,
      row.completionTokens ?? null,
      row.totalTokens ?? null,
      row.iterationCount ?? 0,
      text(row.bailoutReason),
      text(row.errorMessage),
      seq,
      row.costUsd ?? null,
    ],
    shared: [
      row.status,
      merged(openedMetadata, row.metadata),
      text(row.modelId),
      row.contextTokenCount ?? null,
    ],
  };
}

/** Opening and closing as the values of one insert. */
export function wholeValues(opened: Values, closed: Values): SQLInputValue[] {
  return [
    ...opened.own,
    ...closed.own,
    ...opened.shared.map((value, index) => closed.shared[index] ?? value),
  ];
}

function merged(opened: string | null, over: Readonly<Record<string, unknown>> | undefined): string | null {
  if (over === undefined || opened === null) return json(over);
  return JSON.stringify({ ...JSON.parse(opened), ...over });
}

/** JSON escapes lone surrogates itself. */
function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function text(value: string | undefined): string | null {
  return value === undefined ? null : encodeText(value);
}

function insert(columns: readonly string[]): string {
  return `INSERT INTO messages (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}
