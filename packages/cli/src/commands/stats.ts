import { STATS_BY } from "@retinue/core/schema/stats";
import { type Command, Option } from "commander";
import type { StatsOptions } from "../history/show-stats.ts";
import type { Cli } from "../terminal.ts";
import { listExamples, parseSince } from "./options.ts";

/** Registers `retinue stats`. */
export function registerStats(program: Command, cli: Cli): void {
  program
    .command("stats")
    .summary("success, time and cost by agent and model")
    .description(
      "show how often runs succeed, how long they take and what they cost; -C for one project only",
    )
    .addOption(new Option("--by <what>", "a line for each").choices(STATS_BY).default("both"))
    .option("--since <time>", "only runs since then: 30m, 24h, 7d, 2w, or a date in UTC", parseSince)
    .option(
      "--session <id>",
      "only this session: its id or the beginning of it; `last` for this project's last one",
    )
    .option("--agent <name>", "only runs of this agent")
    .option("--model <id>", "only runs on this model")
    .addHelpText(
      "after",
      listExamples(
        "retinue stats --since 7d            every role and model of the last week",
        "retinue stats --by model -C .       which model does best in this project",
      ),
    )
    .action(async (_options: unknown, command: Command) => {
      const { showStats } = await import("../history/show-stats.ts");
      await showStats(command.optsWithGlobals<StatsOptions>(), cli.terminal);
    });
}
