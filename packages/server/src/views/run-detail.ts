import { lstat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { rightsRows } from "@retinue/builtin/explain-rights";
import type { ProfileSnapshot } from "@retinue/core/delegate/profile";
import { isBelow } from "@retinue/core/files/is-below";
import type { Record } from "@retinue/core/record/record";
import { resultOfRow } from "@retinue/core/run/read-row";
import type { RunDetail } from "@retinue/core/schema/api/inspect";
import type { MessageRow, SessionRow } from "@retinue/core/schema/record";
import type { RunResult } from "@retinue/core/schema/result";
import { runOfRow } from "@retinue/core/trace/trace-row";

/** Everything about one run, from its row and the texts that it names. */
export async function readRunDetail(
  record: Pick<Record, "readText">,
  row: MessageRow,
  session: SessionRow,
): Promise<RunDetail> {
  const run = runOfRow(row, null, 0);
  const snapshot = await readSnapshot(record, row);
  return {
    runId: row.run_id,
    sessionId: row.session_id,
    systemPrompt:
      row.system_prompt_id === null ? null : ((await record.readText(row.system_prompt_id)) ?? null),
    message: row.request_content ?? "",
    contextMode: row.context_mode,
    task: run.task,
    result: resultIn(row),
    text: row.response_content ?? "",
    rights: snapshot?.chain ? rightsRows(snapshot.chain) : null,
    delegatesTo: snapshot?.delegates ?? [],
    files: await Promise.all(run.files.map((file) => describeFile(file, session))),
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

async function readSnapshot(
  record: Pick<Record, "readText">,
  row: MessageRow,
): Promise<Partial<ProfileSnapshot> | null> {
  try {
    const { snapshot }: { snapshot?: unknown } = JSON.parse(row.metadata_json ?? "{}");
    const text = typeof snapshot === "string" ? await record.readText(snapshot) : undefined;
    return text === undefined ? null : (JSON.parse(text) as Partial<ProfileSnapshot>);
  } catch {
    return null;
  }
}

/** Runs name files relative to the project, and others by their whole path. */
async function describeFile(file: string, session: SessionRow): Promise<RunDetail["files"][number]> {
  const exists = await lstat(resolve(session.project, file)).then(
    (found) => found.isFile(),
    () => false,
  );
  return isBelow(file, session.workspace)
    ? { path: relative(session.workspace, file).replaceAll(sep, "/"), root: "workspace", exists }
    : { path: file, root: "project", exists };
}
