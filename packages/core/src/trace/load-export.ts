import type { Store } from "../record/create-store.ts";
import { listTextIds } from "../record/prompt-table.ts";
import type { FileChange, WorktreeRow } from "../schema/change.ts";
import type { Approval, MessageRow, SessionRow } from "../schema/record.ts";
import { isRunRow } from "./trace-row.ts";

/** The version of an export's shape; a change that breaks a reader raises it. */
export const EXPORT_FORMAT = 1;

/** Everything that the record holds of a session. Secrets were hidden before any of it was written. */
export type SessionExport = {
  format: typeof EXPORT_FORMAT;
  session: SessionRow;
  /** Rows as they are in the table, in the order they opened. */
  messages: MessageRow[];
  /** System prompts and other texts that rows name by id. */
  prompts: Record<string, string>;
  approvals: Approval[];
  changes: FileChange[];
  worktrees: WorktreeRow[];
};

/** Reads everything of a session. */
export function loadExport(store: Store, session: SessionRow): SessionExport {
  const id = session.session_id;
  const messages = store.messages(id);
  const runIds = [...new Set(messages.filter(isRunRow).map((row) => row.run_id))];
  return {
    format: EXPORT_FORMAT,
    session,
    messages,
    prompts: promptsOf(store, messages),
    approvals: store.approvals({ sessionId: id }),
    changes: store.changesOf(runIds),
    worktrees: runIds.flatMap((runId) => store.worktree(runId) ?? []),
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

function promptsOf(store: Store, messages: readonly MessageRow[]): Record<string, string> {
  const prompts: Record<string, string> = {};
  for (const id of new Set(messages.flatMap(idsIn))) {
    const text = store.prompt(id);
    if (text !== undefined) prompts[id] = text;
  }
  return prompts;
}

function idsIn({ system_prompt_id: system, metadata_json: json }: MessageRow): string[] {
  try {
    return listTextIds(system, JSON.parse(json ?? "{}") ?? {});
  } catch {
    // Another program may have stored what is no JSON; it names nothing then.
    return listTextIds(system, {});
  }
}
