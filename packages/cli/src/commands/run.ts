import { type Command, Option } from "commander";
import type { Cli } from "../terminal.ts";
import type { RunOptions } from "../work/run-options.ts";
import { addRunning, listExamples } from "./options.ts";

/** Registers `retinue run`. */
export function registerRun(program: Command, cli: Cli): void {
  const command = program
    .command("run")
    .summary("run a task")
    .description("run a task; without one it is read from stdin")
    .argument("[task]", "what to do")
    .option("--agent <name>", "the agent that gets the task; `main` or the only one by default")
    .addOption(
      new Option("-c, --continue", "go on with the newest conversation of this project").conflicts([
        "resume",
        "fork",
      ]),
    )
    .addOption(
      new Option(
        "-r, --resume [id]",
        "go on with this session; without a task, finish one that was interrupted",
      ).conflicts("fork"),
    )
    .option("--fork <id:seq>", "begin with the conversation of a recorded session at one of its seqs");
  addRunning(command)
    .addHelpText(
      "after",
      listExamples(
        'retinue run "find out why the tests fail"',
        'retinue run -c "now fix it"',
        "git diff | retinue run -p --agent reviewer --output-format json",
        'retinue run "list the routes" --json-schema \'{"type": "array", "items": {"type": "string"}}\'',
      ),
    )
    .action(async (task: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<RunOptions>();
      const goesOn = options.continue || options.resume !== undefined;
      const { work } = goesOn
        ? { work: (await import("../work/resume-task.ts")).goOnTask }
        : { work: (await import("../work/run-task.ts")).runTask };
      cli.exitCode = await work(task, options, cli.terminal);
    });
}
