import { basename, resolve } from "node:path";
import type { Record } from "@retinue/core/record/record";
import type { SessionQuery, SessionSummary } from "@retinue/core/schema/inspect/session-summary";
import type { SessionState } from "@retinue/core/schema/inspect/trace";
import type { SessionRow } from "@retinue/core/schema/record";
import { showCost, showDuration, showNumber, showUtc } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import { sessionState } from "@retinue/core/trace/session-state";
import type { CliCommand } from "../cli-command.ts";
import { withRecord } from "../open-record.ts";
import { omitAbsent, parseSince, sayMore } from "../options.ts";
import { type Cli, printResult } from "../terminal.ts";
import { cutTo, drawTable, fitTable } from "../text-layout.ts";
import { type Canvas, createTerminalCanvas } from "../tree/canvas.ts";
import { showRunStatus } from "../tree/describe-run.ts";
import { registerRemoval } from "./sessions-remove.ts";

const STATUSES = ["running", "waiting", "interrupted", "completed", "failed", "cancelled", "timeout"];

/** Declares `retinue sessions`. */
export default function registerSessions(command: CliCommand): void {
  const sessions = command
    .description("list recorded sessions, the latest first")
    .option("--search <words>", "only those with all these words in title, tasks or answers")
    .option("--project [dir]", "only those of this folder; the current one by default")
    .oneOf("--status <status>", "only those with this status", STATUSES)
    .option("--since <time>", "only those changed since then: 30m, 24h, 7d, 2w, or a date in UTC", parseSince)
    .shares("limit")
    .examples(
      'retinue sessions --search "discount parser"   sessions where both words were said',
      "retinue sessions --project --since 7d         of this folder, in the last week",
      "retinue sessions --status interrupted         what a crash ended; go on with: retinue resume ID",
    )
    .performs(listSessions);
  registerRemoval(sessions);
}

type SessionsOptions = {
  limit: number;
  search?: string;
  /** True for the current folder. */
  project?: string | true;
  status?: SessionState;
  since?: number;
};

async function listSessions(cli: Cli<SessionsOptions>): Promise<void> {
  const found = await withRecord(cli, (record) => findSessions(record, cli));
  const { sessions, hasMore, searchedOnly } = found ?? { sessions: [], hasMore: false };
  printResult(cli, {
    value: sessions,
    text: () =>
      sessions.length === 0
        ? sayNone(cli)
        : drawSessions(sessions, { nowMs: Date.now(), canvas: createTerminalCanvas(cli) }),
  });
  if (hasMore) cli.tell(sayMore(cli.options.limit));
  if (searchedOnly !== undefined)
    cli.tell(
      `hint: only the latest ${showNumber(searchedOnly)} sessions were searched; narrow with --project or --since`,
    );
}

type Listed = { sessions: SessionSummary[]; hasMore: boolean; searchedOnly?: number };

async function findSessions(record: Record, cli: Cli<SessionsOptions>): Promise<Listed> {
  const { limit, status } = cli.options;
  const query = buildQuery(cli);
  // Waiting and interrupted are what the record calls running.
  const isOpen = status === "running" || status === "waiting" || status === "interrupted";
  const wanted: SessionQuery = {
    ...query,
    // One more tells whether there are more; an open session's state is known only after reading it.
    limit: isOpen ? -1 : limit + 1,
    ...(status !== undefined && { status: isOpen ? "running" : status }),
  };
  const { sessions, ...more } = await record.listSessions(wanted);
  const stated: (SessionRow & { state: SessionState })[] = [];
  for (const row of sessions) stated.push({ ...row, state: await sessionState(record, row) });
  const fitting = isOpen ? stated.filter(({ state }) => state === status) : stated;
  const shown = fitting.slice(0, limit);
  const summed: SessionSummary[] = [];
  for (const row of shown) summed.push({ ...row, ...(await record.readFigures(row.session_id)) });
  return {
    sessions: summed,
    hasMore: fitting.length > limit,
    ...more,
  };
}

function buildQuery(cli: Cli<SessionsOptions>): SessionQuery {
  const { search, project, since, cwd } = cli.options;
  const here = resolve(cli.cwd, cwd ?? ".");
  // The folder may be gone; its record is still of interest.
  const folder = project === true || (project === undefined && cwd !== undefined) ? here : project;
  const path = folder === undefined ? undefined : resolve(here, folder);
  return omitAbsent({ search, project: path, sinceMs: since });
}

function sayNone(cli: Cli<SessionsOptions>): string {
  const { search, status, since } = cli.options;
  const { project } = buildQuery(cli);
  const filters = [
    search ? `with '${cutToLine(search, 100)}'` : "",
    project === undefined ? "" : `in ${cutToLine(project, 200)}`,
    status === undefined ? "" : `that is ${status}`,
    since === undefined ? "" : `since ${new Date(since).toISOString()}`,
  ].filter(Boolean);
  if (filters.length > 0) return `no session ${filters.join(" ")}`;
  return 'no sessions yet; start one with: retinue "what to do"';
}

/** What a list is drawn with. */
type SessionsDrawing = { nowMs: number; canvas: Canvas };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LEAST_TASK = 24;
const HEAD = ["SESSION", "STARTED", "STATUS", "RUNS", "TIME", "COST", "PROJECT", "TASK"];
/** Columns in the order in which they are given up where there is no room. */
const DISPENSABLE = ["RUNS", "PROJECT", "TIME", "COST"];

/** Sessions as a table that fits, and what to do next. */
export function drawSessions(
  sessions: readonly SessionSummary[],
  { nowMs, canvas }: SessionsDrawing,
): string[] {
  const { glyphs, paint, width } = canvas;
  const cells = sessions.map((session) => fillCells(session, nowMs, canvas));
  const fitted = fitTable([HEAD, ...cells], { width, gives: DISPENSABLE, cut: { TASK: LEAST_TASK } });
  const [head = "", ...lines] = drawTable(fitted.rows).map((line) =>
    cutTo(line.trimEnd(), width, glyphs.cut),
  );
  const rows = sessions.flatMap((session, index) => [lines[index] ?? "", ...foundLine(session, canvas)]);
  return [paint.dim(head), ...rows, "", ...nextSteps(sessions).map((text) => paint.dim(text))];
}

/** How long ago, or the day. */
export function showWhen(iso: string, nowMs: number): string {
  const ms = Date.parse(iso);
  const ago = nowMs - ms;
  if (Number.isNaN(ms)) return "?";
  if (ago < 0 || ago >= 7 * DAY) return showUtc(iso);
  if (ago < MINUTE) return "just now";
  if (ago < HOUR) return `${Math.floor(ago / MINUTE)}m ago`;
  return ago < DAY ? `${Math.floor(ago / HOUR)}h ago` : `${Math.floor(ago / DAY)}d ago`;
}

function fillCells(session: SessionSummary, nowMs: number, { glyphs }: Canvas): string[] {
  const { runs, duration_ms: ms, cost_usd: cost } = session;
  return [
    session.session_id,
    showWhen(session.created_at, nowMs),
    showRunStatus({ status: session.status, partial: false }, session.state, glyphs.status),
    showNumber(runs),
    ms > 0 ? showDuration(ms) : "",
    showCost(cost),
    glyphs.text(cutToLine(basename(session.project) || session.project, 24)),
    glyphs.text(cutToLine(session.title, 120)),
  ];
}

function foundLine({ found }: SessionSummary, { glyphs, paint, width }: Canvas): string[] {
  if (!found) return [];
  const text = `  ${found.in} of ${cutToLine(found.agent, 40)}: ${cutToLine(found.excerpt, 160)}`;
  return [paint.dim(cutTo(glyphs.text(text), width, glyphs.cut))];
}

/** Commands with their ids, ready to be copied. */
function nextSteps(sessions: readonly SessionSummary[]): string[] {
  const [first] = sessions;
  const findId = (state: string) => sessions.find((session) => session.state === state)?.session_id;
  const interrupted = findId("interrupted");
  const waiting = findId("waiting");
  return [
    ...(first ? [`look closer: retinue trace ${first.session_id}`] : []),
    ...(interrupted ? [`go on where it was interrupted: retinue resume ${interrupted}`] : []),
    ...(waiting ? ["answer what waits for you: retinue approve"] : []),
  ];
}
