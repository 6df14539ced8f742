import { planUndo, type UndoPlan, undoChanges } from "@retinue/core/changes/undo";
import { RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine, writeJson } from "@retinue/core/text/plain-text";
import { confirm } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { type KeptChanges, NAMED_CHANGES, withChanges } from "../open-record.ts";
import { type Cli, printResult } from "../terminal.ts";

/** Declares `retinue undo`. */
export default function registerUndo(command: CliCommand): void {
  command
    .description("take back what a run and everything below it changed in the project")
    .argument("<run>", NAMED_CHANGES)
    .shares("yes")
    .option("--dry-run", "only say what would be done")
    .option("--force", "also restore files that changed since")
    .examples("retinue undo last --dry-run", "retinue undo run_4f2 --yes")
    .performs(undoRun);
}

type UndoOptions = { yes?: boolean; dryRun?: boolean; force?: boolean };

async function undoRun(name: string, cli: Cli<UndoOptions>): Promise<void> {
  await withChanges(name, cli, async (kept, id) => {
    const plan = await planUndo(kept, id);
    if (cli.options.dryRun) return showPlan(plan, cli);
    for (const text of plan.unkept) cli.tell(`warning: cannot be taken back: ${cutToLine(text, 300)}`);
    const what = `undo ${plan.scope.id}: ${showCount(plan.steps.length, "path")} in ${cutToLine(plan.root, 200)}`;
    const isAsked = plan.steps.length > 0 && (plan.conflicts.length === 0 || cli.options.force);
    if (isAsked && !(await confirm(what, cli))) throw new RetinueError("denied", "nothing was undone");
    return report(kept, plan, cli);
  });
}

async function report(kept: KeptChanges, { scope, steps }: UndoPlan, cli: Cli<UndoOptions>): Promise<void> {
  const { act, restored, left } = await undoChanges(kept, scope.id, cli.options.force === true);
  if (cli.options.json) return cli.print(writeJson({ undone: scope.id, act, restored, left }, 2));
  if (!act) return cli.print(`nothing to undo: the project is as it was before ${scope.id}`);
  const gone = new Set(steps.flatMap(({ path, target }) => (target === null ? [path] : [])));
  for (const path of restored)
    cli.print(`${gone.has(path) ? "removed" : "restored"} ${cutToLine(path, 300)}`);
  for (const path of left) cli.tell(`left because something is in it: ${cutToLine(path, 300)}`);
  cli.print(`undid ${scope.id}; take this back with: retinue undo ${act}`);
}

function showPlan(plan: UndoPlan, cli: Cli<UndoOptions>): void {
  const { steps, conflicts, unkept } = plan;
  const files = steps.map(({ path, now, target }) => ({
    path,
    does: target === null ? "remove" : now === null ? "create" : "restore",
  }));
  const lines = [
    ...files.map(({ path, does }) => `${does} ${cutToLine(path, 300)}`),
    ...conflicts.map(({ path, why }) => `conflict ${cutToLine(path, 300)}: ${why}`),
  ];
  printResult(cli, {
    value: { undo: plan.scope.id, files, conflicts, not_kept: unkept },
    text: () => (lines.length > 0 ? lines : "nothing to undo"),
  });
  for (const lost of unkept) cli.tell(`warning: cannot be taken back: ${cutToLine(lost, 300)}`);
}
