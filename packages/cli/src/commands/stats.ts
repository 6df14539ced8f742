import { join, resolve } from "node:path";
import type { Record } from "@retinue/core/record/record";
import { summariseRuns } from "@retinue/core/record/stats/summarise-runs";
import {
  type RunStats,
  STATS_BY,
  type Stats,
  type StatsBy,
  type StatsGroup,
  type StatsQuery,
} from "@retinue/core/schema/stats";
import { findPlaces } from "@retinue/core/settings/places";
import { showCost, showCount, showDuration, showNumber, showShare } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { createNoneYetError, findSession, withRecord } from "../open-record.ts";
import { omitAbsent, parseSince } from "../options.ts";
import { type Cli, printResult, type Terminal } from "../terminal.ts";
import { drawTable, fitTable } from "../text-layout.ts";

/** Declares `retinue stats`. */
export default function registerStats(command: CliCommand): void {
  command
    .description(
      "show how often runs succeed, how long they take and what they cost; -C for one project only",
    )
    .oneOf("--by <what>", "a line for each", STATS_BY, "both")
    .option("--since <time>", "only runs since then: 30m, 24h, 7d, 2w, or a date in UTC", parseSince)
    .option(
      "--session <id>",
      "only this session: its id or the beginning of it; `last` for this project's last one",
    )
    .option("--agent <name>", "only runs of this agent")
    .option("--model <id>", "only runs on this model")
    .examples(
      "retinue stats --since 7d            every role and model of the last week",
      "retinue stats --by model -C .       which model does best in this project",
    )
    .performs(showStats);
}

type StatsOptions = {
  by: StatsBy;
  since?: number;
  session?: string;
  agent?: string;
  model?: string;
};

const MAX_LISTED = 20;

/** `retinue stats`: figures by role and model, read from the database alone. */
async function showStats(cli: Cli<StatsOptions>): Promise<void> {
  const { by, session } = cli.options;
  const found = await withRecord(cli, async (record) => {
    const query = await buildQuery(record, cli);
    const { days: _, ...stats } = await record.readStats(query);
    return { stats, empty: stats.total.runs > 0 ? [] : await sayEmpty(query, record) };
  });
  if (!found && session !== undefined) throw createNoneYetError(`session '${session}'`);
  const { stats, empty } = found ?? { stats: summariseRuns([], [], by), empty: ["no runs yet"] };
  printResult(cli, {
    value: stats,
    text: () =>
      stats.total.runs === 0
        ? empty
        : [...drawStats(stats, by, cli.columns ?? undefined), ...sayUnpriced(stats, cli)],
  });
}

async function buildQuery(record: Record, cli: Cli<StatsOptions>): Promise<StatsQuery> {
  const { by, since, session, agent, model, cwd } = cli.options;
  const row = session === undefined ? undefined : await findSession(record, session, cli);
  // The folder may be gone; its record is still of interest.
  const project = cwd === undefined ? undefined : resolve(cli.cwd, cwd);
  return { by, ...omitAbsent({ sinceMs: since, sessionId: row?.session_id, agent, model, project }) };
}

/** Says that there are no runs for a query, and which names are recorded. */
async function sayEmpty({ by: _, ...query }: StatsQuery, record: Record): Promise<string[]> {
  const { sinceMs, sessionId, agent, model, project } = query;
  const filters = [
    agent === undefined ? "" : `of agent '${agent}'`,
    model === undefined ? "" : `on model '${model}'`,
    sinceMs === undefined ? "" : `since ${new Date(sinceMs).toISOString()}`,
    sessionId === undefined ? "" : `in session ${sessionId}`,
    project === undefined ? "" : `in project ${project}`,
  ].filter(Boolean);
  if (filters.length === 0) return ["no runs yet"];
  const lines = [`no runs ${cutToLine(filters.join(", "), 300)}`];
  if (agent !== undefined) lines.push(...sayRecorded("agents", await record.readStats({ by: "role" })));
  if (model !== undefined) lines.push(...sayRecorded("models", await record.readStats({ by: "model" })));
  return lines;
}

function sayRecorded(things: string, { groups }: Stats): string[] {
  const names = groups.map(({ role, model }) => role ?? model).filter((name) => typeof name === "string");
  return names.length === 0 ? [] : [`recorded ${things}: ${listNames(names)}`];
}

function sayUnpriced({ total: { unpricedModels } }: Stats, terminal: Terminal): string[] {
  const [first] = unpricedModels;
  if (first === undefined) return [];
  const file = join(findPlaces(terminal.env).configDir, "settings.json");
  const example = `{"prices": {${JSON.stringify(cutToLine(first, 100))}: {"input": 0.5, "output": 1.5}}}`;
  return [
    "",
    `$? is a cost that is not known, because there is no price for: ${listNames(unpricedModels)}`,
    `hint: add prices in USD per million tokens to ${file}, such as ${example}; they count for later runs`,
  ];
}

function listNames(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  const listed = names.slice(0, MAX_LISTED).map((name) => cutToLine(name, 100));
  return `${listed.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

const MAX_NAME = 40;
const NONE = "–";
const FIGURES = ["RUNS", "OK", "PARTIAL", "FAILED", "SUCCESS", "P50", "P95", "TOKENS", "COST", "COST/OK"];
const NUMERIC = FIGURES.filter((name) => name !== "SUCCESS");

/** Columns in the order in which they are given up where there is no room. */
const DISPENSABLE = ["TOKENS", "COST", "P50", "PARTIAL", "OK", "NOTES"];

/**
 * The figures as a table with a line for each group and one for all; there must be at least one group. On a screen of
 * `width` columns what does not fit is left out and named.
 */
export function drawStats({ groups, total }: Stats, by: StatsBy, width = Number.POSITIVE_INFINITY): string[] {
  const names = by === "both" ? ["ROLE", "MODEL"] : [by.toUpperCase()];
  const rows = [
    [...names, ...FIGURES, "NOTES"],
    ...groups.map((group) => [...nameGroup(group, by), ...fillCells(group)]),
    [...names.map((_, index) => (index === 0 ? "TOTAL" : "")), ...fillCells(total)],
  ];
  const fitted = fitTable(rows, { width, gives: DISPENSABLE });
  const lines = drawTable(fitted.rows, NUMERIC).map((line) => line.trimEnd());
  if (fitted.left.length === 0) return lines;
  return [...lines, `left out because there is no room: ${fitted.left.join(", ")}; see --json`];
}

/** `83 % (44–97, n=6)`. */
export function showSuccess({ success, runs, open, cancelled }: RunStats): string {
  if (!success) return `not enough data (n=${runs - open - cancelled})`;
  return showShare(success);
}

function nameGroup({ role, model }: StatsGroup, by: StatsBy): string[] {
  const name = (text: string | null | undefined) => cutToLine(text || "?", MAX_NAME);
  return [...(by === "model" ? [] : [name(role)]), ...(by === "role" ? [] : [name(model)])];
}

function fillCells(stats: RunStats): string[] {
  const { runs, open, successes, partials, cancelled, durationMs, tokens, costUsd, costPerSuccessUsd } =
    stats;
  return [
    showNumber(runs),
    showNumber(successes),
    showNumber(partials),
    showNumber(runs - open - successes - partials - cancelled),
    showSuccess(stats),
    durationMs ? showDuration(durationMs.p50) : NONE,
    durationMs ? showDuration(durationMs.p95) : NONE,
    showNumber(tokens.total),
    showCost(costUsd),
    successes === 0 ? NONE : showCost(costPerSuccessUsd),
    listNotes(stats),
  ];
}

function listNotes(stats: RunStats): string {
  const { failures, bailouts, retries, open, cancelled, work, subtree, tokens } = stats;
  const ended = Object.entries(failures).filter(([status]) => status !== "failed");
  const reasons = Object.entries(bailouts);
  return [
    ended.map(([status, runs]) => `${showNumber(runs)} ${cutToLine(status, MAX_NAME)}`).join(", "),
    cancelled === 0 ? "" : `${showNumber(cancelled)} cancelled`,
    work.testsRun === null || work.testsPassed === null
      ? ""
      : `${showNumber(work.testsPassed)} of ${showCount(work.testsRun, "test")} passed`,
    work.files === 0 ? "" : showCount(work.files, "file"),
    subtree.tokens <= tokens.total
      ? ""
      : `with sub-agents ${showCount(subtree.tokens, "token")}, ${showCost(subtree.costUsd)}`,
    retries === 0 ? "" : showCount(retries, "retry", "retries"),
    reasons.length === 0 ? "" : `stopped by ${reasons.map(times).join(", ")}`,
    open === 0 ? "" : `${showNumber(open)} not ended`,
  ]
    .filter(Boolean)
    .join(" · ");
}

function times([reason, runs]: [string, number]): string {
  return `${cutToLine(reason, MAX_NAME)}${runs > 1 ? ` ×${showNumber(runs)}` : ""}`;
}
