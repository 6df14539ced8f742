import { pastOf } from "../delegate/fork-run.ts";
import { restoreProfile } from "../delegate/profile.ts";
import { hadProjectText, recallSession } from "../delegate/recall-session.ts";
import type { ReadTask } from "../delegate/spawn-options.ts";
import { createId } from "../run/create-id.ts";
import { claimsIn, isClosed, metadataOf, resultOfRow, spentIn } from "../run/read-row.ts";
import type { Host, Session } from "../run/run.ts";
import type { ForkPoint, MessageNode, SessionRow } from "../schema/record.ts";
import type { RunResult, RunStatus } from "../schema/result.ts";
import type { OpenRoot } from "./root-run.ts";

/** What one of several tasks was given besides its words. */
type TaskOptions = Omit<ReadTask, "agent" | "task">;

/** Several tasks of one session, as its row keeps them from the start. */
export type FanOut = {
  tasks: readonly (readonly [agent: string, task: string, options?: TaskOptions])[];
  maxConcurrent: number;
};

/** One task of a session: it has its result, continues a recorded run, or begins. */
export type RootTask =
  | { kind: "ended"; runId: string; result: RunResult }
  | ({ kind: "open"; runId: string } & OpenRoot)
  | ({ kind: "new"; runId: string; taskId: string } & ReadTask);

/** The tasks of a session that begins. */
export function newTasks({ tasks }: FanOut): RootTask[] {
  return tasks.map((task, index) => newTask(task, index));
}

/** The tasks of a recorded session, in their order; those that had not begun are among them. */
export async function recordedTasks(
  host: Host,
  row: SessionRow,
  roots: readonly MessageNode[],
): Promise<RootTask[]> {
  const fanOut = fanOutOf(row);
  if (!fanOut) return Promise.all(roots.map((node) => recordedTask(host, node)));
  const begun = new Map(roots.map((node) => [metadataOf(node).taskId, node]));
  return Promise.all(
    fanOut.tasks.map(async (task, index) => {
      const node = begun.get(String(index));
      return node ? recordedTask(host, node) : newTask(task, index);
    }),
  );
}

/** What a session was asked to do at once; undefined for one of a single task. */
export function fanOutOf(row: SessionRow): FanOut | undefined {
  return (JSON.parse(row.metadata_json ?? "{}") as { fanOut?: FanOut }).fanOut;
}

/** How a session ended whose tasks ended so. */
export function statusOf(results: readonly RunResult[]): RunStatus {
  const [only] = results;
  if (only && results.length === 1) return only.status;
  return results.every((result) => result.success) ? "completed" : "failed";
}

/**
 * What the tasks under way had spent counts against their budget now, and files belong to the runs that had made them.
 * In a conversation each task has a budget of its own, so that those before count no more.
 */
export async function restoreSession(
  session: Session,
  roots: readonly MessageNode[],
  { isFanOut }: { isFanOut: boolean },
): Promise<void> {
  const { account, host } = session;
  for (const root of roots) {
    if (!isFanOut && isClosed(root)) continue;
    const spent = spentIn(root);
    account.charge(spent.tokens, spent.costUsd);
    account.spawns += spent.runs;
  }
  for (const [path, claim] of claimsIn(roots)) session.claims.set(path, claim);
  await host.untrusted.closeLeft(session.id);
  if (await hadProjectText(host.record, session.id)) session.projectText.enter();
  await recallSession(session, roots);
}

function newTask([agent, task, options]: FanOut["tasks"][number], index: number): RootTask {
  return { kind: "new", runId: createId("run"), agent, task, ...options, taskId: String(index) };
}

async function recordedTask(host: Host, node: MessageNode): Promise<RootTask> {
  const runId = node.run_id;
  if (isClosed(node)) return { kind: "ended", runId, result: resultOfRow(node) };
  const fork = metadataOf(node).fork as ForkPoint | undefined;
  const past = fork && (await pastOf(host.record, fork));
  return { kind: "open", runId, node, past, profile: await restoreProfile(host, node, null) };
}
