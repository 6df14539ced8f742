import type { OfflineCall, Situation } from "./conversation.ts";

/** One delegation. */
export type HandedTask = {
  id: string;
  agent: string;
  task: string;
  dependsOn?: readonly string[] | undefined;
};

/** The calls that hand tasks over: one for all where that tool is offered. */
export function handOver(tasks: readonly HandedTask[], { tools }: Situation): OfflineCall[] {
  if (tasks.length > 1 && tools.includes("delegate_many"))
    return [{ tool: "delegate_many", input: { tasks } }];
  return tasks.map(({ agent, task }) => ({ tool: "delegate", input: { agent, task } }));
}

/** Whether an answer says that its children still ran when it was given. */
export function isStillRunning(result: string): boolean {
  return /^\{"status":"running"/m.test(result);
}

/** The call that waits for children that are still running; null if none is. */
export function waitForRunning({ calls, tools, wrapUp }: Situation): { calls: OfflineCall[] } | null {
  const sinceCollected = calls.slice(calls.findLastIndex(({ tool }) => tool === "collect_results") + 1);
  const isRunning = sinceCollected.some(({ result }) => isStillRunning(result));
  if (wrapUp || !isRunning || !tools.includes("collect_results")) return null;
  return { calls: [{ tool: "collect_results", input: { wait: "all" } }] };
}
