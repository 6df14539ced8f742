import { resolve } from "node:path";
import { nameDeliverable } from "../run/deliverables.ts";
import { runAgent } from "../run/run-agent.ts";
import { messageOf } from "../schema/error.ts";
import type { RunError, RunResult, SubRun } from "../schema/result.ts";
import { addUpSubtree } from "../schema/subtree.ts";
import type { Host, LiveRun } from "../session/host.ts";
import { cutAt, excerpt, MAX_RESULT_CHARS } from "../tools/truncate.ts";
import { failedResult } from "./failed-result.ts";
import { judgeCriteria } from "./judge-criteria.ts";
import { bringToLife, watchDeadline } from "./live-run.ts";
import { announce, closeRun, openRun } from "./record-run.ts";
import type { SpawnRequest } from "./spawn-request.ts";
import { unmetBelow, withUnmet } from "./unmet-deliverables.ts";

/** Runs an agent from its first row to its last. Never throws. */
export async function spawnRun(host: Host, request: SpawnRequest): Promise<RunResult> {
  const { session, parent } = request;
  const above = parent?.run.account ?? session.account;
  const full = request.resume || session.ports.recorded ? null : above.takeSpawn();
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
    const result = await runLive(host, live, request);
    return closeRun(request, messageId, result);
  } catch (thrown) {
    return closeRun(
      request,
      messageId,
      refused(request, { type: "failed", message: messageOf(thrown), recoverable: false }),
    );
  }
}

async function runLive(host: Host, live: LiveRun, request: SpawnRequest): Promise<RunResult> {
  const { run, session, parent } = live;
  const { recorded } = session.ports;
  const stopTimer = watchDeadline(live);
  const stop = parent ? (parent.run.interruption ?? parent.children?.stopping) : session.stop;
  if (stop && !recorded) run.interrupt(stop);
  try {
    const said = recorded?.begin(run) ?? (await runAgent(run, session.ports));
    await settleKids(live, `the parent ${run.spec.agent.name} ended`);
    const { result, reviewer } = await judgeCriteria(host, live, { request, spawn: spawnRun }, said);
    if (parent && (!run.subtreePriced || run.costUsd === null)) parent.run.subtreePriced = false;
    const left = recorded || session.lease.lost.aborted ? result : await host.isolation.leave(live, result);
    // The steps of a plan are judged by the plan, which may have replaced one that failed.
    const unmet = request.conducted ? [] : await unmetBelow(host, live);
    const measured = await shortened(live, withSubtree(live, withUnmet(left, unmet), reviewer));
    return recorded?.end(run, measured) ?? measured;
  } finally {
    stopTimer();
    session.live.delete(run.spec.runId);
    parent?.kids.delete(live);
    live.settle();
  }
}

function refused(request: SpawnRequest, error: RunError): RunResult {
  const { session, profile, runId, attempt } = request;
  const message = session.ports.redactor.redact(error.message);
  const about = { runId, sessionId: session.id, agent: profile.agent.name, attempt };
  const deliverables = request.deliverables.map((owed) => ({
    deliverable: nameDeliverable(owed),
    ok: false,
    reason: "the run did not begin",
    files: [],
  }));
  return { ...failedResult(about, { ...error, message }), deliverables };
}

/** A run that ends takes its children with it, also those that had not begun, and is over only when they are. */
async function settleKids(live: LiveRun, message: string): Promise<void> {
  live.children?.stop(message);
  await live.children?.delegations.settled();
  await Promise.all([...live.kids].map((kid) => kid.settled));
}

function withSubtree(
  { run, session, children }: LiveRun,
  result: RunResult,
  reviewer?: RunResult,
): RunResult {
  const delegated = children?.delegations.ended().map((attempt) => attempt.result) ?? [];
  const below = reviewer ? [...delegated, reviewer] : delegated;
  const { runId, projectDir } = run.spec;
  const history = (file: string) => {
    const changes = session.ports.claims.get(resolve(projectDir, file))?.changes ?? [];
    return changes.filter(({ line }) => line.includes(runId)).map(({ kind }) => kind);
  };
  const cost = run.subtreePriced && run.costUsd !== null ? run.account.costSpent : null;
  return {
    ...result,
    tokens: { self: run.tokens, subtree: run.account.tokensSpent },
    cost_usd: { self: run.costUsd, subtree: cost },
    subtree: addUpSubtree(result, below, history),
    ...(below.length > 0 && { sub_runs: below.map(describeSubRun) }),
  };
}

const MAX_LINE_CHARS = 200;

function describeSubRun({ agent, run_id, status, success, summary }: RunResult): SubRun {
  return { agent, run_id, status, success, summary: cutAt(summary.replaceAll(/\s+/g, " "), MAX_LINE_CHARS) };
}

/** Data that are longer than this are handed over as a file. */
const MAX_DATA_CHARS = 8_000;

/** A long result, and long data for a parent that can read files, go to a file. */
async function shortened({ run, session, parent }: LiveRun, result: RunResult): Promise<RunResult> {
  if (session.lease.lost.aborted) return result;
  const save = (name: string, text: string) => session.ports.saveArtefact(parent?.run ?? run, name, text);
  const data = result.data === undefined ? "" : JSON.stringify(result.data, null, 1);
  const isForFile = parent?.run.spec.tools.has("read") && data.length > MAX_DATA_CHARS;
  const data_file = isForFile
    ? await save(`data-${run.spec.runId}.json`, data).catch(() => undefined)
    : undefined;
  const told = { ...result, ...(data_file !== undefined && { data_file }) };
  if (result.details.length <= MAX_RESULT_CHARS) return told;
  const where = await save(`result-${run.spec.runId}.md`, result.details)
    .then((path) => `the whole is in ${path}`)
    .catch(() => "the whole could not be saved");
  return { ...told, details: excerpt(result.details, MAX_RESULT_CHARS, where) };
}
