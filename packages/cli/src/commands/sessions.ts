import { type Command, Option } from "commander";
import type { SessionsOptions } from "../history/list-sessions.ts";
import type { RemovalOptions } from "../history/remove-sessions.ts";
import type { Cli } from "../terminal.ts";
import { listExamples, parseSince, parseWholeNumber } from "./options.ts";

const STATUSES = ["running", "waiting", "interrupted", "completed", "failed", "cancelled", "timeout"];

/** Registers `retinue sessions`. */
export function registerSessions(program: Command, cli: Cli): void {
  const sessions = program
    .command("sessions")
    .summary("list sessions")
    .description("list recorded sessions, the latest first")
    .option("--search <words>", "only those with all these words in title, tasks or answers")
    .option("--project [dir]", "only those of this folder; the current one by default")
    .addOption(new Option("--status <status>", "only those with this status").choices(STATUSES))
    .option("--since <time>", "only those changed since then: 30m, 24h, 7d, 2w, or a date in UTC", parseSince)
    .option("--limit <n>", "at most this many", parseWholeNumber, 20)
    .addHelpText(
      "after",
      listExamples(
        'retinue sessions --search "discount parser"   sessions where both words were said',
        "retinue sessions --project --since 7d         of this folder, in the last week",
        "retinue sessions --status interrupted         what a crash ended; go on with: retinue resume ID",
      ),
    )
    .action(async (_options: unknown, command: Command) => {
      const { listSessions } = await import("../history/list-sessions.ts");
      await listSessions(command.optsWithGlobals<SessionsOptions>(), cli.terminal);
    });
  registerRemoval(sessions, cli);
}

function registerRemoval(sessions: Command, cli: Cli): void {
  sessions
    .command("delete")
    .description(
      "remove sessions that have ended from the record, with their files and what only they needed",
    )
    .argument("<id...>", "ids of sessions or their beginnings; `last` for this project's last session")
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "only say what would go")
    .addHelpText(
      "after",
      listExamples("retinue sessions delete last --dry-run", "retinue sessions delete ses_4f2 --yes"),
    )
    .action(async (ids: string[], _options: unknown, command: Command) => {
      const { deleteSessions } = await import("../history/remove-sessions.ts");
      await deleteSessions(ids, command.optsWithGlobals<RemovalOptions>(), cli.terminal);
    });
  sessions
    .command("prune")
    .description(
      "remove sessions that ended long ago and all that nothing needs any more, and shrink the database",
    )
    .option("--older-than <time>", "ended before then: 24h, 30d, 8w, or a date in UTC", parseSince)
    .option("-y, --yes", "do not ask")
    .option("--dry-run", "only say what would go")
    .addHelpText("after", PRUNING)
    .action(async (_options: unknown, command: Command) => {
      const { pruneSessions } = await import("../history/remove-sessions.ts");
      await pruneSessions(command.optsWithGlobals<RemovalOptions>(), cli.terminal);
    });
}

const PRUNING = `
Of all projects, or of the one that -C names. Sessions that run or wait are never removed. Without --older-than the setting
store.retentionDays decides; without that either, only what nothing needs is removed.

Examples:
  retinue sessions prune --older-than 30d --dry-run
  retinue sessions prune --older-than 30d --yes`;
