import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Run, SpawnRequest } from "../run/run.ts";
import type { WorktreeRow } from "../schema/change.ts";
import { messageOf, RetinueError } from "../schema/error.ts";
import type { IsolatedChanges, RunResult } from "../schema/result.ts";
import { listFiles } from "../schema/subtree.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { ChangeKeeper } from "./keep-changes.ts";
import { createMergeTool } from "./merge-tool.ts";
import { createPatches, type FileStates } from "./patch.ts";
import { nameChange } from "./state.ts";
import {
  changesOfWorktree,
  hiddenRef,
  makeWorktree,
  removeWorktree,
  sweepWorktrees,
  type WorktreeParts,
} from "./worktrees.ts";

/** Gives runs their own copies of the project, and takes stock of them when the runs end. */
export type Isolation = {
  /** The folder that is a run's project: its parent's, or a copy of that for an isolated run. */
  enter(request: SpawnRequest): Promise<string>;
  /** The result with what an isolated run changed, and with a word on changes below the run that nobody merged. */
  leave(run: Run, result: RunResult): Promise<RunResult>;
  /** The tool by which a run brings in what an isolated child changed. */
  createMergeTool(run: Run): AnyTool;
};

/** Creates the isolation of a runtime. */
export function createIsolation(parts: WorktreeParts, changes: ChangeKeeper): Isolation {
  let swept: Promise<void> | undefined;
  return {
    createMergeTool: (run) => createMergeTool(run, parts, changes),
    async enter({ session, parent, profile, runId, resume }) {
      const shared = parent?.projectDir ?? session.projectDir;
      if (profile.agent.workspace === "shared") return shared;
      swept ??= sweepWorktrees(parts).catch(() => {});
      await swept;
      const earlier = resume ? await parts.record.findWorktree({ runId }) : undefined;
      if (earlier?.status === "open" || earlier?.status === "kept") return reenter(earlier);
      const { path } = await makeWorktree(parts, {
        runId,
        sessionId: session.id,
        agent: profile.agent.name,
        line: [...(parent?.line ?? []), runId],
        from: shared,
        nowMs: session.host.clock.wallMs(),
      });
      return path;
    },
    async leave(run, result) {
      const { parent, session } = run;
      const shared = parent?.projectDir ?? session.projectDir;
      const own =
        run.projectDir === shared ? undefined : await parts.record.findWorktree({ runId: run.runId });
      const left = own ? await takeStock(run, own, result) : result;
      const unmerged = await unmergedBelow(run);
      return unmerged.length > 0 ? { ...left, warnings: [...left.warnings, ...unmerged] } : left;
    },
  };

  /** A run goes on in its copy, also if its process ended after its changes were counted and before it had ended itself. */
  async function reenter(row: WorktreeRow): Promise<string> {
    if (!existsSync(row.path))
      throw new RetinueError(
        "failed",
        `the run's own copy of the project is not there any more: ${row.path}`,
      );
    await parts.record.write({ kind: "worktree.save", row: { ...row, status: "open" } });
    return row.path;
  }

  async function takeStock(run: Run, row: WorktreeRow, result: RunResult): Promise<RunResult> {
    try {
      await changes.forget(row.path);
      const changed = await changesOfWorktree(parts, row);
      if (changed.length === 0) {
        await removeWorktree(parts, row, "empty");
        return withFiles(result, []);
      }
      await parts.record.write({
        kind: "worktree.save",
        row: { ...row, status: "kept", tainted: result.tainted },
      });
      return withFiles({ ...result, changes: await describe(run, row, changed) }, changed);
    } catch (thrown) {
      const text = `what it changed could not be read: ${messageOf(thrown)}; its files are in ${row.path}`;
      return { ...result, warnings: [...result.warnings, run.host.redactor.redact(text)] };
    }
  }

  async function describe(
    run: Run,
    row: WorktreeRow,
    changed: readonly FileStates[],
  ): Promise<IsolatedChanges> {
    const patches = await createPatches(changed, parts.blobs);
    const text = run.host.redactor.redact(patches.map((patch) => patch.text).join("\n"));
    const diff = await run.host.workplace
      .saveArtefact(run.parent ?? run, `changes-${run.runId}.diff`, `${text}\n`)
      .catch(() => null);
    return {
      files: patches.map(({ path, kind, added, removed }) => ({ path, kind, added, removed })),
      worktree: row.path,
      base: row.baseCommit ?? row.baseTree ?? "",
      ref: row.baseCommit ? hiddenRef(row.runId) : null,
      diff,
    };
  }

  async function unmergedBelow({ children, runId, projectDir }: Run): Promise<string[]> {
    if (!children?.delegates.some((agent) => agent.workspace === "isolated")) return [];
    return (await parts.record.listWorktrees())
      .filter((row) => row.status === "kept" && row.runId !== runId)
      .filter((row) => row.line.includes(runId) && row.into === projectDir)
      .map((row) => `changes of ${row.agent} are not merged: retinue merge ${row.runId}`);
  }
}

/** Files of the copy as they were measured; those outside it as they were reported. */
function withFiles(result: RunResult, changed: readonly FileStates[]): RunResult {
  const outside = (files: readonly string[]) => files.filter((file) => isAbsolute(file));
  const inside = listFiles(changed.map(({ path, before, after }) => [path, nameChange(before, after)]));
  return {
    ...result,
    files_created: [...outside(result.files_created), ...inside.files_created],
    files_modified: [...outside(result.files_modified), ...inside.files_modified],
    files_deleted: [...outside(result.files_deleted), ...inside.files_deleted],
  };
}
