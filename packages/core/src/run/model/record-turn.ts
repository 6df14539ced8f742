import { recordText } from "../../record/record-journal.ts";
import type { MessageClosing } from "../../schema/record.ts";
import { openDelegation } from "../delegations.ts";
import type { Run } from "../run.ts";
import type { MeasuredUsage } from "./measure-usage.ts";
import type { Streamed } from "./stream-reply.ts";

/** An open row of a model call. */
export type OpenTurn = { messageId: number; startedMs: number };

/** What one call cost: measured where the provider said it believably, an estimate on the high side where it did not. */
export type Spent = MeasuredUsage & { costUsd: number | null };

/** Opens the row of a model call before it is made. */
export function openTurn(
  run: Run,
  about: { purpose: string; contextTokens: number; reserved: number; reservedUsd: number | null },
): OpenTurn {
  const { turn } = run;
  const { purpose, contextTokens, reservedUsd } = about;
  // What a limited account has set aside counts as spent if the process ends during the call.
  const reserved = run.account.limited ? { reserved: contextTokens + about.reserved } : {};
  const messageId = run.session.journal.open(
    {
      sessionId: run.session.id,
      parentId: run.messageId,
      runId: run.runId,
      type: "continuation",
      agentRole: run.agent.name,
      depth: run.depth,
      startedAtMs: run.host.clock.wallMs(),
      modelId: run.model.id,
      contextTokenCount: contextTokens,
      metadata: {
        turn,
        elapsedMs: run.elapsedMs(run.host.clock.monotonicMs()),
        ...reserved,
        ...(reservedUsd !== 0 && { reservedUsd }),
        ...(purpose !== "turn" && { purpose }),
        ...(purpose === "turn" && run.step?.describe(run)),
        ...(purpose !== "summary" && sinceLastTurn(run)),
      },
    },
    (seq) =>
      run.session.emit({ type: "turn.started", runId: run.runId, turn, messageId, model: run.model.id }, seq),
  );
  if (purpose !== "summary") run.turnMessageId = messageId;
  return { messageId, startedMs: run.host.clock.monotonicMs() };
}

/** What the rows before do not tell: messages that the host or a person added, a condensed history, counters. */
function sinceLastTurn(run: Run): Readonly<Record<string, unknown>> {
  const history = run.historyReplaced ? recordText(run.host.record, JSON.stringify(run.history)) : undefined;
  const before = run.unrecorded.splice(0);
  run.historyReplaced = false;
  const warnings = run.warnings.slice(run.warningsRecorded);
  run.warningsRecorded = run.warnings.length;
  const running = run.children?.delegations.undelivered().map(openDelegation) ?? [];
  const steered = run.steered.splice(0);
  const { redactor } = run.host;
  const told: Record<string, unknown> = {};
  if (history !== undefined) told.history = history;
  else if (before.length > 0) told.before = before;
  if (steered.length > 0) told.steered = steered;
  if (run.tainted) told.tainted = true;
  if (run.privateData) told.privateData = true;
  if (run.repairsLeft !== run.limits.repairs) told.repairsLeft = run.repairsLeft;
  if (run.emptyReplies > 0) told.emptyReplies = run.emptyReplies;
  if (run.cutAnswer.length > 0) told.cutAnswer = run.cutAnswer.length;
  if (run.sentBack) told.sentBack = true;
  if (run.toolCalls > 0) told.calls = [...run.toolCounts];
  if (run.wrapUpReason) told.reason = run.wrapUpReason;
  if (run.compactedForOverflow) told.overflowed = true;
  if (warnings.length > 0) told.warnings = redactor.redactJson(warnings);
  if (running.length > 0) told.running = redactor.redactJson(running);
  if (run.turn <= 1 && run.baseline.size > 0) told.baseline = redactor.redactJson([...run.baseline]);
  return told;
}

/** Closes the row with the reply, whose secrets are hidden already, or with the failure. */
export function closeTurn(run: Run, open: OpenTurn, streamed: Streamed, spent: Spent): void {
  const { turn } = run;
  const { usage, doubt, costUsd } = spent;
  const closing: MessageClosing = {
    status:
      streamed.kind === "reply" ? "completed" : (run.interruption?.status ?? statusOf(streamed.error.type)),
    completedAtMs: run.host.clock.wallMs(),
    durationMs: Math.round(run.host.clock.monotonicMs() - open.startedMs),
    promptTokens: usage.inputTokens,
    completionTokens: usage.outputTokens,
    totalTokens: usage.inputTokens + usage.outputTokens,
    iterationCount: 1,
    costUsd,
  };
  let text = "";
  let calls: { callId: string; tool: string; input: unknown }[] = [];
  if (streamed.kind === "reply") {
    run.brokenOff = "";
    text = streamed.reply.text;
    const { reply } = streamed;
    calls = reply.calls.map((call) => ({ callId: call.callId, tool: call.tool, input: call.input }));
    closing.responseContent = text;
    if (calls.length > 0)
      closing.toolCalls = reply.calls.map(({ callId, tool, input, rawInput, unfinished, metadata }) => ({
        callId,
        tool,
        input,
        ...(rawInput !== undefined && { redacted: true }),
        ...(unfinished && { unfinished }),
        ...(metadata && { metadata }),
      }));
    const reasoning = reply.reasoning.filter((part) => part.metadata);
    closing.metadata = {
      ...run.step?.describeReply(run, reply),
      ...(reply.modelId && { answeredBy: reply.modelId }),
      ...(reply.finish !== "stop" && reply.finish !== "tool-calls" && { finish: reply.finish }),
      ...(reply.maxOutputTokens !== undefined && { maxOutputTokens: reply.maxOutputTokens }),
      ...(reasoning.length > 0 && { reasoning }),
      ...(doubt && { estimated: doubt }),
    };
  } else {
    streamed.error.message = run.host.redactor.redact(streamed.error.message);
    closing.errorMessage = streamed.error.message;
    run.brokenOff = run.host.redactor.redactCut(streamed.said);
    closing.metadata = {
      errorType: streamed.error.type,
      ...(run.brokenOff !== "" && { said: run.brokenOff }),
    };
  }
  const error = streamed.kind === "failed" ? { error: streamed.error } : {};
  run.session.journal.close(open.messageId, run.session.id, closing, (seq) =>
    run.session.emit(
      {
        type: "turn.ended",
        runId: run.runId,
        turn,
        messageId: open.messageId,
        text,
        calls,
        usage,
        costUsd,
        ...error,
      },
      seq,
    ),
  );
}

function statusOf(type: string): "cancelled" | "timeout" | "failed" {
  if (type === "cancelled") return "cancelled";
  return type === "timeout" ? "timeout" : "failed";
}
