import { Option } from "commander";
import type { CliCommand } from "../cli-command.ts";
import { RUNNING } from "../options.ts";
import type { Cli } from "../terminal.ts";
import type { RunOptions } from "../work/run-options.ts";

/** Declares `retinue run`. What it does is loaded later: these options are also needed to tell a task from a command. */
export default function registerRun(command: CliCommand): void {
  command
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
    .option("--fork <id:seq>", "begin with the conversation of a recorded session at one of its seqs")
    .shares(...RUNNING)
    .examples(
      'retinue run "find out why the tests fail"',
      'retinue run -c "now fix it"',
      "git diff | retinue run -p --agent reviewer --output-format json",
      'retinue run "list the routes" --json-schema \'{"type": "array", "items": {"type": "string"}}\'',
    )
    .performs(runOrGoOn);
}

async function runOrGoOn(task: string | undefined, cli: Cli<RunOptions>): Promise<number> {
  if (cli.options.continue || cli.options.resume !== undefined) {
    const { goOnTask } = await import("./resume.ts");
    return goOnTask(task, cli);
  }
  const { runTask } = await import("../work/run-task.ts");
  return runTask(task, cli);
}
