import { tryTo } from "../schema/error.ts";
import type {
  CallOutcome,
  TraceApproval,
  TraceCall,
  TracePhase,
  TraceRun,
  TraceSpan,
  TraceTurn,
} from "../schema/inspect/trace.ts";
import { isRecord, readJsonObject, readObject } from "../schema/json-object.ts";
import type { Approval, MessageRow } from "../schema/record.ts";
import type { DeliverableVerdict } from "../schema/result.ts";

/** The JSON beside a row's columns as far as it is what it claims to be: a record may come from another program. */
type Metadata = Readonly<Record<string, unknown>>;

const OUTCOMES: readonly string[] = ["ok", "cached", "error", "denied"] satisfies CallOutcome[];

/** The run of a row, with nothing below it but what its flow told at the end. */
export function runOfRow(row: MessageRow, parentRunId: string | null, originMs: number): TraceRun {
  const metadata = metadataOf(row);
  const result = readObject(metadata.result);
  const error = readObject(result.error);
  return {
    ...spanOf(row, originMs),
    runId: row.run_id,
    messageId: row.id,
    parentRunId,
    callId: row.call_id,
    agent: row.agent_role ?? "?",
    model: row.model_id,
    depth: row.agent_depth,
    task: textIn(metadata.task) ?? row.request_content ?? "",
    attempt: numberIn(metadata.attempt),
    status: row.status,
    partial: row.status === "completed" && result.partial === true,
    bailoutReason: row.bailout_reason,
    error: row.error_message,
    errorType: textIn(error.type) ?? null,
    parallel: false,
    lane: 0,
    iterations: row.iteration_count,
    maxIterations: row.max_iterations,
    tokens: { self: row.total_tokens ?? 0, subtree: 0 },
    costUsd: { self: row.cost_usd, subtree: null },
    context: {
      mode: row.context_mode,
      message: row.request_content ?? "",
      systemPromptId: row.system_prompt_id,
    },
    result: resultOf(row, metadata),
    files: listIn(tryTo(() => JSON.parse(row.files_modified_json ?? "null"))).filter(isText),
    deliverables: listIn(result.deliverables).filter(isVerdict),
    warnings: listIn(result.warnings).filter(isText),
    tainted: result.tainted === true || metadata.tainted === true,
    turns: [],
    calls: [],
    phases: isRecord(result.context) ? [{ phase: "end", context: result.context }] : [],
    approvals: [],
    children: [],
    matched: true,
  };
}

/** The model call of a row. */
export function turnOfRow(row: MessageRow, originMs: number): TraceTurn {
  const metadata = metadataOf(row);
  return {
    ...spanOf(row, originMs),
    messageId: row.id,
    turn: numberIn(metadata.turn),
    purpose: textIn(metadata.purpose) ?? "turn",
    model: row.model_id,
    status: row.status,
    tokens: { input: row.prompt_tokens ?? 0, output: row.completion_tokens ?? 0 },
    costUsd: row.cost_usd,
    text: row.response_content ?? "",
    error: row.error_message,
  };
}

/** The tool call of a row. */
export function callOfRow(row: MessageRow, originMs: number): TraceCall {
  const { tool, outcome, approvedBy } = metadataOf(row);
  return {
    ...spanOf(row, originMs),
    messageId: row.id,
    callId: row.call_id,
    tool: textIn(tool) ?? "?",
    outcome: outcomeOf(row, outcome),
    input: row.request_content ?? "",
    output: row.response_content ?? "",
    error: row.error_message,
    approvedBy: textIn(approvedBy) ?? null,
  };
}

/** The phase that a model call belongs to, with what its flow told then. */
export function phaseOfRow(row: MessageRow): TracePhase | undefined {
  // Most model calls have no phase and a lot of metadata.
  if (!row.metadata_json?.includes('"phase"')) return undefined;
  const { phase, context } = metadataOf(row);
  return isText(phase) && isRecord(context) ? { phase, context } : undefined;
}

/** What a person was asked, and said. */
export function approvalOf({
  approvalId,
  callId,
  tool,
  request,
  requestedAtMs,
  answer,
}: Approval): TraceApproval {
  return {
    approvalId,
    callId,
    tool,
    reason: textIn(request.reason) ?? "",
    askedAt: isoOf(requestedAtMs),
    answeredAt: answer ? isoOf(answer.atMs) : null,
    allowed: answer?.allowed ?? null,
    by: answer?.by ?? null,
    note: answer?.note ?? null,
  };
}

/** A moment of the record in milliseconds; 0 for what is none. */
export function momentOf(iso: string | null): number {
  const ms = Date.parse(iso ?? "");
  return Number.isNaN(ms) ? 0 : ms;
}

function spanOf(row: MessageRow, originMs: number): TraceSpan {
  const startMs = Math.max(0, momentOf(row.started_at) - originMs);
  return {
    openedSeq: row.opened_seq,
    closedSeq: row.closed_seq,
    startedAt: row.started_at,
    endedAt: row.completed_at,
    startMs,
    endMs: row.completed_at === null ? null : Math.max(startMs, momentOf(row.completed_at) - originMs),
    durationMs: row.completed_at === null ? null : Math.max(0, row.duration_ms ?? 0),
  };
}

function resultOf(row: MessageRow, metadata: Metadata): TraceRun["result"] {
  if (row.completed_at === null) return null;
  return {
    summary: row.response_summary ?? "",
    text: row.response_content ?? "",
    ...(metadata.data !== undefined && { data: metadata.data }),
  };
}

function outcomeOf(row: MessageRow, outcome: unknown): CallOutcome {
  if (typeof outcome === "string" && OUTCOMES.includes(outcome)) return outcome as CallOutcome;
  if (row.completed_at === null) return "running";
  return row.status === "completed" ? "ok" : "error";
}

function metadataOf({ metadata_json: json }: MessageRow): Metadata {
  return readJsonObject(json);
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberIn(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isVerdict(value: unknown): value is DeliverableVerdict {
  const { deliverable, ok, reason, files } = readObject(value);
  return isText(deliverable) && typeof ok === "boolean" && isText(reason) && listIn(files).every(isText);
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
