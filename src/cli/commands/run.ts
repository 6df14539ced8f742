import { type Command, Option } from "commander";
import type { Cli } from "../program.ts";
import type { RunOptions } from "../run/run-options.ts";
import { amount, countNumber, wholeNumber } from "./numbers.ts";

const MODES = ["default", "acceptEdits", "plan", "bypassPermissions"];

/** Registers `retinue run`. */
export function registerRun(program: Command, cli: Cli): void {
  const command = program
    .command("run")
    .description("run a task; without one it is read from stdin")
    .argument("[task]", "what to do")
    .option("--agent <name>", "the agent that gets the task; `main` or the only one by default")
    .option("-m, --model <model>", "an alias or provider/model-id");
  addShowing(command)
    .option("--max-turns <n>", "at most this many turns of the first agent", wholeNumber)
    .option("--max-budget-usd <amount>", "at most this much for the whole tree", amount)
    .option("--max-depth <n>", "how deep agents may delegate", countNumber)
    .option("--max-agents <n>", "how many runs there may be in all", wholeNumber)
    .option("--no-triggers", "let no word of the task make a delegation mandatory")
    .option("--fork <id:seq>", "begin with the conversation of a recorded session at one of its seqs")
    .option("--agents <json>", 'more agents, by name: {"name": {"description": …, "prompt": …}}')
    .addOption(claudeSpelling("--allowedTools <rules>"))
    .addOption(claudeSpelling("--disallowedTools <rules>"))
    .action(async (task: string | undefined, _options: unknown, command: Command) => {
      const { runTask } = await import("../run/run-task.ts");
      cli.exitCode = await runTask(task, command.optsWithGlobals<RunOptions>(), cli.terminal);
    });
}

/** Adds what running and resuming have in common: how it is shown, and how asks are answered. */
export function addShowing(command: Command): Command {
  return command
    .option("-p, --print", "print the result only: no progress, and nobody is asked")
    .addOption(
      new Option("--output-format <format>", "how the result is printed")
        .choices(["text", "json", "stream-json"])
        .default("text"),
    )
    .option(
      "--allowed-tools <rules>",
      "approve calls that would be asked about, such as `shell(npm test *)`",
      append,
      [],
    )
    .option("--disallowed-tools <rules>", "deny tools to every agent of this run", append, [])
    .addOption(
      new Option("--permission-mode <mode>", "how asks are answered without a person").choices(MODES),
    );
}

/** Understood because scripts use it, and not shown because one spelling is enough. */
function claudeSpelling(flags: string): Option {
  return new Option(flags).argParser(append).hideHelp();
}

function append(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
