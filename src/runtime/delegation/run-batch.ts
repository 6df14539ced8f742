import { runGraph } from "../../scheduler/task-graph.ts";
import type { BatchTask, DelegationBatch } from "../../schema/delegation.ts";
import type { RunResult } from "../../schema/result.ts";
import type { ToolContext, ToolOutput } from "../../tools/tool.ts";
import { createId } from "../create-id.ts";
import { failedResult } from "../runs/failed-result.ts";
import type { Children } from "./children.ts";
import { deliver } from "./deliver.ts";

/** Runs a batch in the order its dependencies allow; partial results are kept and failures listed. */
export async function runBatch(
  children: Children,
  batch: DelegationBatch,
  context: ToolContext,
): Promise<ToolOutput> {
  const mode = batch.mode ?? children.mode;
  const origin = { callId: context.callId, rowId: context.rowId };
  const entries = batch.tasks.map((task) => ({
    task,
    id: createId("run"),
    ...Promise.withResolvers<RunResult>(),
  }));
  const byTask = new Map(entries.map((entry) => [entry.task.id, entry]));
  const delegations = entries.map(({ task, id, promise }) =>
    children.track({ id, agent: task.agent, taskId: task.id, done: promise }),
  );

  const whole = runGraph<BatchTask, RunResult>(batch.tasks, {
    within: children.within(mode),
    onFailure: batch.onFailure ?? "continue",
    run: async (task, needed) => {
      const entry = byTask.get(task.id);
      const value = await children.delegate(
        entry?.id ?? createId("run"),
        task,
        { ...origin, taskId: task.id },
        needed,
      );
      entry?.resolve(value);
      return { value, success: value.success };
    },
  }).then((outcomes) => {
    for (const [index, outcome] of outcomes.entries()) {
      const entry = entries[index];
      if (outcome.kind === "done" || !entry) continue;
      const about = { runId: entry.id, sessionId: context.sessionId, agent: entry.task.agent };
      entry.resolve(
        failedResult(about, {
          type: "failed",
          message: `not started: ${outcome.because}`,
          recoverable: false,
        }),
      );
    }
  });
  const first = Promise.race(entries.map((entry) => entry.promise));
  await children.waiting<unknown>(mode === "parallel_streaming" ? first : whole);
  return deliver(children, delegations, "all");
}
