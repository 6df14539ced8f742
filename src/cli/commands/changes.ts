import { type Command, Option } from "commander";
import type { MergeOptions } from "../changes/merge-run.ts";
import type { DiffOptions } from "../changes/show-diff.ts";
import type { TrustOptions } from "../changes/trust-files.ts";
import type { UndoOptions } from "../changes/undo-run.ts";
import type { Cli } from "../program.ts";

const NAMED =
  "id of a run, a session, a merge or an undo, or the beginning of it; `last` for this project's last session";

/** Registers `retinue diff`, `undo`, `merge` and `trust-files`: what became of the project's files. */
export function registerChanges(program: Command, cli: Cli): void {
  registerDiff(program, cli);
  registerUndo(program, cli);
  registerMerge(program, cli);
  registerTrust(program, cli);
}

function registerDiff(program: Command, cli: Cli): void {
  program
    .command("diff")
    .description("show what a run and everything below it changed")
    .argument("<run>", NAMED)
    .option("--stat", "only the names of the files and how many lines changed")
    .action(async (run: string, _options: unknown, command: Command) => {
      const { showDiff } = await import("../changes/show-diff.ts");
      await showDiff(run, command.optsWithGlobals<DiffOptions>(), cli.terminal);
    });
}

function registerUndo(program: Command, cli: Cli): void {
  program
    .command("undo")
    .description("take back what a run and everything below it changed in the project")
    .argument("<run>", NAMED)
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "only say what would be done")
    .option("--force", "also restore files that changed since")
    .action(async (run: string, _options: unknown, command: Command) => {
      const { undoRun } = await import("../changes/undo-run.ts");
      await undoRun(run, command.optsWithGlobals<UndoOptions>(), cli.terminal);
    });
}

function registerMerge(program: Command, cli: Cli): void {
  program
    .command("merge")
    .description("bring what isolated runs changed in their own copies into the project's files")
    .argument("[run]", "id of the run or session, the beginning of it, or last")
    .option("--list", "list the copies that wait to be merged")
    .option("--partial", "merge the files that do not conflict even if others do")
    .addOption(
      new Option("--abort-on-conflict", "merge nothing if a file conflicts (the default)").conflicts(
        "partial",
      ),
    )
    .action(async (run: string | undefined, _options: unknown, command: Command) => {
      const { mergeRun } = await import("../changes/merge-run.ts");
      cli.exitCode = await mergeRun(run, command.optsWithGlobals<MergeOptions>(), cli.terminal);
    });
}

function registerTrust(program: Command, cli: Cli): void {
  program
    .command("trust-files")
    .description(
      "list the files that runs wrote while they held untrusted text, or say that you have looked at them, so that reading them taints no run any more",
    )
    .argument("[files...]", "files that you have looked at")
    .option("--all", "you have looked at everything on the list")
    .action(async (files: string[], _options: unknown, command: Command) => {
      const { trustFiles } = await import("../changes/trust-files.ts");
      await trustFiles(files, command.optsWithGlobals<TrustOptions>(), cli.terminal);
    });
}
