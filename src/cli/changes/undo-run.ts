import { createInterface } from "node:readline/promises";
import { planUndo, type UndoPlan, undoChanges } from "../../runtime/changes/undo.ts";
import { RetinueError } from "../../schema/error.ts";
import { countOf } from "../measures.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { type KeptChanges, nameChanges, withChanges } from "./with-changes.ts";

/** Options of `retinue undo`. */
export type UndoOptions = CommonOptions & { yes?: boolean; dryRun?: boolean; force?: boolean };

/** `retinue undo`: takes back what a run and everything below it changed in the project. */
export async function undoRun(name: string, options: UndoOptions, terminal: Terminal): Promise<void> {
  await withChanges(terminal, name, async (kept) => {
    const plan = await planUndo(kept, nameChanges(kept.store, name, options, terminal));
    if (options.dryRun) return showPlan(plan, options, terminal);
    for (const text of plan.unkept) terminal.tell(`warning: cannot be taken back: ${plainLine(text, 300)}`);
    if (plan.steps.length > 0 && (plan.conflicts.length === 0 || options.force))
      await confirm(plan, options, terminal);
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
    terminal.print(`${gone.has(path) ? "removed" : "restored"} ${plainLine(path, 300)}`);
  for (const path of left) terminal.tell(`left because something is in it: ${plainLine(path, 300)}`);
  terminal.print(`undid ${scope.id}; take this back with: retinue undo ${act}`);
}

function showPlan(plan: UndoPlan, { json }: UndoOptions, terminal: Terminal): void {
  const { steps, conflicts, unkept } = plan;
  const files = steps.map(({ path, now, target }) => ({
    path,
    does: target === null ? "remove" : now === null ? "create" : "restore",
  }));
  const lines = [
    ...files.map(({ path, does }) => `${does} ${plainLine(path, 300)}`),
    ...conflicts.map(({ path, why }) => `conflict ${plainLine(path, 300)}: ${why}`),
  ];
  const text = lines.length > 0 ? lines.join("\n") : "nothing to undo";
  const data = { undo: plan.scope.id, files, conflicts, not_kept: unkept };
  terminal.print(json ? JSON.stringify(data, null, 2) : text);
  for (const lost of unkept) terminal.tell(`warning: cannot be taken back: ${plainLine(lost, 300)}`);
}

/** Without a terminal there is nobody to ask, and a command that changes files does not guess. */
async function confirm(plan: UndoPlan, { yes }: UndoOptions, terminal: Terminal): Promise<void> {
  if (yes) return;
  const what = `undo ${plan.scope.id}: ${countOf(plan.steps.length, "path")} in ${plainLine(plan.root, 200)}`;
  if (!terminal.interactive)
    throw new RetinueError("usage", `${what} needs a yes`, "add --yes, or look first with --dry-run");
  terminal.prompt(`${what}? [y/N] `);
  const lines = createInterface({ input: terminal.stdin, terminal: false });
  const answer = await new Promise<string>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(""));
  });
  lines.close();
  terminal.stdin.pause();
  if (!/^\s*y(?:es)?\s*$/i.test(answer)) throw new RetinueError("denied", "nothing was undone");
}
