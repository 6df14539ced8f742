import { join } from "node:path";
import { type MergeReport, mergeTarget, mergeWorktree } from "@retinue/core/changes/merge";
import { reportText } from "@retinue/core/changes/merge-tool";
import { patchStat } from "@retinue/core/changes/patch";
import { showChanges } from "@retinue/core/changes/show";
import { planUndo, type UndoPlan, undoChanges } from "@retinue/core/changes/undo";
import { sweepWorktrees } from "@retinue/core/changes/worktrees";
import { layersByGit } from "@retinue/core/git/layers-by-git";
import { type BlobStore, createBlobStore } from "@retinue/core/record/checkpoints/blob-store";
import type { Store } from "@retinue/core/record/create-store";
import { decide } from "@retinue/core/rights/decide";
import { protectedLayer } from "@retinue/core/rights/protected-layer";
import type { WorktreeRow } from "@retinue/core/schema/change";
import { RetinueError } from "@retinue/core/schema/error";
import { createId } from "@retinue/core/session/create-id";
import { findPlaces } from "@retinue/core/settings/places";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine, stripControls } from "@retinue/core/text/plain-text";
import { confirm } from "../ask.ts";
import { EXIT } from "../exit-code.ts";
import type { CommonOptions } from "../open-project.ts";
import { findSession, withRecord } from "../open-record.ts";
import { drawTable } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";

/** Options of `retinue diff`. */
export type DiffOptions = CommonOptions & { stat?: boolean };

/** `retinue diff`: what a run and everything below it changed. */
export async function showDiff(name: string, options: DiffOptions, terminal: Terminal): Promise<void> {
  const { scope, folders, unkept, untrusted } = await withChanges(terminal, name, async (kept) => {
    const shown = await showChanges(kept, nameChanges(kept.store, name, options, terminal));
    const written = shown.scope.changes.filter(
      ({ after }) => after && kept.store.hasUntrustedHash(after.hash),
    );
    return { ...shown, untrusted: [...new Set(written.map(({ path }) => path))] };
  });
  if (options.json) {
    const shown = folders.map(({ root, isProject, patches }) => ({
      root,
      project: isProject,
      files: patches.map(({ text, ...file }) => (options.stat ? file : { ...file, patch: text })),
    }));
    return terminal.print(
      JSON.stringify({ id: scope.id, folders: shown, not_kept: unkept, untrusted }, null, 2),
    );
  }
  for (const text of unkept) terminal.tell(`warning: ${cutToLine(text, 300)}`);
  if (folders.length === 0) return terminal.tell(`${scope.id} changed no files`);
  for (const { root, isProject, patches } of folders) {
    if (!isProject) terminal.tell(`in the run's own copy ${cutToLine(root, 200)}:`);
    const lines = options.stat ? patchStat(patches) : patches.map((patch) => patch.text);
    terminal.print(stripControls(lines.join("\n")));
  }
  if (untrusted.length === 0) return;
  const files = cutToLine(untrusted.join(" "), 2_000);
  terminal.tell(`untrusted until you have looked; then: retinue trust-files ${files}`);
}

/** Options of `retinue undo`. */
export type UndoOptions = CommonOptions & { yes?: boolean; dryRun?: boolean; force?: boolean };

/** `retinue undo`: takes back what a run and everything below it changed in the project. */
export async function undoRun(name: string, options: UndoOptions, terminal: Terminal): Promise<void> {
  await withChanges(terminal, name, async (kept) => {
    const plan = await planUndo(kept, nameChanges(kept.store, name, options, terminal));
    if (options.dryRun) return showPlan(plan, options, terminal);
    for (const text of plan.unkept) terminal.tell(`warning: cannot be taken back: ${cutToLine(text, 300)}`);
    const what = `undo ${plan.scope.id}: ${showCount(plan.steps.length, "path")} in ${cutToLine(plan.root, 200)}`;
    const isAsked = plan.steps.length > 0 && (plan.conflicts.length === 0 || options.force);
    if (isAsked && !(await confirm(what, options, terminal)))
      throw new RetinueError("denied", "nothing was undone");
    return report(kept, plan, options, terminal);
  });
}

async function report(
  kept: KeptChanges,
  { scope, steps }: UndoPlan,
  options: UndoOptions,
  terminal: Terminal,
): Promise<void> {
  const { act, restored, left } = await undoChanges(kept, scope.id, options.force === true);
  if (options.json) return terminal.print(JSON.stringify({ undone: scope.id, act, restored, left }, null, 2));
  if (!act) return terminal.print(`nothing to undo: the project is as it was before ${scope.id}`);
  const gone = new Set(steps.flatMap(({ path, target }) => (target === null ? [path] : [])));
  for (const path of restored)
    terminal.print(`${gone.has(path) ? "removed" : "restored"} ${cutToLine(path, 300)}`);
  for (const path of left) terminal.tell(`left because something is in it: ${cutToLine(path, 300)}`);
  terminal.print(`undid ${scope.id}; take this back with: retinue undo ${act}`);
}

function showPlan(plan: UndoPlan, { json }: UndoOptions, terminal: Terminal): void {
  const { steps, conflicts, unkept } = plan;
  const files = steps.map(({ path, now, target }) => ({
    path,
    does: target === null ? "remove" : now === null ? "create" : "restore",
  }));
  const lines = [
    ...files.map(({ path, does }) => `${does} ${cutToLine(path, 300)}`),
    ...conflicts.map(({ path, why }) => `conflict ${cutToLine(path, 300)}: ${why}`),
  ];
  const text = lines.length > 0 ? lines.join("\n") : "nothing to undo";
  const data = { undo: plan.scope.id, files, conflicts, not_kept: unkept };
  terminal.print(json ? JSON.stringify(data, null, 2) : text);
  for (const lost of unkept) terminal.tell(`warning: cannot be taken back: ${cutToLine(lost, 300)}`);
}

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
    throw new RetinueError("usage", "which run should be merged?", "see them with: retinue merge --list");
  return withChanges(terminal, name, async (kept) => {
    const reports: (MergeReport & { run: string })[] = [];
    for (const row of findCopies(kept, nameChanges(kept.store, name, options, terminal))) {
      const report = await merge(kept, row, options, terminal);
      reports.push({ run: row.runId, ...report });
      if (options.json) continue;
      terminal.print(stripControls(reportText(report, row)));
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

/** A merge never changes agent files, settings or hooks, even when a person runs it: people edit those by hand. */
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
      cutToLine(row.into, 60),
      cutToLine(row.path, 120),
    ]);
    terminal.print(drawTable([["RUN", "AGENT", "STATE", "PROJECT", "COPY"], ...cells]).join("\n"));
  }
  return EXIT.ok;
}

/** Where changes are kept: the record and the contents beside it. */
type KeptChanges = { store: Store; blobs: BlobStore; dataDir: string };

/** Opens the kept changes for `work`; an error if nothing was ever recorded. */
async function withChanges<Value>(
  terminal: Terminal,
  name: string,
  work: (kept: KeptChanges) => Promise<Value>,
): Promise<Value> {
  const { dataDir } = findPlaces(terminal.env);
  const blobs = createBlobStore(join(dataDir, "blobs"));
  const answer = await withRecord(terminal, async (store) => ({
    value: await work({ store, blobs, dataDir }),
  }));
  if (answer) return answer.value;
  const hint = "start one with: retinue run";
  throw new RetinueError("input", `no run or session '${name}'; there are none yet`, hint);
}

/** What a person names: `last` is this project's last session, because nobody means the files of another folder. */
function nameChanges(store: Store, name: string, options: CommonOptions, terminal: Terminal): string {
  return name === "last" ? findSession(store, name, options, terminal).session_id : name;
}
