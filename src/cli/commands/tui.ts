import type { Command } from "commander";
import type { Cli } from "../program.ts";
import type { TuiOptions } from "../tui/start-tui.ts";
import { permissionMode } from "./permission-mode.ts";

/** Registers `retinue tui`, which is also what `retinue` alone does on a terminal. */
export function registerTui(program: Command, cli: Cli): void {
  program
    .command("tui")
    .description("talk with agents on the whole screen; `retinue` alone does the same")
    .option("--agent <name>", "the agent that answers; `main` or the only one by default")
    .option("-m, --model <model>", "an alias or provider/model-id")
    .addOption(permissionMode())
    .option("-c, --continue", "go on in the newest session of this project")
    .option("-r, --resume <id>", "go on in this session: its id or the beginning of it")
    .option("--linear", "line by line, without redrawing; RETINUE_LINEAR=1 does the same")
    .option("--screen-reader", "the same as --linear")
    .addHelpText(
      "after",
      "\nExamples:\n  retinue\n  retinue tui --agent coder -m anthropic/claude-sonnet-4-5\n  retinue tui --continue\n  retinue tui --linear",
    )
    .action(async (_options: unknown, command: Command) => {
      const { startTui } = await import("../tui/start-tui.ts");
      cli.exitCode = await startTui(command.optsWithGlobals<TuiOptions>(), cli.terminal);
    });
}
