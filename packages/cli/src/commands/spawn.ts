import type { CliCommand } from "../cli-command.ts";
import { collectValue, parseCount, RUNNING } from "../options.ts";
import { type Cli, changeOptions } from "../terminal.ts";
import type { RunOptions } from "../work/run-options.ts";
import { runTask } from "../work/run-task.ts";

/** Declares `retinue spawn`. */
export default function registerSpawn(command: CliCommand): void {
  command
    .description("run one agent on one task; short for: run --agent AGENT")
    .argument("<agent>", "its name; see: retinue agents list")
    .argument("[task]", "what to do; without it, what comes by stdin")
    .shares(...RUNNING)
    .option("--budget <n>", "at most this many tool calls of the agent", parseCount)
    .option("--tools <names>", "only these of its tools, such as read,grep", collectValue)
    .examples(
      'retinue spawn reviewer "review the last commit"',
      'retinue spawn researcher "where are limits read?" --budget 8 --tools read,grep',
      "git diff | retinue spawn reviewer -p",
    )
    .performs((agent: string, task: string | undefined, cli: Cli<RunOptions>) =>
      runTask(task, changeOptions(cli, { agent })),
    );
}
