import { runGraph } from "../budget/task-graph.ts";
import type { Delegation } from "../run/delegations.ts";
import type { BatchTask, DelegationBatch } from "../schema/delegation.ts";
import { unstartedResult } from "../schema/failed-result.ts";
import type { RunError, RunResult } from "../schema/result.ts";
import type { ToolContext, ToolOutput } from "../tools/tool.ts";
import type { Children } from "./children.ts";
import { deliver } from "./deliver.ts";
import type { Origin } from "./earlier-attempts.ts";

/**
 * Runs a batch in the order its dependencies allow; partial results are kept and failures listed. A task that cannot begin is
 * such a failure and keeps only those from beginning that depend on it.
 */
export async function runBatch(
  children: Children,
  batch: DelegationBatch,
  { callId, rowId }: ToolContext,
): Promise<ToolOutput> {
  const { delegations, whole } = startBatch(children, batch, { callId, rowId });
  const streaming = (batch.mode ?? children.mode) === "parallel_streaming";
  if (!streaming) await children.waiting(whole);
  await children.untilEnded(delegations, streaming ? "one" : "all");
  return deliver(children, delegations, "all");
}

/**
 * Begins a batch. One that goes on after a crash names the tasks that are still open, by their ids of before; of the
 * others the results are known, and nothing of them begins again.
 */
export function startBatch(
  children: Children,
  batch: DelegationBatch,
  origin: Origin,
  open?: ReadonlyMap<string, string>,
): { delegations: Delegation[]; whole: Promise<void> } {
  const { callId } = origin;
  const entries = batch.tasks.map((task) => ({
    // One that names no agent is answered so, and has a row.
    task: { ...task, agent: task.agent ?? "" },
    id: open?.get(task.id) ?? children.idFor({ callId, taskId: task.id }),
    isOver: open !== undefined && !open.has(task.id),
    fault: open === undefined ? (children.findMistake(task) ?? children.refuseAgent(task.agent)) : null,
    ...Promise.withResolvers<RunResult>(),
  }));
  const byTask = new Map(entries.map((entry) => [entry.task.id, entry]));
  const delegations = entries.map(({ task: { id: taskId, agent, task }, id, promise, isOver }) =>
    children.delegations.track({ id, agent, task, callId, taskId }, promise, isOver),
  );
  const notStarted = ({ id, task }: (typeof entries)[number], because: string) =>
    unstartedResult({ runId: id, sessionId: children.parent.session.id, agent: task.agent }, because);
  const failed = ({ id, task }: (typeof entries)[number], error: RunError) =>
    children.fail({ id, agent: task.agent }, error);
  const originFor = ({ task }: (typeof entries)[number]) => ({ ...origin, taskId: task.id });
  const whole = runGraph<BatchTask, RunResult>(batch.tasks, {
    within: children.within(batch.mode ?? children.mode),
    onFailure: batch.onFailure ?? "continue",
    run: async (task, needed) => {
      const entry = byTask.get(task.id);
      if (!entry) throw new Error(`no task '${task.id}' in this batch`);
      const from = originFor(entry);
      const isOver = entry.isOver && !children.hasRow(from);
      let value: RunResult;
      if (isOver) value = notStarted(entry, "it had failed before a crash");
      else if (entry.fault) value = failed(entry, entry.fault);
      else value = await children.delegate(entry.id, entry.task, from, needed);
      if (!isOver && !children.hasBegun(entry.id)) children.recordUnstarted(entry.task, from, value);
      entry.resolve(value);
      return { value, success: value.success };
    },
  }).then((outcomes) => {
    for (const [index, outcome] of outcomes.entries()) {
      const entry = entries[index];
      if (outcome.kind === "done" || !entry) continue;
      const result = notStarted(entry, outcome.because);
      if (!entry.isOver) children.recordUnstarted(entry.task, originFor(entry), result);
      entry.resolve(result);
    }
  });
  return { delegations, whole };
}
