import { heldPrivateData, wasTainted } from "../run/read-row.ts";
import type { Run, Session, SpawnRequest } from "../run/run.ts";
import type { RunResult } from "../schema/result.ts";
import type { Origin } from "./earlier-attempts.ts";

/** Whether untrusted text is in a run from the start. */
export function isTainted({ tainted, parent, past }: SpawnRequest): boolean {
  return tainted || (parent?.tainted ?? false) || (past !== undefined && wasTainted(past.root));
}

/** Whether a run knows private data from the start. */
export function holdsPrivateData({ privateData, parent, past }: SpawnRequest): boolean {
  return privateData || (parent?.privateData ?? false) || (past !== undefined && heldPrivateData(past.root));
}

/** Opens the row of a run before it begins. */
export function openRun(request: SpawnRequest): number {
  const { session, parent, profile, runId, callId, attempt } = request;
  const { journal } = session;
  const { clock, redactor } = session.host;
  const { agent, limits, model } = profile;
  const depth = parent ? parent.depth + 1 : 0;
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
        ...(parent && { parentRun: parent.runId, parentAgent: parent.agent.name }),
        ...(request.deliverables.length > 0 && { deliverables: request.deliverables }),
        ...(request.criteria !== undefined && { criteria: redactor.redact(request.criteria) }),
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
    parentRunId: parent?.runId ?? null,
    callId,
    messageId,
    agent: agent.name,
    displayName: agent.displayName,
    icon: agent.display.icon ?? null,
    depth: parent ? parent.depth + 1 : 0,
    model: model.id,
    task: session.host.redactor.redact(task),
    attempt,
  };
  session.emit(event, seq);
}

/** A task that was given up before it became a run, and where it was asked for; at the root nobody's call made it. */
type Unstarted = {
  session: Session;
  parent: Run | null;
  origin: Partial<Origin>;
  task: string;
  result: RunResult;
};

/** Opens and closes a row for such a task, so that the record tells of it and why. */
export function recordUnstarted({ session, parent, origin, task, result }: Unstarted): void {
  const { journal, emit } = session;
  const { clock, redactor } = session.host;
  const { run_id: runId, agent } = result;
  const above = parent;
  const depth = above ? above.depth + 1 : 0;
  const asked = redactor.redact(task);
  const started = { runId, callId: origin.callId ?? null, agent, displayName: agent, icon: null, depth };
  const messageId = journal.open(
    {
      sessionId: session.id,
      parentId: origin.rowId ?? null,
      runId,
      type: above ? "delegation" : "prompt",
      agentRole: agent,
      depth,
      startedAtMs: clock.wallMs(),
      requestContent: asked,
      ...(origin.callId !== undefined && { callId: origin.callId }),
      metadata: {
        attempt: 0,
        ...(above && { parentRun: above.runId, parentAgent: above.agent.name }),
        ...(origin.taskId !== undefined && { taskId: redactor.redact(origin.taskId) }),
      },
    },
    (seq) =>
      emit(
        {
          type: "run.started",
          ...started,
          parentRunId: above?.runId ?? null,
          messageId,
          model: "",
          task: asked,
          attempt: 0,
        },
        seq,
      ),
  );
  const { details, ...rest } = result;
  journal.close(
    messageId,
    session.id,
    {
      status: result.status,
      completedAtMs: clock.wallMs(),
      durationMs: 0,
      responseContent: details,
      responseSummary: result.summary,
      totalTokens: 0,
      iterationCount: 0,
      costUsd: 0,
      ...(result.bailout_reason && { bailoutReason: result.bailout_reason }),
      ...(result.error && { errorMessage: result.error.message }),
      metadata: { result: rest },
    },
    (seq) => emit({ type: "run.ended", runId, agent, result }, seq),
  );
}

/** Closes the row of a run with its result. */
export function closeRun(request: SpawnRequest, messageId: number, result: RunResult): RunResult {
  const { session, runId, profile } = request;
  const { details, data, ...rest } = result;
  // Otherwise the data are in the details already.
  const isOwn = profile.flow.hasOwnForm || request.deliverables.some((one) => "answer" in one);
  const kept = isOwn ? { data } : {};
  session.journal.close(
    messageId,
    session.id,
    {
      status: result.status,
      completedAtMs: session.host.clock.wallMs(),
      durationMs: result.duration_ms,
      responseContent: details,
      responseSummary: result.summary,
      filesModified: [...result.files_created, ...result.files_modified, ...result.files_deleted],
      totalTokens: result.tokens.self,
      iterationCount: result.iteration_count,
      costUsd: result.cost_usd.self,
      ...(result.bailout_reason && { bailoutReason: result.bailout_reason }),
      ...(result.error && { errorMessage: result.error.message }),
      metadata: { result: rest, ...kept },
    },
    (seq) => session.emit({ type: "run.ended", runId, agent: profile.agent.name, result }, seq),
  );
  return result;
}
