import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { MessageClosing, MessageOpening, MessageRow } from "../../schema/record.ts";
import { encodeText } from "../lossless-text.ts";
import { readStoredText, storeJson, storeText } from "./sql.ts";

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
  "cost_usd",
];

/** Writes a row that is open: values of the opening, its seq. */
export const INSERT_OPENED = insertColumns([...OPENED, ...SHARED, "opened_seq"]);
/** Writes a row that closed before it was first written: values as `wholeValues`, the seqs of opening and closing. */
export const INSERT_WHOLE = insertColumns([...OPENED, ...CLOSED, ...SHARED, "opened_seq", "closed_seq"]);
/** Closes a row that is open: values of the closing, its seq, the ids of row and session. */
export const UPDATE_CLOSED = `UPDATE messages SET ${CLOSED.map((name) => `${name} = ?`).join(", ")}, ${SHARED.map(
  (name) => `${name} = coalesce(?, ${name})`,
).join(", ")}, closed_seq = ? WHERE id = ? AND session_id = ? AND closed_seq IS NULL`;

/** The values of one half of a row, those of the shared columns apart. */
export type Values = { own: SQLInputValue[]; shared: SQLInputValue[] };

/** What an opening stores, with its metadata as JSON. */
export function openingValues(id: number, row: MessageOpening, metadata: string | null): Values {
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
      storeText(row.requestContent),
      row.contextMode ?? null,
      row.maxIterations ?? null,
      row.maxDurationMs ?? null,
      row.runId,
      storeText(row.callId),
      row.replay ?? null,
    ],
    shared: ["running", metadata, storeText(row.modelId), row.contextTokenCount ?? null],
  };
}

/** What a closing stores, with its metadata as JSON. */
export function closingValues(row: MessageClosing, metadata: string | null): Values {
  return {
    own: [
      new Date(row.completedAtMs).toISOString(),
      row.durationMs,
      storeText(row.responseContent),
      storeText(row.responseSummary),
      storeJson(row.toolCalls),
      storeJson(row.filesModified),
      row.promptTokens ?? null,
      row.completionTokens ?? null,
      row.totalTokens ?? null,
      row.iterationCount ?? 0,
      storeText(row.bailoutReason),
      storeText(row.errorMessage),
      row.costUsd ?? null,
    ],
    shared: [row.status, metadata, storeText(row.modelId), row.contextTokenCount ?? null],
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

/** Metadata over the JSON of what was there before. */
export function mergeMetadata(
  before: string | null,
  over: Readonly<{ [name: string]: unknown }> | undefined,
): string | null {
  if (over === undefined || before === null || before === "{}") return storeJson(over);
  const isNew = (name: string) => !before.includes(`${JSON.stringify(name)}:`);
  if (!Object.keys(over).every(isNew)) return JSON.stringify({ ...JSON.parse(before), ...over });
  const added = JSON.stringify(over);
  return added === "{}" ? before : `${before.slice(0, -1)},${added.slice(1)}`;
}

function insertColumns(columns: readonly string[]): string {
  return `INSERT INTO messages (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}

/** The columns of `messages` in the order that `messageRow` expects. */
export const MESSAGE_COLUMNS = [
  "id",
  "session_id",
  "parent_message_id",
  "started_at",
  "completed_at",
  "duration_ms",
  "agent_role",
  "agent_depth",
  "model_id",
  "system_prompt_id",
  "request_type",
  "request_content",
  "context_mode",
  "context_token_count",
  "response_content",
  "response_summary",
  "tool_calls_json",
  "files_modified_json",
  "prompt_tokens",
  "completion_tokens",
  "total_tokens",
  "iteration_count",
  "max_iterations",
  "max_duration_ms",
  "bailout_reason",
  "status",
  "error_message",
  "metadata_json",
  "run_id",
  "call_id",
  "opened_seq",
  "closed_seq",
  "cost_usd",
  "replay",
].join(", ");

/** One row from its values in that order. */
export function messageRow(values: readonly SQLOutputValue[]): MessageRow {
  return {
    id: Number(values[0]),
    session_id: values[1] as string,
    parent_message_id: values[2] as number | null,
    started_at: values[3] as string,
    completed_at: values[4] as string | null,
    duration_ms: values[5] as number | null,
    agent_role: readStoredText(values[6]),
    agent_depth: Number(values[7]),
    model_id: readStoredText(values[8]),
    system_prompt_id: values[9] as string | null,
    request_type: values[10] as MessageRow["request_type"],
    request_content: readStoredText(values[11]),
    context_mode: values[12] as string | null,
    context_token_count: values[13] as number | null,
    response_content: readStoredText(values[14]),
    response_summary: readStoredText(values[15]),
    tool_calls_json: values[16] as string | null,
    files_modified_json: values[17] as string | null,
    prompt_tokens: values[18] as number | null,
    completion_tokens: values[19] as number | null,
    total_tokens: values[20] as number | null,
    iteration_count: Number(values[21]),
    max_iterations: values[22] as number | null,
    max_duration_ms: values[23] as number | null,
    bailout_reason: readStoredText(values[24]),
    status: values[25] as MessageRow["status"],
    error_message: readStoredText(values[26]),
    metadata_json: values[27] as string | null,
    run_id: values[28] as string,
    call_id: readStoredText(values[29]),
    opened_seq: Number(values[30]),
    closed_seq: values[31] as number | null,
    cost_usd: values[32] as number | null,
    replay: values[33] as MessageRow["replay"],
  };
}
