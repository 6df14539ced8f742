import { type Command, Option } from "commander";
import type { Cli } from "../program.ts";
import type { RunOptions } from "../run/run-options.ts";
import { amount, countNumber, limitsScale, wholeNumber } from "./numbers.ts";
import { permissionMode } from "./permission-mode.ts";

/** Registers `retinue run`. */
export function registerRun(program: Command, cli: Cli): void {
  const command = program
    .command("run")
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
    .addHelpText("after", EXAMPLES)
    .action(async (task: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<RunOptions>();
      const goesOn = options.continue || options.resume !== undefined;
      const { work } = goesOn
        ? { work: (await import("../run/go-on-task.ts")).goOnTask }
        : { work: (await import("../run/run-task.ts")).runTask };
      cli.exitCode = await work(task, options, cli.terminal);
    });
}

/** Adds what a new task can be given: model, limits, form and place of what it leaves, more agents. */
export function addRunning(command: Command): Command {
  return addOutcome(addShowing(command.option("-m, --model <model>", "an alias or provider/model-id")))
    .option("--max-turns <n>", "at most this many turns of the first agent", wholeNumber)
    .option("--max-budget-usd <amount>", "at most this much for the whole tree", amount)
    .option("--max-depth <n>", "how deep agents may delegate", countNumber)
    .option("--max-agents <n>", "how many runs there may be in all", wholeNumber)
    .option("--max-output-tokens <n>", "tokens of one reply, for agents that do not say", wholeNumber)
    .option(
      "--limits <size>",
      "raise all agents' own limits: `roomy` (3 times, for strong models with large windows), or a number",
      limitsScale,
    )
    .option("--no-triggers", "let no word of the task make a delegation mandatory")
    .option("--json-schema <schema>", "the answer must be JSON that fits this schema: a file, or the schema")
    .option("--agents <json>", 'more agents, by name: {"name": {"description": …, "prompt": …}}')
    .addOption(claudeSpelling("--allowedTools <rules>"))
    .addOption(claudeSpelling("--disallowedTools <rules>"));
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
    .addOption(permissionMode());
}

/** Adds what becomes of the session: whether asks can wait, and where its files go. */
export function addOutcome(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--on-ask <what>",
        "instead of asking: `deny`, or `park` the session until somebody calls `retinue approve`",
      ).choices(["deny", "park"]),
    )
    .option("--out <dir>", "copy the files of the session's workspace there at the end");
}

const EXAMPLES = `
Examples:
  retinue run "find out why the tests fail"
  retinue run -c "now mend it"
  git diff | retinue run -p --agent reviewer --output-format json
  retinue run "list the routes" --json-schema '{"type": "array", "items": {"type": "string"}}'`;

/** Understood because scripts use it, and not shown because one spelling is enough. */
function claudeSpelling(flags: string): Option {
  return new Option(flags).argParser(append).hideHelp();
}

/** Collects the values of a flag that may be given several times. */
export function append(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
