import { momentOf, runOfRow } from "../../runtime/trace/trace-row.ts";
import type { RunView } from "../../schema/api/session.ts";
import type { MessageRow } from "../../schema/record.ts";
import { cutText } from "./cut-text.ts";

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
