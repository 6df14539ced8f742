import { decide } from "../../permissions/decide.ts";
import { protectedLayer } from "../../permissions/protected-layer.ts";
import { createId } from "../../runtime/create-id.ts";
import { type MergeReport, mergeTarget, mergeWorktree } from "../../runtime/isolation/merge.ts";
import { reportText } from "../../runtime/isolation/merge-tool.ts";
import { sweepWorktrees } from "../../runtime/isolation/worktrees.ts";
import { layersByGit } from "../../runtime/project/layers-by-git.ts";
import { findPlaces } from "../../runtime/project/places.ts";
import type { WorktreeRow } from "../../schema/change.ts";
import { RetinueError } from "../../schema/error.ts";
import { EXIT } from "../exit-code.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine, plainText, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { type KeptChanges, nameChanges, withChanges } from "./with-changes.ts";

/** Options of `retinue merge`. */
export type MergeOptions = CommonOptions & { list?: boolean; partial?: boolean };

/** `retinue merge`: brings what isolated runs changed into the project's files: one run's, or all of a session. */
export async function mergeRun(
  name: string | undefined,
  options: MergeOptions,
  terminal: Terminal,
): Promise<number> {
  if (options.list) return listCopies(options, terminal);
  if (name === undefined)
    throw new RetinueError("usage", "which run is to be merged?", "see them with: retinue merge --list");
  return withChanges(terminal, name, async (kept) => {
    const reports: (MergeReport & { run: string })[] = [];
    for (const row of findCopies(kept, nameChanges(kept.store, name, options, terminal))) {
      const report = await merge(kept, row, options, terminal);
      reports.push({ run: row.runId, ...report });
      if (options.json) continue;
      terminal.print(plainText(reportText(report, row)));
      if (report.act) terminal.print(`take this back with: retinue undo ${report.act}`);
    }
    if (options.json) terminal.print(JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2));
    return reports.some(({ conflicts }) => conflicts.length > 0) ? EXIT.failed : EXIT.ok;
  });
}

async function merge(
  kept: KeptChanges,
  row: WorktreeRow,
  { partial = false }: MergeOptions,
  terminal: Terminal,
): Promise<MergeReport & { act: string | null }> {
  const release = kept.store.takeLease(row.sessionId);
  try {
    const act = createId("mrg");
    const by = { runId: act, sessionId: row.sessionId, messageId: null };
    const refuse = protectedFiles(mergeTarget(kept, row), terminal);
    const report = await mergeWorktree(kept, { row, by, partial, refuse });
    return { ...report, act: report.merged.length > 0 ? act : null };
  } finally {
    release();
  }
}

/** Not even with a person's help does an agent change agent files, settings or hooks: those are to be edited by hand. */
function protectedFiles(into: string, terminal: Terminal): (path: string) => string | null {
  const places = findPlaces(terminal.env);
  const layer = protectedLayer(places);
  return (relative) => {
    const path = `${into}/${relative}`;
    const target = {
      kind: "path" as const,
      path,
      root: "project" as const,
      relative,
      mode: "write" as const,
    };
    const { verdict, rule } = decide([layer, ...layersByGit(into, [path], places)], {
      tool: "write",
      groups: ["filesystem"],
      targets: [target],
    });
    return verdict === "deny" ? `protected (${rule}); change it by hand if you want that` : null;
  };
}

/** The copies that a name stands for: a run's own, else those below it, or a session's; a copy within another one first. */
function findCopies({ store }: KeptChanges, name: string): readonly WorktreeRow[] {
  const live = store.liveWorktrees().filter((row) => row.status === "kept");
  const fitting = live.filter((row) => row.runId.startsWith(name));
  const only = fitting.find((row) => fitting.length === 1 || row.runId === name);
  if (only) return [only];
  const below = fitting.length > 1 ? [] : live.filter(isWithin(store, name));
  if (below.length > 0) return below.toSorted((a, b) => b.line.length - a.line.length);
  const ended = store.worktree(name);
  if (ended?.status === "merged") throw new RetinueError("input", `${name} is merged already`);
  if (ended?.status === "open")
    throw new RetinueError("input", `${name} has not ended yet`, "go on with it first: retinue resume");
  const known = live.map((row) => row.runId).join(", ") || "none";
  const kind = name.startsWith("ses_") ? "session" : "run";
  const what =
    fitting.length > 1 ? `'${name}' fits several runs` : `no ${kind} '${name}' has changes to merge`;
  throw new RetinueError("input", `${what}; available: ${known}`, "see them with: retinue merge --list");
}

function isWithin(store: KeptChanges["store"], name: string): (row: WorktreeRow) => boolean {
  if (name.startsWith("ses_")) {
    const { session_id: id } = store.findSession(name);
    return ({ sessionId }) => sessionId === id;
  }
  const [run, ...others] = store.runsLike(name);
  return ({ line }) => run !== undefined && others.length === 0 && line.includes(run.id);
}

async function listCopies(options: MergeOptions, terminal: Terminal): Promise<number> {
  const rows = await withChanges(terminal, "", async (kept) => {
    await sweepWorktrees(kept);
    return kept.store.liveWorktrees();
  }).catch((thrown) => {
    if (thrown instanceof RetinueError && thrown.code === "input") return [];
    throw thrown;
  });
  if (options.json) terminal.print(JSON.stringify(rows, null, 2));
  else if (rows.length === 0) terminal.print("nothing waits to be merged");
  else {
    const cells = rows.map((row) => [
      row.runId,
      row.agent,
      row.status === "kept" ? "ended" : "not ended",
      plainLine(row.into, 60),
      plainLine(row.path, 120),
    ]);
    terminal.print(table([["RUN", "AGENT", "STATE", "PROJECT", "COPY"], ...cells]).join("\n"));
  }
  return EXIT.ok;
}
