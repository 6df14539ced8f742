import { planUndo, type UndoPlan, undoChanges } from "@retinue/core/changes/undo";
import { RetinueError } from "@retinue/core/schema/error";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine, writeJson } from "@retinue/core/text/plain-text";
import { confirm } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import type { CommonOptions } from "../open-project.ts";
import { type KeptChanges, NAMED_CHANGES, nameChanges, withChanges } from "../open-record.ts";
import { printResult, type Terminal } from "../terminal.ts";

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

type UndoOptions = CommonOptions & { yes?: boolean; dryRun?: boolean; force?: boolean };

/** `retinue undo`: takes back what a run and everything below it changed in the project. */
async function undoRun(name: string, options: UndoOptions, terminal: Terminal): Promise<void> {
  await withChanges(terminal, name, async (kept) => {
    const plan = await planUndo(kept, await nameChanges(kept.record, name, options, terminal));
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
  if (options.json) return terminal.print(writeJson({ undone: scope.id, act, restored, left }, 2));
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
  printResult({ json }, terminal, {
    value: { undo: plan.scope.id, files, conflicts, not_kept: unkept },
    text: () => (lines.length > 0 ? lines : "nothing to undo"),
  });
  for (const lost of unkept) terminal.tell(`warning: cannot be taken back: ${cutToLine(lost, 300)}`);
}
