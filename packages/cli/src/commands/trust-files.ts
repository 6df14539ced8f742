import type { Command } from "commander";
import type { TrustOptions } from "../history/trust-files.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue trust-files`. */
export function registerTrustFiles(program: Command, cli: Cli): void {
  program
    .command("trust-files")
    .summary("list and release what tainted runs wrote")
    .description(
      "list the files that runs wrote while they held untrusted text, or say that you have looked at them, so that reading them taints no run any more",
    )
    .argument("[files...]", "files that you have looked at")
    .option("--all", "you have looked at everything on the list")
    .addHelpText("after", listExamples("retinue trust-files", "retinue trust-files notes.txt"))
    .action(async (files: string[], _options: unknown, command: Command) => {
      const { trustFiles } = await import("../history/trust-files.ts");
      await trustFiles(files, command.optsWithGlobals<TrustOptions>(), cli.terminal);
    });
}
