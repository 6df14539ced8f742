import { type Command, Option } from "commander";
import type { TraceOptions } from "../history/trace-session.ts";
import type { Cli } from "../terminal.ts";
import { listExamples, parseCount } from "./options.ts";

const STATUSES = ["pending", "running", "completed", "partial", "failed", "cancelled", "timeout"];

/** Registers `retinue trace`. */
export function registerTrace(program: Command, cli: Cli): void {
  program
    .command("trace")
    .summary("draw the tree of runs of a session")
    .description("draw the tree of runs of a session and where their time went")
    .argument("<id>", "a session's id or the beginning of it; `last` for this project's last session")
    .option("--calls", "show every tool call")
    .option("--ids", "show the id of every run")
    .option("--failed", "go to the first failure: the way to it from the root, and what is known of it")
    .option("--run <id>", "only this run and what is below it")
    .option("--agent <name>", "only runs of this agent, and those above them")
    .addOption(
      new Option("--status <status>", "only runs with this status, and those above them").choices(STATUSES),
    )
    .option(
      "--since-seq <n>",
      "only runs of which something happened after this seq of the record",
      parseCount,
    )
    .option("--depth <n>", "nothing deeper below the root than this", parseCount)
    .option("--limit <n>", "draw at most this many runs; 0 for all", parseCount, 200)
    .option("-o, --output <file>", "write to a file that only you can read, and not to stdout")
    .addHelpText(
      "after",
      listExamples(
        "retinue trace last                       this project's last session as a tree beside its waterfall",
        "retinue trace last --failed              the way from the root to the first failure",
        "retinue trace ses_1a2b --agent coder     the runs of one agent, in their place",
        "retinue trace last --json | jq .totals   for programs; the shape is stable",
      ),
    )
    .action(async (id: string, _options: unknown, command: Command) => {
      const { traceSession } = await import("../history/trace-session.ts");
      await traceSession(id, command.optsWithGlobals<TraceOptions>(), cli.terminal);
    });
}
