import type { Command } from "commander";
import type { CommonOptions } from "../open-project.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue replay`. */
export function registerReplay(program: Command, cli: Cli): void {
  program
    .command("replay")
    .summary("run a session again from its record")
    .description(
      "run a recorded session again from its record, without models or tools, and show the first difference",
    )
    .argument("<id>", "a session's id or the beginning of it; `last` for this project's last session")
    .addHelpText("after", listExamples("retinue replay last"))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { replayTask } = await import("../work/resume-task.ts");
      cli.exitCode = await replayTask(id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}
