import type { Deliverable, Limits } from "../schema/agent.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";
import type { Host, LiveRun } from "../session/host.ts";
import { metadataOf } from "../session/read-row.ts";
import { restoreProfile } from "./profile.ts";
import type { SpawnRequest } from "./spawn-request.ts";

/** Goes on in place with a child run that was open when the process ended, with all that it had been given. */
export async function goOnWith(
  node: MessageNode,
  { parent, byProgram }: Pick<SpawnRequest, "byProgram"> & { parent: LiveRun },
  host: Host,
): Promise<RunResult> {
  const { session } = parent;
  const { task, attempt, deliverables, limits, taskId, cwd, criteria } = metadataOf(node);
  const message = node.request_content ?? "";
  const profile = await restoreProfile(host, node, parent);
  return host.runChild({
    session,
    parent,
    profile: { ...profile, chain: [...profile.chain, ...session.base] },
    runId: node.run_id,
    attempt: Number(attempt),
    task: typeof task === "string" ? task : message,
    message,
    callId: node.call_id,
    parentRowId: node.parent_message_id,
    deliverables: (deliverables as Deliverable[] | undefined) ?? [],
    limits: limits as Limits | undefined,
    byProgram,
    taskId: taskId as string | undefined,
    cwd: cwd as string | undefined,
    criteria: criteria as string | undefined,
    resume: node,
  });
}
