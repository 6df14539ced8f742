import {
  type CleanUpParts,
  type CleanUpPlan,
  cleanUp,
  compactRecord,
  planCleanUp,
} from "@retinue/core/runtime/clean-up";
import { RetinueError } from "@retinue/core/schema/error";
import type { SessionRow } from "@retinue/core/schema/record";
import { findPlaces } from "@retinue/core/settings/places";
import { showBytes, showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import { confirm } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { findRealProject, openSoundProject } from "../open-project.ts";
import { createNoneYetError, findSession, requireRecord, withRecord } from "../open-record.ts";
import { parseSince } from "../options.ts";
import { type Cli, printResult, type Terminal } from "../terminal.ts";

/** Declares `retinue sessions delete` and `prune`. */
export function registerRemoval(sessions: CliCommand): void {
  sessions
    .command("delete")
    .description(
      "remove sessions that have ended from the record, with their files and what only they needed",
    )
    .argument("<id...>", "ids of sessions or their beginnings; `last` for this project's last session")
    .shares("yes")
    .option("--dry-run", "only say what would go")
    .examples("retinue sessions delete last --dry-run", "retinue sessions delete ses_4f2 --yes")
    .performs(deleteSessions);
  sessions
    .command("prune")
    .description(
      "remove sessions that ended long ago and all that nothing needs any more, and shrink the database",
    )
    .option("--older-than <time>", "ended before then: 24h, 30d, 8w, or a date in UTC", parseSince)
    .shares("yes")
    .option("--dry-run", "only say what would go")
    .addHelpText("after", PRUNING)
    .performs(pruneSessions);
}

const PRUNING = `
Of all projects, or of the one that -C names. Sessions that run or wait are never removed. Without --older-than the setting
store.retentionDays decides; without that either, only what nothing needs is removed.

Examples:
  retinue sessions prune --older-than 30d --dry-run
  retinue sessions prune --older-than 30d --yes`;

type RemovalOptions = { yes?: boolean; dryRun?: boolean; olderThan?: number };

const DAY_MS = 86_400_000;
const MOST_LISTED = 20;

async function deleteSessions(ids: readonly string[], cli: Cli<RemovalOptions>): Promise<void> {
  await requireRecord(cli, createNoneYetError(`session '${ids[0]}'`), async (record) => {
    const parts = { record, dataDir: findPlaces(cli.env).dataDir };
    const rows = new Map<string, SessionRow>();
    for (const id of ids) {
      const row = await findSession(record, id, cli);
      rows.set(row.session_id, row);
    }
    const plan = await planCleanUp(parts, [...rows.values()]);
    const [first] = plan.kept;
    if (first)
      throw new RetinueError(
        "input",
        `${first.sessionId} cannot be removed: ${first.why}`,
        "end it with: retinue cancel ID, or merge it with: retinue merge",
      );
    await remove(parts, plan, cli);
  });
}

async function pruneSessions(cli: Cli<RemovalOptions>): Promise<void> {
  const untilMs = cli.options.olderThan ?? (await findRetention(cli));
  const done = await withRecord(cli, async (record) => {
    const parts = { record, dataDir: findPlaces(cli.env).dataDir };
    const project = cli.options.cwd === undefined ? undefined : findRealProject(cli);
    const ended = { status: "ended", limit: -1, ...(project !== undefined && { project }) } as const;
    const { sessions } =
      untilMs === undefined ? { sessions: [] } : await record.listSessions({ ...ended, untilMs });
    await remove(parts, await planCleanUp(parts, sessions.toReversed()), cli);
    return true;
  });
  if (!done) cli.print("nothing is recorded");
}

async function findRetention(cli: Cli<RemovalOptions>): Promise<number | undefined> {
  const { retentionDays } = (await openSoundProject(cli)).settings.store;
  return retentionDays === undefined ? undefined : Date.now() - retentionDays * DAY_MS;
}

async function remove(parts: CleanUpParts, plan: CleanUpPlan, cli: Cli<RemovalOptions>): Promise<void> {
  const { removable, kept, bytes } = plan;
  const what = `remove ${showCount(removable.length, "session")}, ${showBytes(bytes)}`;
  if (!cli.options.json) list(removable, cli);
  for (const { sessionId, why } of kept) cli.tell(`kept: ${sessionId}: ${why}`);
  if (cli.options.dryRun) {
    const sessions = removable.map(({ session, bytes: size }) => ({
      session_id: session.session_id,
      bytes: size,
    }));
    const value = { would_remove: sessions, bytes };
    return printResult(cli, { value, text: () => `would ${what}` });
  }
  if (removable.length > 0 && !(await confirm(what, cli)))
    throw new RetinueError("denied", "nothing was removed");
  const before = (await parts.record.measure()).bytes;
  const report = await cleanUp(
    parts,
    removable.map(({ session }) => session.session_id),
  );
  const problem = await compactRecord(parts);
  if (problem !== null) cli.tell(`the database was not made smaller: ${cutToLine(problem, 200)}`);
  const freed = report.freedBytes + Math.max(0, before - (await parts.record.measure()).bytes);
  printResult(cli, {
    value: { ...report, freedBytes: freed },
    text: () => `removed ${showCount(report.sessions, "session")}; ${showBytes(freed)} are free again`,
  });
}

function list(removable: readonly { session: SessionRow; bytes: number }[], terminal: Terminal): void {
  for (const { session, bytes } of removable.slice(0, MOST_LISTED))
    terminal.tell(
      `${session.session_id}  ${session.updated_at.slice(0, 10)}  ${showBytes(bytes)}  ${cutToLine(session.title, 60)}`,
    );
  if (removable.length > MOST_LISTED) terminal.tell(`and ${removable.length - MOST_LISTED} more`);
}
