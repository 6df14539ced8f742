import type { Command } from "commander";
import type { Cli } from "../program.ts";
import type { RunOptions } from "../run/run-options.ts";
import { addOutcome, addShowing } from "./run.ts";

/** Registers `retinue resume`. */
export function registerResume(program: Command, cli: Cli): void {
  const command = program
    .command("resume")
    .description(
      "go on with a session that a crash or a kill ended; this project's latest open one by default",
    )
    .argument("[id]", "a session's id or the beginning of it; `last` for this project's latest open one");
  addOutcome(addShowing(command))
    .addHelpText("after", EXAMPLES)
    .action(async (id: string | undefined, _options: unknown, resumed: Command) => {
      const { resumeTask } = await import("../run/resume-task.ts");
      cli.exitCode = await resumeTask(id, resumed.optsWithGlobals<RunOptions>(), cli.terminal);
    });
}

const EXAMPLES = `
Examples:
  retinue resume
  retinue resume ses_abc --on-ask park`;
