import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { Deadline, type TimeBox } from "../budget/deadline.ts";
import { Ledger } from "../budget/ledger.ts";
import { RunSlot } from "../budget/slots.ts";
import { mergeTool } from "../changes/merge-tool.ts";
import { openingFor } from "../rights/protected-layer.ts";
import { taint } from "../run/calls/dispatch.ts";
import { findEndMs } from "../run/limits.ts";
import { Run } from "../run/run.ts";
import type { RunSpec } from "../run/run-spec.ts";
import type { MessageNode } from "../schema/record.ts";
import { forkRun } from "../session/fork-run.ts";
import type { Host, LiveRun } from "../session/host.ts";
import { costOfRow, elapsedMs, isClosed, spentIn, tokensOf } from "../session/read-row.ts";
import { hadProjectText, recallSession } from "../session/recall-session.ts";
import { type RestorePorts, restoreRun } from "../session/restore-run.ts";
import { Children } from "./children.ts";
import { delegationTools } from "./delegation-tools.ts";
import { EarlierAttempts } from "./earlier-attempts.ts";
import { accountLimits } from "./effective-limits.ts";
import { PROGRAM_TOOL, programTool } from "./program-tool.ts";
import { rememberChildren } from "./remember-children.ts";
import { holdsPrivateData, isTainted, type SpawnRequest } from "./spawn-request.ts";
import { STOPPED_FROM_OUTSIDE } from "./watch-stops.ts";

/** Makes the run, with its account, its place in the tree and, where it may delegate, its children. */
export async function bringToLife(
  host: Host,
  request: SpawnRequest,
  messageId: number,
  above: Ledger,
): Promise<LiveRun> {
  const { session, parent, profile } = request;
  const { agent, limits } = profile;
  const { clock } = session.ports;
  const depth = parent ? parent.run.spec.depth + 1 : 0;
  const startedMs = clock.monotonicMs() - (request.resume ? elapsedMs(request.resume) : 0);
  const tools = new Map(profile.tools);
  const projectDir = await host.isolation.enter(request);
  const spec: RunSpec = {
    runId: request.runId,
    sessionId: session.id,
    parentRunId: parent?.run.spec.runId ?? null,
    callId: request.callId,
    attempt: request.attempt,
    taskId: request.taskId ?? null,
    depth,
    agent,
    flow: profile.flow,
    ancestors: parent ? [...parent.run.spec.ancestors, parent.run.spec.agent.name] : [],
    system: profile.system,
    task: request.message,
    asked: session.ports.redactor.redact(request.task),
    model: profile.model,
    chain: projectDir === session.projectDir ? profile.chain : openingFor(profile.chain, projectDir),
    tools: agent.subagents ? tools : profile.tools,
    limits,
    deliverables: request.deliverables,
    mandatory: profile.mandatory,
    projectDir,
    workspaceDir: await workspaceOf(request),
    cwd: cwdIn(projectDir, request),
    messageId,
    startedAtMs: request.resume ? Date.parse(request.resume.started_at) : clock.wallMs(),
    startedMs,
    deadlineMs: startedMs + limits.timeoutMs,
    timeBox: boxTime(request, { startedMs, depth }),
    maxDepth: profile.maxDepth,
  };
  const account = new Ledger(
    `${agent.name} (${request.runId})`,
    above,
    accountLimits(agent.limits, {
      limits: request.limits,
      by: parent && !request.byProgram ? "model" : "person",
    }),
  );
  const slot = new RunSlot(host.slots, depth);
  const run = new Run(spec, {
    account,
    slot,
    tainted: isTainted(request),
    privateData: holdsPrivateData(request),
    parent: parent?.run ?? null,
  });
  // What a parent writes into a task is no person's text.
  if (!parent) session.ports.addresses.addTyped(spec.asked);
  if (parent?.run.paused) {
    run.pause();
    session.ports.emit(session.id, { type: "run.paused", runId: request.runId, isPaused: true });
  }
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  const live: LiveRun = { run, session, parent, kids: new Set(), children: null, settled, settle };
  const earlier = new EarlierAttempts(request.resume);
  if (agent.subagents) {
    live.children = new Children(host, live, profile, earlier);
    for (const tool of delegationTools(live.children)) tools.set(tool.name, tool);
    const merging = mergeTool(host, live);
    tools.set(merging.name, merging);
    if (request.program !== undefined) tools.set(PROGRAM_TOOL, programTool(live.children, request.program));
  }
  const ports = { text: (id: string) => host.store.prompt(id), guards: host.guards };
  if (request.past) forkRun(run, request.past.root, ports);
  if (request.past && hadProjectText(host.store, request.past.at.sessionId))
    session.ports.projectText.enter();
  if (request.past) await recallSession(session, [request.past.root], host.tools);
  if (request.resume) restore(live, request.resume, ports);
  if (request.resume && live.children) rememberChildren(live.children, request.resume, earlier);
  if (request.resume && host.store.stopsAsked(session.id).some(({ id }) => id === run.spec.runId))
    run.interrupt(STOPPED_FROM_OUTSIDE);
  if (profile.isOfProject) session.ports.projectText.enter();
  const isNew = !run.tainted && !session.ports.recorded;
  if (isNew && host.guards.taintsReader(await host.untrusted.hold(profile.promptFiles)))
    taint(run, "its prompt", session.ports);
  if (run.tainted && !session.ports.recorded) host.untrusted.taintWorkspace(run);
  session.live.set(run.spec.runId, live);
  parent?.kids.add(live);
  return live;
}

/** A child works where its parent does, unless it was given a folder of its own. */
function cwdIn(projectDir: string, { cwd, parent }: SpawnRequest): string | undefined {
  if (cwd !== undefined) return join(projectDir, cwd);
  const above = parent?.run.spec;
  return above?.cwd && join(projectDir, relative(above.projectDir, above.cwd));
}

/** What was spent before counts for the run; the session's account was charged for all of it at once. */
function restore({ run, session }: LiveRun, node: MessageNode, ports: RestorePorts): void {
  restoreRun(run, node, ports);
  const spent = spentIn(node);
  run.account.tokensSpent = spent.tokens;
  run.account.costSpent = spent.costUsd;
  run.account.spawns = spent.runs - 1;
  run.subtreePriced = spent.priced;
  for (const row of node.children) {
    if (row.request_type !== "continuation" || isClosed(row)) continue;
    session.ports.journal.close(row.id, session.id, {
      status: "failed",
      completedAtMs: session.ports.clock.wallMs(),
      durationMs: 0,
      errorMessage: "the process ended during this call; it is made again",
      totalTokens: tokensOf(row),
      costUsd: costOfRow(row),
    });
  }
}

async function workspaceOf({ session, profile, runId, parent }: SpawnRequest): Promise<string> {
  const shared = parent?.run.spec.workspaceDir ?? session.workspaceDir;
  if (profile.agent.workspace === "shared") return shared;
  const own = join(`${session.workspaceDir}-runs`, runId);
  if (!session.ports.recorded) await mkdir(own, { recursive: true, mode: 0o700 });
  return own;
}

/** A person's or a program's own minutes hold for everything below as well. */
function boxTime(
  { parent, limits, byProgram, profile }: SpawnRequest,
  at: { startedMs: number; depth: number },
): TimeBox | null {
  const outer = parent?.run.spec.timeBox ?? null;
  if (limits?.minutes === undefined || (parent && !byProgram)) return outer;
  const lengthMs = profile.limits.timeoutMs;
  return { deadline: new Deadline(at.startedMs + lengthMs), lengthMs, depth: at.depth, outer };
}

/** How often a run is looked at whose clocks all stand still. */
const LOOK_MS = 1_000;

/**
 * Ends the run at its deadline, which does not come while its clocks stand still; returns how to stop watching. In a replay no time passes, and the record says which runs came to their deadline.
 */
export function watchDeadline({ run, session }: LiveRun): () => void {
  const { clock, recorded } = session.ports;
  let stop = () => {};
  if (recorded) return stop;
  const findLeftMs = () => {
    const end = findEndMs(run);
    return end === Number.POSITIVE_INFINITY ? LOOK_MS : end - clock.monotonicMs();
  };
  // Timers of equal length share a list: of a long time the whole seconds are waited for first.
  const shorten = (leftMs: number) => (leftMs > 2_000 ? Math.floor(leftMs / 1_000) * 1_000 : leftMs);
  const arm = (delayMs: number) => {
    stop = clock.timer(shorten(delayMs), () => {
      const leftMs = findLeftMs();
      if (leftMs >= 1) return arm(leftMs);
      const { limits, agent } = run.spec;
      const message = `${agent.name} did not finish within its time (${Math.round(limits.timeoutMs / 1000)} s)`;
      run.interrupt({ status: "timeout", bailout: "timeout", message });
    });
  };
  arm(findLeftMs());
  return () => stop();
}
