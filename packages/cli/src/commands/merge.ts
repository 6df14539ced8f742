import { type Command, Option } from "commander";
import type { MergeOptions } from "../history/run-changes.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue merge`. */
export function registerMerge(program: Command, cli: Cli): void {
  program
    .command("merge")
    .summary("bring in what an isolated run changed")
    .description("bring what isolated runs changed in their own copies into the project's files")
    .argument("[run]", "id of the run or session, the beginning of it, or last")
    .option("--list", "list the copies that wait to be merged")
    .option("--partial", "merge the files that do not conflict even if others do")
    .addOption(
      new Option("--abort-on-conflict", "merge nothing if a file conflicts (the default)").conflicts(
        "partial",
      ),
    )
    .addHelpText("after", listExamples("retinue merge --list", "retinue merge run_4f2"))
    .action(async (run: string | undefined, _options: unknown, command: Command) => {
      const { mergeRun } = await import("../history/run-changes.ts");
      cli.exitCode = await mergeRun(run, command.optsWithGlobals<MergeOptions>(), cli.terminal);
    });
}
