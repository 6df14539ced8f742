import type { Command } from "commander";
import type { CancelOptions } from "../../cancel/cancel-work.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue cancel`. */
export function registerCancel(program: Command, cli: Cli): void {
  program
    .command("cancel")
    .description("end a session, or one run with everything below it, whichever process has it")
    .argument(
      "<id>",
      "id of a session or a run, or a unique beginning of it; `last` for this project's last session",
    )
    .option("--no-wait", "do not wait until it has ended")
    .addHelpText("after", EXAMPLES)
    .action(async (id: string, _options: unknown, command: Command) => {
      const { cancelWork } = await import("../../cancel/cancel-work.ts");
      cli.exitCode = await cancelWork(id, command.optsWithGlobals<CancelOptions>(), cli.terminal);
    });
}

const EXAMPLES = `
Examples:
  retinue cancel last
  retinue cancel run_abc`;
