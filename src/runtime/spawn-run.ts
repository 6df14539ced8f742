import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Run, type RunSpec } from "../loop/run.ts";
import { runAgent } from "../loop/run-agent.ts";
import { Account } from "../scheduler/ledger.ts";
import { RunSlot } from "../scheduler/slots.ts";
import type { Deliverable, Limits } from "../schema/agent.ts";
import { messageOf } from "../schema/error.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunError, RunResult } from "../schema/result.ts";
import { excerpt, MAX_RESULT_CHARS } from "../tools/truncate.ts";
import { Children } from "./children.ts";
import { delegationTools } from "./delegation-tools.ts";
import { accountLimits } from "./effective-limits.ts";
import { failedResult } from "./failed-result.ts";
import type { Host, LiveRun, Session } from "./host.ts";
import type { Profile } from "./profile.ts";
import { elapsedMs, spentIn } from "./read-row.ts";
import { restoreRun } from "./restore-run.ts";

/** A run that is about to begin. */
export type SpawnRequest = {
  session: Session;
  parent: LiveRun | null;
  profile: Profile;
  runId: string;
  /** What the person or the parent asked for, for the record. */
  task: string;
  /** The whole first message, with criteria, context and results. */
  message: string;
  contextMode?: string;
  /** Untrusted text is in the message although the parent holds none yet. */
  tainted?: boolean;
  callId: string | null;
  /** The row that the run's row hangs from. */
  parentRowId: number | null;
  attempt: number;
  deliverables: readonly Deliverable[];
  limits?: Limits | undefined;
  /** The task's id in its batch. */
  taskId?: string | undefined;
  /** The recorded run to go on with, in its own row. */
  resume?: MessageNode | undefined;
};

/** Runs an agent from its first row to its last. Never throws. */
export async function spawnRun(host: Host, request: SpawnRequest): Promise<RunResult> {
  const { session, parent } = request;
  const above = parent?.run.account ?? session.account;
  const full = request.resume ? null : above.takeSpawn();
  const messageId = request.resume ? request.resume.id : openRun(request);
  if (request.resume) announce(request, messageId);
  if (full) {
    const message = `the limit of ${full.limits.spawns} runs for ${full.name} is used up`;
    return closeRun(
      request,
      messageId,
      refused(request, { type: "spawn_limit", message, recoverable: false }),
    );
  }
  try {
    const live = await bringToLife(host, request, messageId, above);
    const result = await runLive(live);
    return closeRun(request, messageId, result);
  } catch (thrown) {
    return closeRun(
      request,
      messageId,
      refused(request, { type: "failed", message: messageOf(thrown), recoverable: false }),
    );
  }
}

async function runLive(live: LiveRun): Promise<RunResult> {
  const { run, session, parent } = live;
  const stopTimer = session.ports.clock.timer(run.spec.deadlineMs - run.spec.startedMs, () => timeOut(live));
  if (parent?.run.interruption) run.interrupt(parent.run.interruption);
  try {
    const result = await runAgent(run, session.ports);
    await settleKids(live);
    if (parent && (!run.subtreePriced || run.costUsd === null)) parent.run.subtreePriced = false;
    return await shortened(live, withSubtree(run, result));
  } finally {
    stopTimer();
    session.live.delete(run.spec.runId);
    parent?.kids.delete(live);
    live.settle();
  }
}

/** Ends a run and everything below it. */
export function cancelTree(live: LiveRun, message: string): void {
  live.run.interrupt({ status: "cancelled", bailout: "cancelled", message });
  for (const kid of live.kids) cancelTree(kid, message);
}

async function bringToLife(
  host: Host,
  request: SpawnRequest,
  messageId: number,
  above: Account,
): Promise<LiveRun> {
  const { session, parent, profile } = request;
  const { agent, limits } = profile;
  const { clock } = session.ports;
  const depth = parent ? parent.run.spec.depth + 1 : 0;
  const startedMs = clock.monotonicMs() - (request.resume ? elapsedMs(request.resume) : 0);
  const tools = new Map(profile.tools);
  const spec: RunSpec = {
    runId: request.runId,
    sessionId: session.id,
    parentRunId: parent?.run.spec.runId ?? null,
    callId: request.callId,
    attempt: request.attempt,
    depth,
    agent,
    ancestors: parent ? [...parent.run.spec.ancestors, parent.run.spec.agent.name] : [],
    system: profile.system,
    task: request.message,
    model: profile.model,
    chain: profile.chain,
    tools: profile.delegates.length > 0 ? tools : profile.tools,
    limits,
    deliverables: request.deliverables,
    projectDir: session.projectDir,
    workspaceDir: await workspaceOf(request),
    messageId,
    startedAtMs: request.resume ? Date.parse(request.resume.started_at) : clock.wallMs(),
    startedMs,
    deadlineMs: Math.min(
      startedMs + limits.timeoutMs,
      parent?.run.spec.deadlineMs ?? Number.POSITIVE_INFINITY,
    ),
  };
  const account = new Account(
    `${agent.name} (${request.runId})`,
    above,
    accountLimits(agent.limits, request.limits),
  );
  const run = new Run(spec, { account, slot: new RunSlot(host.slots, depth), tainted: isTainted(request) });
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  const live: LiveRun = { run, session, parent, kids: new Set(), children: null, settled, settle };
  if (request.resume) restore(host, run, request.resume);
  if (profile.delegates.length > 0) {
    live.children = new Children(host, live, profile);
    if (request.resume) live.children.remember(request.resume);
    for (const [name, tool] of delegationTools(live.children)) tools.set(name, tool);
  }
  session.live.set(run.spec.runId, live);
  parent?.kids.add(live);
  return live;
}

function isTainted({ tainted, parent }: SpawnRequest): boolean {
  return tainted || (parent?.run.tainted ?? false);
}

/** What was spent before counts for the run; the session's account was charged for all of it at once. */
function restore(host: Host, run: Run, node: MessageNode): void {
  restoreRun(run, node, { text: (id) => host.store.prompt(id), escapeText: host.guards.escapeText });
  const spent = spentIn(node);
  run.account.tokensSpent = spent.tokens;
  run.account.costSpent = spent.costUsd;
  run.account.spawns = spent.runs - 1;
  run.subtreePriced = spent.priced;
}

async function workspaceOf({ session, profile, runId, parent }: SpawnRequest): Promise<string> {
  const shared = parent?.run.spec.workspaceDir ?? session.workspaceDir;
  if (profile.agent.workspace === "shared") return shared;
  const own = join(session.workspaceDir, "runs", runId);
  await mkdir(own, { recursive: true, mode: 0o700 });
  return own;
}

function openRun(request: SpawnRequest): number {
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
        ...(request.taskId !== undefined && { taskId: request.taskId }),
        ...(request.limits && { limits: request.limits }),
        ...(isTainted(request) && { tainted: true }),
      },
    },
    (seq) => announce(request, messageId, seq),
  );
  return messageId;
}

function announce(
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

function closeRun(request: SpawnRequest, messageId: number, result: RunResult): RunResult {
  const { session, runId, profile } = request;
  const { details, data: _, ...rest } = result;
  session.ports.journal.close(
    messageId,
    session.id,
    {
      status: result.status,
      completedAtMs: session.ports.clock.wallMs(),
      durationMs: result.duration_ms,
      responseContent: details,
      responseSummary: result.summary,
      filesModified: result.files_modified,
      totalTokens: result.tokens.self,
      iterationCount: result.iteration_count,
      costUsd: result.cost_usd.self,
      ...(result.bailout_reason && { bailoutReason: result.bailout_reason }),
      ...(result.error && { errorMessage: result.error.message }),
      metadata: { result: rest },
    },
    (seq) =>
      session.ports.emit(session.id, { type: "run.ended", runId, agent: profile.agent.name, result }, seq),
  );
  return result;
}

function refused({ session, profile, runId, attempt }: SpawnRequest, error: RunError): RunResult {
  const message = session.ports.redactor.redact(error.message);
  return failedResult(
    { runId, sessionId: session.id, agent: profile.agent.name, attempt },
    { ...error, message },
  );
}

function timeOut(live: LiveRun): void {
  const { limits, agent } = live.run.spec;
  const message = `${agent.name} did not finish within its time (${Math.round(limits.timeoutMs / 1000)} s, or its parent's)`;
  live.run.interrupt({ status: "timeout", bailout: "timeout", message });
}

/** A run that ends takes its children with it, and is over only when they are. */
async function settleKids(live: LiveRun): Promise<void> {
  for (const kid of live.kids) cancelTree(kid, `the parent ${live.run.spec.agent.name} ended`);
  await Promise.all([...live.kids].map((kid) => kid.settled));
}

function withSubtree(run: Run, result: RunResult): RunResult {
  const cost = run.subtreePriced && run.costUsd !== null ? run.account.costSpent : null;
  return {
    ...result,
    tokens: { self: run.tokens, subtree: run.account.tokensSpent },
    cost_usd: { self: run.costUsd, subtree: cost },
  };
}

async function shortened({ run, session }: LiveRun, result: RunResult): Promise<RunResult> {
  if (result.details.length <= MAX_RESULT_CHARS) return result;
  const path = await session.ports.saveArtefact(run, `result-${run.spec.runId}.md`, result.details);
  return { ...result, details: excerpt(result.details, MAX_RESULT_CHARS, `the whole is in ${path}`) };
}
