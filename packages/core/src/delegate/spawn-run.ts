import { resolve } from "node:path";
import { nameDeliverable } from "../run/deliverables.ts";
import type { Run, SpawnRequest } from "../run/run.ts";
import { runAgent } from "../run/run-agent.ts";
import { messageOf } from "../schema/error.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { RunError, RunResult, SubRun } from "../schema/result.ts";
import { addUpSubtree } from "../schema/subtree.ts";
import { cutAt, excerpt, MAX_RESULT_CHARS } from "../tools/truncate.ts";
import { bringToLife } from "./bring-to-life.ts";
import { judgeCriteria } from "./judge-criteria.ts";
import { announce, closeRun, openRun } from "./record-run.ts";
import { withUnmet } from "./unmet-deliverables.ts";

/** Runs an agent from its first row to its last. Never throws. */
export async function spawnRun(request: SpawnRequest): Promise<RunResult> {
  const { session, parent, resume } = request;
  const above = parent?.account ?? session.account;
  const full = resume ? null : above.takeSpawn();
  const messageId = resume ? resume.id : openRun(request);
  if (resume) announce(request, messageId);
  try {
    if (full) {
      const message = `the limit of ${full.limits.spawns} runs for ${full.name} is used up`;
      const error = { type: "spawn_limit", message, recoverable: false } as const;
      return closeRun(request, messageId, refused(request, error));
    }
    const run = await bringToLife(request, messageId, above);
    return closeRun(request, messageId, await runToEnd(run, request));
  } catch (thrown) {
    const error = { type: "failed", message: messageOf(thrown), recoverable: false } as const;
    return closeRun(request, messageId, refused(request, error));
  }
}

async function runToEnd(run: Run, request: SpawnRequest): Promise<RunResult> {
  const { session, parent, host } = run;
  const stopWatching = host.pace.watch(run);
  try {
    const said = await runAgent(run);
    await settleKids(run, `the parent ${run.agent.name} ended`);
    const { result, reviewer } = await judgeCriteria(run, request, said);
    if (parent && (!run.subtreePriced || run.costUsd === null)) parent.subtreePriced = false;
    const left = session.lease.lost.aborted ? result : await host.workplace.leave(run, result);
    // The steps of a plan are judged by the plan, which may have replaced one that failed.
    const unmet = request.conducted ? [] : await host.workplace.findUnmet(run);
    return await shortened(run, withSubtree(run, withUnmet(left, unmet), reviewer));
  } finally {
    stopWatching();
    session.live.delete(run.runId);
    parent?.kids.delete(run);
    run.settle();
  }
}

function refused(request: SpawnRequest, error: RunError): RunResult {
  const { session, profile, runId, attempt } = request;
  const message = session.host.redactor.redact(error.message);
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
async function settleKids({ children, kids }: Run, message: string): Promise<void> {
  children?.stop(message);
  await children?.delegations.settled();
  await Promise.all([...kids].map((kid) => kid.settled));
}

function withSubtree(run: Run, result: RunResult, reviewer?: RunResult): RunResult {
  const delegated = run.children?.delegations.ended().map((attempt) => attempt.result) ?? [];
  const below = reviewer ? [...delegated, reviewer] : delegated;
  const { runId, projectDir, session } = run;
  const history = (file: string) => {
    const changes = session.claims.get(resolve(projectDir, file))?.changes ?? [];
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
async function shortened(run: Run, result: RunResult): Promise<RunResult> {
  const { session, parent, host } = run;
  if (session.lease.lost.aborted) return result;
  const save = (name: string, text: string) => host.workplace.saveArtefact(parent ?? run, name, text);
  const data = result.data === undefined ? "" : JSON.stringify(result.data, null, 1);
  const isForFile = parent?.tools.has("read") && data.length > MAX_DATA_CHARS;
  const data_file = isForFile ? await save(`data-${run.runId}.json`, data).catch(() => undefined) : undefined;
  const told = { ...result, ...(data_file !== undefined && { data_file }) };
  if (result.details.length <= MAX_RESULT_CHARS) return told;
  const where = await save(`result-${run.runId}.md`, result.details)
    .then((path) => `the whole is in ${path}`)
    .catch(() => "the whole could not be saved");
  return { ...told, details: excerpt(result.details, MAX_RESULT_CHARS, where) };
}
