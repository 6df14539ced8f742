import type { Command } from "commander";
import type { CommonOptions } from "../open-project.ts";
import type { Cli } from "../program.ts";

/** Registers `retinue replay`. */
export function registerReplay(program: Command, cli: Cli): void {
  program
    .command("replay")
    .description(
      "run a recorded session again from its record, without models or tools, and show the first difference",
    )
    .argument("<id>", "a session's id or the beginning of it; `last` for this project's last session")
    .action(async (id: string, _options: unknown, command: Command) => {
      const { replayTask } = await import("../run/replay-task.ts");
      cli.exitCode = await replayTask(id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}
