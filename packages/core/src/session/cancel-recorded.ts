import type { Record, RecordWrite, StopRequest } from "../record/record.ts";
import { isClosed, metadataOf } from "../run/read-row.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { MessageRow, SessionRow } from "../schema/record.ts";
import { fanOutOf } from "./root-tasks.ts";

const MESSAGE = "cancelled while no process had the session";

/**
 * Ends a session that no living process has, or one run of it; `noted` means that the run is ended when somebody resumes
 * its session. False if it had ended by itself.
 */
export async function cancelUnheld(
  record: Record,
  { sessionId, id }: StopRequest,
  by: string,
): Promise<"cancelled" | "noted" | false> {
  const row = await record.findSession(sessionId);
  if (id === sessionId || (await isOnlyTask(record, row, id)))
    return (await cancelRecorded(record, row, by)) && "cancelled";
  await record.askToStop({ sessionId, id });
  return "noted";
}

/** Without its one task nothing of a session is left to go on with. */
async function isOnlyTask(record: Record, row: SessionRow, runId: string): Promise<boolean> {
  const attempts = await record.readRows({ runIds: [runId], kind: "runs" });
  return attempts.some((run) => run.agent_depth === 0) && fanOutOf(row) === undefined;
}

/**
 * Ends a session that no living process has: its open rows are closed as cancelled, what waits for a person is answered
 * with no, and it is never resumed. Rejects if a living process has it; false if it had ended by itself.
 */
export async function cancelRecorded(record: Record, row: SessionRow, by: string): Promise<boolean> {
  const { session_id: sessionId } = row;
  const release = await record.takeLease(sessionId);
  try {
    // Its process may have ended it between the caller's look and this hold.
    if ((await record.findSession(sessionId)).status !== "running") return false;
    const atMs = Date.now();
    const open = (await record.readRows({ sessionId })).filter((one) => !isClosed(one));
    const closings = open.toReversed().map((one) => closeRow(one, atMs));
    const ending = { kind: "session.update", sessionId, change: { status: "cancelled" } } as const;
    for (const one of [...closings, ending]) record.append(one);
    await record.written();
    for (const { approvalId } of await record.listApprovals({ sessionId, state: "waiting" }))
      await record.answerApproval(approvalId, { allowed: false, by, note: MESSAGE, atMs });
    await record.forgetStops(sessionId);
    return true;
  } finally {
    await release();
  }
}

function closeRow(row: MessageRow, atMs: number): RecordWrite {
  const isRun = row.request_type === "prompt" || row.request_type === "delegation";
  const { attempt } = metadataOf(row);
  const about = { runId: row.run_id, sessionId: row.session_id, agent: row.agent_role ?? "" };
  const { details, ...result } = failedResult(
    { ...about, ...(typeof attempt === "number" && { attempt }) },
    { type: "cancelled", message: MESSAGE, recoverable: false },
  );
  return {
    kind: "row.close",
    id: row.id,
    sessionId: row.session_id,
    row: {
      status: "cancelled",
      completedAtMs: atMs,
      durationMs: Math.max(0, atMs - Date.parse(row.started_at)),
      errorMessage: MESSAGE,
      ...(isRun && { responseContent: details, bailoutReason: "cancelled", metadata: { result } }),
    },
  };
}
