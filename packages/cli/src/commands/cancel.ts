import type { Command } from "commander";
import type { Cli } from "../terminal.ts";
import type { CancelOptions } from "../work/cancel-work.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue cancel`. */
export function registerCancel(program: Command, cli: Cli): void {
  program
    .command("cancel")
    .summary("end a session or a run")
    .description("end a session, or one run with everything below it, whichever process has it")
    .argument(
      "<id>",
      "id of a session or a run, or a unique beginning of it; `last` for this project's last session",
    )
    .option("--no-wait", "do not wait until it has ended")
    .addHelpText("after", listExamples("retinue cancel last", "retinue cancel run_abc"))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { cancelWork } = await import("../work/cancel-work.ts");
      cli.exitCode = await cancelWork(id, command.optsWithGlobals<CancelOptions>(), cli.terminal);
    });
}
