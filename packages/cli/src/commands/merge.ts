import { type MergeReport, mergeTarget, mergeWorktree } from "@retinue/core/changes/merge";
import { reportText } from "@retinue/core/changes/merge-tool";
import { sweepWorktrees } from "@retinue/core/changes/worktrees";
import { layersByGit } from "@retinue/core/git/git-places";
import { decide } from "@retinue/core/rights/decide";
import { protectedLayer } from "@retinue/core/rights/protected-layer";
import { createId } from "@retinue/core/run/create-id";
import type { WorktreeRow } from "@retinue/core/schema/change";
import { RetinueError } from "@retinue/core/schema/error";
import { findPlaces } from "@retinue/core/settings/places";
import { cutToLine, stripControls, writeJson } from "@retinue/core/text/plain-text";
import { Option } from "commander";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { type KeptChanges, openKept, withChanges, withRecord } from "../open-record.ts";
import { type Cli, printResult, type Terminal } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";

/** Declares `retinue merge`. */
export default function registerMerge(command: CliCommand): void {
  command
    .description("bring what isolated runs changed in their own copies into the project's files")
    .argument("[run]", "id of the run or session, the beginning of it, or last")
    .option("--list", "list the copies that wait to be merged")
    .option("--partial", "merge the files that do not conflict even if others do")
    .addOption(
      new Option("--abort-on-conflict", "merge nothing if a file conflicts (the default)").conflicts(
        "partial",
      ),
    )
    .examples("retinue merge --list", "retinue merge run_4f2")
    .performs(mergeRun);
}

type MergeOptions = { list?: boolean; partial?: boolean };

/** `retinue merge`: brings what isolated runs changed into the project's files: one run's, or all of a session. */
async function mergeRun(name: string | undefined, cli: Cli<MergeOptions>): Promise<number> {
  if (cli.options.list) return listCopies(cli);
  if (name === undefined)
    throw new RetinueError("usage", "which run should be merged?", "see them with: retinue merge --list");
  return withChanges(name, cli, async (kept, id) => {
    const reports: (MergeReport & { run: string })[] = [];
    for (const row of await findCopies(kept, id)) {
      const report = await merge(kept, row, cli);
      reports.push({ run: row.runId, ...report });
      if (cli.options.json) continue;
      cli.print(stripControls(reportText(report, row)));
      if (report.act) cli.print(`take this back with: retinue undo ${report.act}`);
    }
    if (cli.options.json) cli.print(writeJson(reports.length === 1 ? reports[0] : reports, 2));
    return reports.some(({ conflicts }) => conflicts.length > 0) ? EXIT.failed : EXIT.ok;
  });
}

async function merge(
  kept: KeptChanges,
  row: WorktreeRow,
  cli: Cli<MergeOptions>,
): Promise<MergeReport & { act: string | null }> {
  const { partial = false } = cli.options;
  const release = await kept.record.takeLease(row.sessionId);
  try {
    const act = createId("mrg");
    const by = { runId: act, sessionId: row.sessionId, messageId: null };
    const refuse = protectedFiles(await mergeTarget(kept, row), cli);
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

/** The copies that a name means: a run's own, else those below it, or a session's; a copy within another one first. */
async function findCopies({ record }: KeptChanges, name: string): Promise<readonly WorktreeRow[]> {
  const live = (await record.listWorktrees()).filter((row) => row.status === "kept");
  const fitting = live.filter((row) => row.runId.startsWith(name));
  const only = fitting.find((row) => fitting.length === 1 || row.runId === name);
  if (only) return [only];
  const below = fitting.length > 1 ? [] : live.filter(await isWithin(record, name));
  if (below.length > 0) return below.toSorted((a, b) => b.line.length - a.line.length);
  const ended = await record.findWorktree({ runId: name });
  if (ended?.status === "merged") throw new RetinueError("input", `${name} is merged already`);
  if (ended?.status === "open")
    throw new RetinueError("input", `${name} has not ended yet`, "go on with it first: retinue resume");
  const known = live.map((row) => row.runId).join(", ") || "none";
  const kind = name.startsWith("ses_") ? "session" : "run";
  const what =
    fitting.length > 1 ? `'${name}' fits several runs` : `no ${kind} '${name}' has changes to merge`;
  throw new RetinueError("input", `${what}; available: ${known}`, "see them with: retinue merge --list");
}

async function isWithin(record: KeptChanges["record"], name: string): Promise<(row: WorktreeRow) => boolean> {
  if (name.startsWith("ses_")) {
    const { session_id: id } = await record.findSession(name);
    return ({ sessionId }) => sessionId === id;
  }
  const [run, ...others] = await record.findRuns(name);
  return ({ line }) => run !== undefined && others.length === 0 && line.includes(run.id);
}

async function listCopies(cli: Cli<MergeOptions>): Promise<number> {
  const rows = await withRecord(cli, async (record) => {
    await sweepWorktrees(openKept(record, cli));
    return record.listWorktrees();
  });
  printResult(cli, { value: rows ?? [], text: () => drawCopies(rows ?? []) });
  return EXIT.ok;
}

function drawCopies(rows: readonly WorktreeRow[]): string[] {
  if (rows.length === 0) return ["nothing waits to be merged"];
  const cells = rows.map((row) => [
    row.runId,
    row.agent,
    row.status === "kept" ? "ended" : "not ended",
    cutToLine(row.into, 60),
    cutToLine(row.path, 120),
  ]);
  return drawTable([["RUN", "AGENT", "STATE", "PROJECT", "COPY"], ...cells]);
}
