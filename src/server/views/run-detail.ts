import { lstat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { rightsRows } from "../../runtime/project/explain-rights.ts";
import { resultOfRow } from "../../runtime/record/read-row.ts";
import type { Snapshot } from "../../runtime/runs/profile.ts";
import { runOfRow } from "../../runtime/trace/trace-row.ts";
import type { RunDetail } from "../../schema/api/inspect.ts";
import type { MessageRow, SessionRow } from "../../schema/record.ts";
import type { RunResult } from "../../schema/result.ts";
import type { Store } from "../../store/create-store.ts";

/** Everything about one run, from its row and the texts that it names. */
export async function runDetail(
  store: Pick<Store, "prompt">,
  row: MessageRow,
  session: SessionRow,
): Promise<RunDetail> {
  const run = runOfRow(row, null, 0);
  const snapshot = snapshotOf(store, row);
  return {
    runId: row.run_id,
    sessionId: row.session_id,
    systemPrompt: row.system_prompt_id === null ? null : (store.prompt(row.system_prompt_id) ?? null),
    message: row.request_content ?? "",
    contextMode: row.context_mode,
    task: run.task,
    result: resultIn(row),
    text: row.response_content ?? "",
    rights: snapshot?.chain ? rightsRows(snapshot.chain) : null,
    delegatesTo: snapshot?.delegates ?? [],
    files: await Promise.all(run.files.map((file) => fileOf(file, session))),
    row: { ...row },
  };
}

/** A record may come from another program, which keeps no such thing. */
function resultIn(row: MessageRow): RunResult | null {
  if (row.completed_at === null) return null;
  try {
    const result = resultOfRow(row);
    return typeof result.status === "string" ? result : null;
  } catch {
    return null;
  }
}

function snapshotOf(store: Pick<Store, "prompt">, row: MessageRow): Partial<Snapshot> | null {
  try {
    const { snapshot }: { snapshot?: unknown } = JSON.parse(row.metadata_json ?? "{}");
    const text = typeof snapshot === "string" ? store.prompt(snapshot) : undefined;
    return text === undefined ? null : (JSON.parse(text) as Partial<Snapshot>);
  } catch {
    return null;
  }
}

/** Runs name files relative to the project, and others by their whole path. */
async function fileOf(file: string, session: SessionRow): Promise<RunDetail["files"][number]> {
  const isWhole = isAbsolute(file);
  const inWorkspace = isWhole ? relative(session.workspace, file) : "..";
  const isWorkspace = inWorkspace !== ".." && !inWorkspace.startsWith(`..${sep}`);
  const exists = await lstat(isWhole ? file : join(session.project, file)).then(
    (found) => found.isFile(),
    () => false,
  );
  return isWorkspace
    ? { path: inWorkspace.replaceAll(sep, "/"), root: "workspace", exists }
    : { path: file, root: "project", exists };
}
