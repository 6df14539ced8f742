import type { RunResult } from "../../schema/result.ts";
import { holdsPrivateData, isTainted } from "./live-run.ts";
import type { SpawnRequest } from "./spawn-request.ts";

/** Opens the row of a run before it begins. */
export function openRun(request: SpawnRequest): number {
  const { session, parent, profile, runId, callId, attempt } = request;
  const { journal, clock, redactor } = session.ports;
  const { agent, limits, model } = profile;
  const depth = parent ? parent.run.spec.depth + 1 : 0;
  const task = redactor.redact(request.task);
  const messageId = journal.open(
    {
      sessionId: session.id,
      parentId: request.parentRowId,
      runId,
      type: parent ? "delegation" : "prompt",
      agentRole: agent.name,
      depth,
      startedAtMs: clock.wallMs(),
      modelId: model.id,
      systemPromptId: profile.systemPromptId,
      requestContent: redactor.redact(request.message),
      maxIterations: limits.turns,
      maxDurationMs: limits.timeoutMs,
      ...(callId && { callId }),
      ...(request.contextMode && { contextMode: request.contextMode }),
      metadata: {
        snapshot: profile.snapshotId,
        attempt,
        ...(task !== request.message && { task }),
        ...(parent && { parentRun: parent.run.spec.runId, parentAgent: parent.run.spec.agent.name }),
        ...(request.deliverables.length > 0 && { deliverables: request.deliverables }),
        ...(request.taskId !== undefined && { taskId: redactor.redact(request.taskId) }),
        ...(request.limits && { limits: request.limits }),
        ...(request.told !== undefined && { told: request.told }),
        ...(request.cwd !== undefined && { cwd: request.cwd }),
        ...(request.conducted && { conducted: request.conducted }),
        ...(request.past && { forkedFrom: request.past.root.run_id, fork: request.past.at }),
        ...(isTainted(request) && { tainted: true }),
        ...(holdsPrivateData(request) && { privateData: true }),
      },
    },
    (seq) => announce(request, messageId, seq),
  );
  return messageId;
}

/** Tells watchers that a run has begun, or goes on. */
export function announce(
  { session, parent, profile, runId, callId, attempt, task }: SpawnRequest,
  messageId: number,
  seq?: number,
): void {
  const { agent, model } = profile;
  const event = {
    type: "run.started" as const,
    runId,
    parentRunId: parent?.run.spec.runId ?? null,
    callId,
    messageId,
    agent: agent.name,
    displayName: agent.displayName,
    icon: agent.display.icon ?? null,
    depth: parent ? parent.run.spec.depth + 1 : 0,
    model: model.id,
    task: session.ports.redactor.redact(task),
    attempt,
  };
  session.ports.emit(session.id, event, seq);
}

/** Closes the row of a run with its result. */
export function closeRun(request: SpawnRequest, messageId: number, result: RunResult): RunResult {
  const { session, runId, profile } = request;
  const { details, data, ...rest } = result;
  // Otherwise the data are in the details already.
  const isOwn = profile.agent.flow === "intent" || request.deliverables.some((one) => "answer" in one);
  const kept = isOwn ? { data } : {};
  session.ports.journal.close(
    messageId,
    session.id,
    {
      status: result.status,
      completedAtMs: session.ports.clock.wallMs(),
      durationMs: result.duration_ms,
      responseContent: details,
      responseSummary: result.summary,
      filesModified: [...result.files_created, ...result.files_modified],
      totalTokens: result.tokens.self,
      iterationCount: result.iteration_count,
      costUsd: result.cost_usd.self,
      ...(result.bailout_reason && { bailoutReason: result.bailout_reason }),
      ...(result.error && { errorMessage: result.error.message }),
      metadata: { result: rest, ...kept },
    },
    (seq) =>
      session.ports.emit(session.id, { type: "run.ended", runId, agent: profile.agent.name, result }, seq),
  );
  return result;
}
