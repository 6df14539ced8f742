import { callOfRow, momentOf, turnOfRow } from "../../runtime/trace/trace-row.ts";
import type { StepView } from "../../schema/api/session.ts";
import type { MessageRow } from "../../schema/record.ts";
import { cutText } from "./cut-text.ts";

/** So much of each text is shown before somebody asks for the whole. */
export const STEP_CHARS = 2_000;

/** The model or tool call of a row. `isAtWork` tells whether somebody has the session: otherwise what is open was broken off. */
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
  const metadata: unknown = JSON.parse(json);
  const steered =
    typeof metadata === "object" && metadata !== null && "steered" in metadata && metadata.steered;
  return Array.isArray(steered)
    ? steered.filter((one) => typeof one === "string").map((one) => cutText(one, STEP_CHARS))
    : [];
}
