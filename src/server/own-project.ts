import { realFolder } from "../runtime/open-session.ts";
import type { Approval, MessageRow, SessionRow } from "../schema/record.ts";
import { NotFound } from "./api/route.ts";
import type { Desk } from "./desk.ts";

/** The project's folder as the record names it. */
export function projectOf({ project }: Pick<Desk, "project">): string {
  return realFolder(project.projectDir);
}

/** A session of this project; those of others are as good as absent. */
export function ownSession(desk: Pick<Desk, "project" | "runtime">, sessionId: string): SessionRow {
  const row = desk.runtime.store.session(sessionId);
  if (row && row.project === projectOf(desk)) return row;
  throw new NotFound(`there is no session '${sessionId}' in this project`);
}

/** A run of this project by its latest attempt, with its session. */
export function ownRun(
  desk: Pick<Desk, "project" | "runtime">,
  runId: string,
): { row: MessageRow; session: SessionRow } {
  const row = desk.runtime.store.attemptsOf(runId).at(-1);
  if (!row) throw new NotFound(`there is no run '${runId}' in this project`);
  try {
    return { row, session: ownSession(desk, row.session_id) };
  } catch {
    throw new NotFound(`there is no run '${runId}' in this project`);
  }
}

/** A question that a call of this project asked. */
export function ownApproval(
  desk: Pick<Desk, "project" | "runtime">,
  approvalId: string,
): { approval: Approval; session: SessionRow } {
  try {
    const approval = desk.runtime.store.findApproval(approvalId);
    if (approval.approvalId === approvalId)
      return { approval, session: ownSession(desk, approval.sessionId) };
  } catch {
    // What there is in other projects is not told.
  }
  throw new NotFound(`there is no approval '${approvalId}' in this project`);
}
