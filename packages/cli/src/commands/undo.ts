import type { Command } from "commander";
import type { UndoOptions } from "../history/run-changes.ts";
import type { Cli } from "../terminal.ts";
import { listExamples, NAMED_CHANGES } from "./options.ts";

/** Registers `retinue undo`. */
export function registerUndo(program: Command, cli: Cli): void {
  program
    .command("undo")
    .summary("take back what a run changed")
    .description("take back what a run and everything below it changed in the project")
    .argument("<run>", NAMED_CHANGES)
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "only say what would be done")
    .option("--force", "also restore files that changed since")
    .addHelpText("after", listExamples("retinue undo last --dry-run", "retinue undo run_4f2 --yes"))
    .action(async (run: string, _options: unknown, command: Command) => {
      const { undoRun } = await import("../history/run-changes.ts");
      await undoRun(run, command.optsWithGlobals<UndoOptions>(), cli.terminal);
    });
}
