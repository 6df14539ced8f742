import type { Record } from "@retinue/core/record/record";
import type { RunView, StepList, StepView } from "@retinue/core/schema/api/session";
import { readJsonObject } from "@retinue/core/schema/json-object";
import type { MessageRow, SessionRow } from "@retinue/core/schema/record";
import { sessionState } from "@retinue/core/trace/session-state";
import { callOfRow, momentOf, runOfRow, turnOfRow } from "@retinue/core/trace/trace-row";
import { cutPage } from "../http/paging.ts";

const TASK_CHARS = 300;
const SUMMARY_CHARS = 500;
const ERROR_CHARS = 2_000;

/** The run of a row without its long texts. */
export function runView(row: MessageRow, parentRunId: string | null): RunView {
  const run = runOfRow(row, parentRunId, 0);
  const summary = run.result?.summary;
  return {
    runId: run.runId,
    parentRunId,
    callId: run.callId,
    messageId: run.messageId,
    agent: run.agent,
    model: run.model,
    depth: run.depth,
    task: cutText(run.task, TASK_CHARS),
    attempt: run.attempt,
    status: run.status,
    partial: run.partial,
    bailoutReason: run.bailoutReason,
    error: run.error === null ? null : cutText(run.error, ERROR_CHARS),
    startedAtMs: momentOf(row.started_at),
    endedAtMs: row.completed_at === null ? null : momentOf(row.completed_at),
    durationMs: run.durationMs,
    iterations: run.iterations,
    maxIterations: run.maxIterations,
    tokens: run.tokens.self,
    costUsd: run.costUsd.self,
    summary: summary === undefined ? null : cutText(summary, SUMMARY_CHARS),
    tainted: run.tainted,
    openedSeq: run.openedSeq,
    closedSeq: run.closedSeq,
  };
}

/** How much of each text is shown before the whole is asked for. */
const STEP_CHARS = 2_000;

/** The model or tool call of a row. `isAtWork` says whether a process has the session: otherwise what is open was broken off. */
export function stepView(row: MessageRow, isAtWork = true): StepView {
  const texts = [row.response_content, ...(row.request_type === "tool_call" ? [row.request_content] : [])];
  const common = {
    messageId: row.id,
    runId: row.run_id,
    status: row.status,
    startedAtMs: momentOf(row.started_at),
    endedAtMs: row.completed_at === null ? null : momentOf(row.completed_at),
    durationMs: row.completed_at === null ? null : Math.max(0, row.duration_ms ?? 0),
    error: row.error_message === null ? null : cutText(row.error_message, STEP_CHARS),
    openedSeq: row.opened_seq,
    closedSeq: row.closed_seq,
    isCut: texts.some((text) => (text?.length ?? 0) > STEP_CHARS),
  };
  if (row.request_type === "tool_call") {
    const { callId, tool, outcome, input, output, approvedBy } = callOfRow(row, 0);
    return {
      kind: "call",
      ...common,
      callId,
      tool,
      outcome: outcome === "running" && !isAtWork ? "interrupted" : outcome,
      input: cutText(input, STEP_CHARS),
      output: cutText(output, STEP_CHARS),
      approvedBy,
    };
  }
  const { turn, purpose, text, tokens, costUsd } = turnOfRow(row, 0);
  const steered = steeredIn(row);
  return {
    kind: "turn",
    ...common,
    turn,
    purpose,
    text: cutText(text, STEP_CHARS),
    tokens,
    costUsd,
    ...(steered.length > 0 && { steered }),
  };
}

/** What a person told the run before this turn. */
function steeredIn({ metadata_json: json }: MessageRow): string[] {
  // Hardly any turn has it, and parsing all of them would be the dearest part of this view.
  if (!json?.includes('"steered"')) return [];
  const { steered } = readJsonObject(json);
  return Array.isArray(steered)
    ? steered.filter((one) => typeof one === "string").map((one) => cutText(one, STEP_CHARS))
    : [];
}

/** How many model and tool calls a page holds, and may hold. */
export const USUAL_STEPS = 200;
export const MOST_STEPS = 1_000;

/** Which model and tool calls are wanted, and after which one. */
type WantedSteps = { runId?: string | undefined; after: number; limit: number };

/** A page of the model and tool calls of a session, or of one run, in the order they opened. */
export async function readSteps(
  record: Record,
  session: SessionRow,
  { runId, after, limit }: WantedSteps,
): Promise<StepList> {
  const isAtWork = (await sessionState(record, session)) === "running";
  const rows = await record.readRows({
    kind: "steps",
    sessionId: session.session_id,
    ...(runId !== undefined && { runIds: [runId] }),
    after,
    limit: limit + 1,
    chars: STEP_CHARS + 1,
  });
  const { page, next } = cutPage(rows, limit, (row) => row.opened_seq);
  return { steps: page.map((row) => stepView(row, isAtWork)), next };
}

/** The run that a run's row belongs to: named in it, or found by the row above. Null for a root. */
export async function findParentRun(
  row: MessageRow,
  record: Pick<Record, "readRow">,
): Promise<string | null> {
  if (row.parent_message_id === null) return null;
  const [, named] = /"parentRun":"([\w-]+)"/.exec(row.metadata_json ?? "") ?? [];
  return named ?? (await record.readRow(row.parent_message_id))?.run_id ?? null;
}

/** The beginning of a text, which is never half of a character. */
function cutText(text: string, chars: number): string {
  return text.length <= chars ? text : text.slice(0, chars).toWellFormed();
}
