import type { MessageClosing } from "../schema/record.ts";
import type { Spent } from "./call-model.ts";
import type { LoopPorts } from "./ports.ts";
import type { Run } from "./run.ts";
import type { Streamed } from "./stream-reply.ts";

/** An open row of a model call. */
export type OpenTurn = { messageId: number; startedMs: number };

/** Opens the row of a model call before it is made. */
export function openTurn(run: Run, purpose: string, contextTokens: number, ports: LoopPorts): OpenTurn {
  const { spec, turn } = run;
  const messageId = ports.journal.open(
    {
      sessionId: spec.sessionId,
      parentId: spec.messageId,
      runId: spec.runId,
      type: "continuation",
      agentRole: spec.agent.name,
      depth: spec.depth,
      startedAtMs: ports.clock.wallMs(),
      modelId: spec.model.id,
      contextTokenCount: contextTokens,
      metadata: purpose === "turn" ? { turn } : { turn, purpose },
    },
    (seq) => ports.emit(run.spec.sessionId, { type: "turn.started", runId: spec.runId, turn, messageId, model: spec.model.id }, seq),
  );
  if (purpose !== "summary") run.turnMessageId = messageId;
  return { messageId, startedMs: ports.clock.monotonicMs() };
}

/** Closes the row with the reply, whose secrets are hidden already, or with the failure. */
export function closeTurn(run: Run, open: OpenTurn, streamed: Streamed, spent: Spent, ports: LoopPorts): void {
  const { spec, turn } = run;
  const { usage, costUsd } = spent;
  const closing: MessageClosing = {
    status: streamed.kind === "reply" ? "completed" : (run.interruption?.status ?? statusOf(streamed.error.type)),
    completedAtMs: ports.clock.wallMs(),
    durationMs: Math.round(ports.clock.monotonicMs() - open.startedMs),
    promptTokens: usage.inputTokens,
    completionTokens: usage.outputTokens,
    totalTokens: usage.inputTokens + usage.outputTokens,
    iterationCount: 1,
    costUsd,
  };
  let text = "";
  let calls: { callId: string; tool: string; input: unknown }[] = [];
  if (streamed.kind === "reply") {
    text = streamed.reply.text;
    calls = streamed.reply.calls.map((call) => ({ callId: call.callId, tool: call.tool, input: call.input }));
    closing.responseContent = text;
    if (calls.length > 0) closing.toolCalls = calls;
    if (streamed.reply.modelId) closing.metadata = { answeredBy: streamed.reply.modelId };
  } else {
    streamed.error.message = ports.redactor.redact(streamed.error.message);
    closing.errorMessage = streamed.error.message;
    closing.metadata = { errorType: streamed.error.type };
  }
  const error = streamed.kind === "failed" ? { error: streamed.error } : {};
  ports.journal.close(open.messageId, spec.sessionId, closing, (seq) =>
    ports.emit(run.spec.sessionId, { type: "turn.ended", runId: spec.runId, turn, messageId: open.messageId, text, calls, usage, costUsd, ...error }, seq),
  );
}

function statusOf(type: string): "cancelled" | "timeout" | "failed" {
  if (type === "cancelled") return "cancelled";
  return type === "timeout" ? "timeout" : "failed";
}
