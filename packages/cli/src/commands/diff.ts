import type { Command } from "commander";
import type { DiffOptions } from "../history/run-changes.ts";
import type { Cli } from "../terminal.ts";
import { listExamples, NAMED_CHANGES } from "./options.ts";

/** Registers `retinue diff`. */
export function registerDiff(program: Command, cli: Cli): void {
  program
    .command("diff")
    .summary("show what a run changed")
    .description("show what a run and everything below it changed")
    .argument("<run>", NAMED_CHANGES)
    .option("--stat", "only the names of the files and how many lines changed")
    .addHelpText("after", listExamples("retinue diff last", "retinue diff run_4f2 --stat"))
    .action(async (run: string, _options: unknown, command: Command) => {
      const { showDiff } = await import("../history/run-changes.ts");
      await showDiff(run, command.optsWithGlobals<DiffOptions>(), cli.terminal);
    });
}
