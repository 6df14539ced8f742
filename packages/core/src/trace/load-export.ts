import { isRunRow, readNamedTexts } from "../record/read-tree.ts";
import type { Record } from "../record/record.ts";
import type { FileChange, WorktreeRow } from "../schema/change.ts";
import type { Approval, MessageRow, SessionRow } from "../schema/record.ts";

/** The version of an export's shape; a change that breaks a reader raises it. */
export const EXPORT_FORMAT = 1;

/** Everything that the record holds of a session. Secrets were hidden before any of it was written. */
export type SessionExport = {
  format: typeof EXPORT_FORMAT;
  session: SessionRow;
  /** Rows as they are in the table, in the order they opened. */
  messages: MessageRow[];
  /** System prompts and other texts that rows name by id. */
  prompts: { [id: string]: string };
  approvals: Approval[];
  changes: FileChange[];
  worktrees: WorktreeRow[];
};

/** Reads everything of a session. */
export async function loadExport(record: Record, session: SessionRow): Promise<SessionExport> {
  const id = session.session_id;
  const messages = await record.readRows({ sessionId: id });
  const worktrees: WorktreeRow[] = [];
  const runIds = [...new Set(messages.filter(isRunRow).map((row) => row.run_id))];
  for (const runId of runIds) {
    const found = await record.findWorktree({ runId });
    if (found) worktrees.push(found);
  }
  return {
    format: EXPORT_FORMAT,
    session,
    messages,
    prompts: Object.fromEntries(await readNamedTexts(record, messages)),
    approvals: await record.listApprovals({ sessionId: id }),
    changes: await record.listChanges({ ids: runIds }),
    worktrees,
  };
}

/** The same a line each, the session first; `kind` says what a line is. */
export function* exportLines(all: SessionExport): Generator<string> {
  const line = (kind: string, value: object) => JSON.stringify({ kind, ...value });
  yield line("session", { format: all.format, ...all.session });
  for (const [prompt_id, content] of Object.entries(all.prompts))
    yield line("prompt", { prompt_id, content });
  for (const row of all.messages) yield line("message", row);
  for (const approval of all.approvals) yield line("approval", approval);
  for (const change of all.changes) yield line("change", change);
  for (const worktree of all.worktrees) yield line("worktree", worktree);
}
