import { join, relative } from "node:path";
import { Deadline, type TimeBox } from "../budget/deadline.ts";
import { Ledger } from "../budget/ledger.ts";
import { RunSlot } from "../budget/slots.ts";
import { openingFor } from "../rights/protected-layer.ts";
import { taint } from "../run/calls/dispatch.ts";
import { costOfRow, elapsedMs, isClosed, spentIn, tokensOf } from "../run/read-row.ts";
import { type Interruption, Run, type SpawnRequest } from "../run/run.ts";
import type { MessageNode } from "../schema/record.ts";
import { Children } from "./children.ts";
import { delegationTools } from "./delegation-tools.ts";
import { EarlierAttempts } from "./earlier-attempts.ts";
import { accountLimits } from "./effective-limits.ts";
import { forkRun } from "./fork-run.ts";
import { PROGRAM_TOOL, programTool } from "./program-tool.ts";
import { hadProjectText, recallSession } from "./recall-session.ts";
import { holdsPrivateData, isTainted } from "./record-run.ts";
import { rememberChildren } from "./remember-children.ts";
import { restoreRun } from "./restore-run.ts";

/** How a run ends that somebody stopped from another process. */
export const STOPPED_FROM_OUTSIDE: Interruption = {
  status: "cancelled",
  bailout: "cancelled",
  message: "cancelled from outside",
};

/** Makes the run of a request, with its account, its place in the tree and, where it may delegate, its children. */
export async function bringToLife(request: SpawnRequest, messageId: number, above: Ledger): Promise<Run> {
  const { session, parent, profile, past, resume, runId } = request;
  const { host, projectText } = session;
  const { agent, limits } = profile;
  const depth = parent ? parent.depth + 1 : 0;
  const startedMs = host.clock.monotonicMs() - (resume ? elapsedMs(resume) : 0);
  const { projectDir, workspaceDir } = await host.workplace.enter(request);
  const tools = new Map(profile.tools);
  const run = new Run({
    session,
    parent,
    runId,
    callId: request.callId,
    attempt: request.attempt,
    taskId: request.taskId ?? null,
    depth,
    agent,
    flow: profile.flow,
    system: profile.system,
    task: request.message,
    asked: host.redactor.redact(request.task),
    chain: projectDir === session.projectDir ? profile.chain : openingFor(profile.chain, projectDir),
    tools: agent.subagents ? tools : profile.tools,
    limits,
    deliverables: request.deliverables,
    mandatory: profile.mandatory,
    projectDir,
    workspaceDir,
    cwd: cwdIn(projectDir, request),
    messageId,
    startedAtMs: resume ? Date.parse(resume.started_at) : host.clock.wallMs(),
    startedMs,
    timeBox: boxTime(request, { startedMs, depth }),
    maxDepth: profile.maxDepth,
    account: new Ledger(
      `${agent.name} (${runId})`,
      above,
      accountLimits(agent.limits, {
        limits: request.limits,
        by: parent && !request.byProgram ? "model" : "person",
      }),
    ),
    slot: new RunSlot(host.slots, depth),
    ownModel: profile.model,
    tainted: isTainted(request),
    privateData: holdsPrivateData(request),
  });
  // What a parent writes into a task is no person's text.
  if (!parent) session.addresses.addTyped(run.asked);
  if (parent?.paused) {
    run.pause();
    session.emit({ type: "run.paused", runId, isPaused: true });
  }
  const earlier = new EarlierAttempts(resume);
  const children = agent.subagents ? new Children(run, profile, earlier) : null;
  run.children = children;
  if (children) {
    for (const tool of delegationTools(children)) tools.set(tool.name, tool);
    const merging = host.workplace.createMergeTool(run);
    tools.set(merging.name, merging);
    if (request.program !== undefined) tools.set(PROGRAM_TOOL, programTool(children, request.program));
  }
  if (past) {
    await forkRun(run, past.root);
    if (await hadProjectText(host.record, past.at.sessionId)) projectText.enter();
    await recallSession(session, [past.root]);
  }
  if (resume) await restore(run, resume);
  if (resume && children) rememberChildren(children, resume, earlier);
  if (resume && (await host.record.listStops(session.id)).some(({ id }) => id === runId))
    run.interrupt(STOPPED_FROM_OUTSIDE);
  if (profile.isOfProject) projectText.enter();
  if (!run.tainted && host.guards.taintsReader(await host.untrusted.hold(profile.promptFiles)))
    await taint(run, "its prompt");
  if (run.tainted) await host.untrusted.taintWorkspace(run);
  session.live.set(runId, run);
  parent?.kids.add(run);
  request.onLive?.();
  return run;
}

/** A child works where its parent does, unless it was given a folder of its own. */
function cwdIn(projectDir: string, { cwd, parent }: SpawnRequest): string | undefined {
  if (cwd !== undefined) return join(projectDir, cwd);
  return parent?.cwd && join(projectDir, relative(parent.projectDir, parent.cwd));
}

/** What was spent before counts for the run; the session's account was charged for all of it at once. */
async function restore(run: Run, node: MessageNode): Promise<void> {
  const { session } = run;
  await restoreRun(run, node);
  const spent = spentIn(node);
  run.account.tokensSpent = spent.tokens;
  run.account.costSpent = spent.costUsd;
  run.account.spawns = spent.runs - 1;
  run.subtreePriced = spent.priced;
  for (const row of node.children) {
    if (row.request_type !== "continuation" || isClosed(row)) continue;
    session.journal.close(row.id, session.id, {
      status: "failed",
      completedAtMs: session.host.clock.wallMs(),
      durationMs: 0,
      errorMessage: "the process ended during this call; it is made again",
      totalTokens: tokensOf(row),
      costUsd: costOfRow(row),
    });
  }
}

/** A person's or a program's own minutes hold for everything below as well. */
function boxTime(
  { parent, limits, byProgram, profile }: SpawnRequest,
  at: { startedMs: number; depth: number },
): TimeBox | null {
  const outer = parent?.timeBox ?? null;
  if (limits?.minutes === undefined || (parent && !byProgram)) return outer;
  const lengthMs = profile.limits.timeoutMs;
  return { deadline: new Deadline(at.startedMs + lengthMs), lengthMs, depth: at.depth, outer };
}
