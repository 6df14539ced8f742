import { type Command, Option } from "commander";
import type { Cli } from "../../program.ts";
import type { SessionsOptions } from "../../sessions/list-sessions.ts";
import { parseSince } from "../../stats/parse-since.ts";
import { wholeNumber } from "../numbers.ts";

const STATUSES = ["running", "waiting", "interrupted", "completed", "failed", "cancelled", "timeout"];

const EXAMPLES = `
Examples:
  retinue sessions --search "discount parser"   sessions where both words were said
  retinue sessions --project --since 7d         of this folder, in the last week
  retinue sessions --status interrupted         what a crash ended; go on with: retinue resume ID`;

/** Registers `retinue sessions`. */
export function registerSessions(program: Command, cli: Cli): void {
  program
    .command("sessions")
    .description("list recorded sessions, the latest first")
    .option("--search <words>", "only those with all these words in title, tasks or answers")
    .option("--project [dir]", "only those of this folder; the current one by default")
    .addOption(new Option("--status <status>", "only those that stand so").choices(STATUSES))
    .option("--since <time>", "only those changed since then: 30m, 24h, 7d, 2w, or a date in UTC", parseSince)
    .option("--limit <n>", "at most this many", wholeNumber, 20)
    .addHelpText("after", EXAMPLES)
    .action(async (_options: unknown, command: Command) => {
      const { listSessions } = await import("../../sessions/list-sessions.ts");
      await listSessions(command.optsWithGlobals<SessionsOptions>(), cli.terminal);
    });
}
