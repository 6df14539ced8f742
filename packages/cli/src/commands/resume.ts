import type { Command } from "commander";
import type { Cli } from "../terminal.ts";
import type { RunOptions } from "../work/run-options.ts";
import { addOutcome, addShowing, listExamples } from "./options.ts";

/** Registers `retinue resume`. */
export function registerResume(program: Command, cli: Cli): void {
  const command = program
    .command("resume")
    .summary("go on with a session that was interrupted")
    .description(
      "go on with a session that a crash or a kill ended; this project's latest open one by default",
    )
    .argument("[id]", "a session's id or the beginning of it; `last` for this project's latest open one");
  addOutcome(addShowing(command))
    .addHelpText("after", listExamples("retinue resume", "retinue resume ses_abc --on-ask park"))
    .action(async (id: string | undefined, _options: unknown, resumed: Command) => {
      const { resumeTask } = await import("../work/resume-task.ts");
      cli.exitCode = await resumeTask(id, resumed.optsWithGlobals<RunOptions>(), cli.terminal);
    });
}
