import type { Command } from "commander";
import type { Cli } from "../terminal.ts";
import type { TuiOptions } from "../tui/engine.ts";
import { createModeOption, listExamples } from "./options.ts";

/** Registers `retinue tui`, which is also what `retinue` alone does on a terminal. */
export function registerTui(program: Command, cli: Cli): void {
  program
    .command("tui")
    .summary("talk with agents on the whole screen")
    .description("talk with agents on the whole screen; `retinue` alone does the same")
    .option("--agent <name>", "the agent that answers; `main` or the only one by default")
    .option("-m, --model <model>", "an alias or provider/model-id")
    .addOption(createModeOption())
    .option("-c, --continue", "go on in the newest session of this project")
    .option("-r, --resume <id>", "go on in this session: its id or the beginning of it")
    .option("--linear", "line by line, without redrawing; RETINUE_LINEAR=1 does the same")
    .option("--screen-reader", "the same as --linear")
    .addHelpText(
      "after",
      listExamples(
        "retinue",
        "retinue tui --agent coder -m anthropic/claude-sonnet-4-5",
        "retinue tui --continue",
        "retinue tui --linear",
      ),
    )
    .action(async (_options: unknown, command: Command) => {
      const { startTui } = await import("../tui/start-tui.ts");
      cli.exitCode = await startTui(command.optsWithGlobals<TuiOptions>(), cli.terminal);
    });
}
