import type { Command } from "commander";
import type { Cli } from "../terminal.ts";
import type { RunOptions } from "../work/run-options.ts";
import { addRunning, collectValue, listExamples, parseCount } from "./options.ts";

/** Registers `retinue spawn`. */
export function registerSpawn(program: Command, cli: Cli): void {
  const command = program
    .command("spawn")
    .summary("run one agent on one task")
    .description("run one agent on one task; short for: run --agent AGENT")
    .argument("<agent>", "its name; see: retinue agents list")
    .argument("[task]", "what to do; without it, what comes by stdin");
  addRunning(command)
    .option("--budget <n>", "at most this many tool calls of the agent", parseCount)
    .option("--tools <names>", "only these of its tools, such as read,grep", collectValue)
    .addHelpText(
      "after",
      listExamples(
        'retinue spawn reviewer "review the last commit"',
        'retinue spawn researcher "where are limits read?" --budget 8 --tools read,grep',
        "git diff | retinue spawn reviewer -p",
      ),
    )
    .action(async (agent: string, task: string | undefined, _options: unknown, spawned: Command) => {
      const { runTask } = await import("../work/run-task.ts");
      const options = { ...spawned.optsWithGlobals<RunOptions>(), agent };
      cli.exitCode = await runTask(task, options, cli.terminal);
    });
}
