import { pathTarget } from "../files/resolve-path.ts";
import type { Run } from "../run/run.ts";
import type { WorktreeRow } from "../schema/change.ts";
import { messageOf } from "../schema/error.ts";
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from "../tools/tool.ts";
import type { ChangeKeeper } from "./keep-changes.ts";
import { type MergeReport, mergeTarget, mergeWorktree } from "./merge.ts";
import { changesOfWorktree, type WorktreeParts } from "./worktrees.ts";

type MergeInput = { run: string; partial?: boolean };

/**
 * The tool by which a run brings the changes of an isolated child into its own project. Each file counts as a write of
 * the run that merges, with its rights, and in its books.
 */
export function createMergeTool(run: Run, parts: WorktreeParts, changes: ChangeKeeper): AnyTool {
  const { runId, projectDir } = run;
  const isMine = (row: WorktreeRow) => row.line.includes(runId) && row.runId !== runId;
  const find = async (id: string) => {
    const row = await parts.record.findWorktree({ runId: id });
    return row && isMine(row) ? row : undefined;
  };
  const mergeable = async () =>
    (await parts.record.listWorktrees()).filter((row) => row.status === "kept" && isMine(row));
  return defineTool<MergeInput>({
    name: "merge_changes",
    description:
      "Brings what an isolated sub-agent changed in its own copy into the project's files, three-way. If a file conflicts nothing is merged, and the conflicts are shown.",
    groups: ["filesystem"],
    judgedAs: "write",
    risk: "medium",
    replay: "safe",
    offered: run.children?.delegates.some((agent) => agent.workspace === "isolated") === true,
    input: {
      type: "object",
      properties: {
        run: { type: "string", minLength: 1, description: "The run_id of the sub-agent's result." },
        partial: { type: "boolean", description: "Merge the files that do not conflict all the same." },
      },
      required: ["run"],
      additionalProperties: false,
    },
    check: async ({ run: id }) => {
      if (await find(id)) return null;
      const known = (await mergeable()).map((row) => row.runId);
      return `there is no isolated sub-agent run '${id}' of yours; available: ${known.join(", ") || "none"}`;
    },
    access: async ({ run: id }, roots) => {
      const row = await find(id);
      const changed = row?.status === "kept" ? await changesOfWorktree(parts, row) : [];
      return Promise.all(changed.map(({ path }) => pathTarget(path, "write", roots)));
    },
    execute: async ({ run: id, partial = false }, context) => {
      const row = await find(id);
      if (!row) return { text: `there is no run '${id}'`, isError: true };
      if (row.status !== "kept") return notMergeable(row);
      try {
        if ((await mergeTarget(parts, row)) !== projectDir)
          return {
            text: `${id} did not begin with this project, so it cannot be merged here`,
            isError: true,
          };
        const output = await merge({ parts, changes }, row, partial, context);
        return { ...output, text: run.host.guards.escapeText(output.text), tainted: row.tainted };
      } catch (thrown) {
        return { text: `the merge failed: ${messageOf(thrown)}`, isError: true };
      }
    },
  });
}

async function merge(
  { parts, changes }: { parts: WorktreeParts; changes: ChangeKeeper },
  row: WorktreeRow,
  partial: boolean,
  context: ToolContext,
): Promise<ToolOutput> {
  const { runId, sessionId, rowId, projectDir, targets } = context;
  const judged = new Set(targets.flatMap((target) => (target.kind === "path" ? [target.relative] : [])));
  const report = await mergeWorktree(parts, {
    row,
    by: { runId, sessionId, messageId: rowId },
    partial,
    refuse: (path) => (judged.has(path) ? null : "it was not among the files that were looked at before"),
    locks: changes.locks,
  });
  for (const { path, kind } of report.merged) context.changed(`${projectDir}/${path}`, kind);
  return { text: reportText(report, row), isError: report.conflicts.length > 0 };
}

function notMergeable({ runId, status }: WorktreeRow): ToolOutput {
  if (status === "merged") return { text: `the changes of ${runId} are merged already` };
  if (status === "empty") return { text: `${runId} changed nothing; there is nothing to merge` };
  return { text: `${runId} has not ended yet, or its copy is gone (${status})`, isError: true };
}

/** What came of a merge, for the model and for a person. */
export function reportText({ merged, same, conflicts, done }: MergeReport, row: WorktreeRow): string {
  const lines = merged.map(({ path, kind }) => `${kind} ${path}`);
  if (same.length > 0) lines.push(`already as in ${row.runId}: ${same.join(", ")}`);
  if (done) return [`merged ${row.runId}`, ...lines].join("\n");
  const head =
    merged.length > 0
      ? `merged ${merged.length} files of ${row.runId}; ${conflicts.length} conflict and were left as they are`
      : `nothing was merged: ${conflicts.length} of the files of ${row.runId} conflict`;
  return [
    head,
    ...lines,
    ...conflicts.map(({ why }) => `\nCONFLICT ${why}`),
    `\nNothing is lost: the other version is kept in ${row.path}`,
  ].join("\n");
}
