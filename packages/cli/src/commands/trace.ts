import type { Record } from "@retinue/core/record/record";
import { RetinueError } from "@retinue/core/schema/error";
import type { Trace, TraceRun } from "@retinue/core/schema/inspect/trace";
import { listSome } from "@retinue/core/schema/list-some";
import type { SessionRow } from "@retinue/core/schema/record";
import { showCost, showCount, showDuration, showUtc } from "@retinue/core/show/measures";
import { findRun, pathTo, walkRuns } from "@retinue/core/show/walk-runs";
import { cutToLine } from "@retinue/core/text/plain-text";
import { filterTrace, firstFailure, type TraceFilter } from "@retinue/core/trace/filter-trace";
import { loadOutline, loadTrace } from "@retinue/core/trace/load-trace";
import type { CliCommand } from "../cli-command.ts";
import { withSession } from "../open-record.ts";
import { omitAbsent, parseCount, SESSION_ID } from "../options.ts";
import type { Cli } from "../terminal.ts";
import { cutTo } from "../text-layout.ts";
import { type Canvas, createTerminalCanvas } from "../tree/canvas.ts";
import { labelCall, showRunStatus } from "../tree/describe-run.ts";
import { drawTrace, pickRuns } from "../tree/draw-trace.ts";
import { saveText } from "../write-files.ts";

const STATUSES = ["pending", "running", "completed", "partial", "failed", "cancelled", "timeout"];

/** Declares `retinue trace`. */
export default function registerTrace(command: CliCommand): void {
  command
    .description("draw the tree of runs of a session and where their time went")
    .argument("<id>", SESSION_ID)
    .option("--calls", "show every tool call")
    .option("--ids", "show the id of every run")
    .option("--failed", "go to the first failure: the way to it from the root, and what is known of it")
    .option("--run <id>", "only this run and what is below it")
    .option("--agent <name>", "only runs of this agent, and those above them")
    .oneOf("--status <status>", "only runs with this status, and those above them", STATUSES)
    .option(
      "--since-seq <n>",
      "only runs of which something happened after this seq of the record",
      parseCount,
    )
    .option("--depth <n>", "nothing deeper below the root than this", parseCount)
    .option("--limit <n>", "draw at most this many runs; 0 for all", parseCount, 200)
    .shares("output")
    .examples(
      "retinue trace last                       this project's last session as a tree beside its waterfall",
      "retinue trace last --failed              the way from the root to the first failure",
      "retinue trace ses_1a2b --agent coder     the runs of one agent, in their place",
      "retinue trace last --json | jq .totals   for programs; the shape is stable",
    )
    .performs(traceSession);
}

type TraceOptions = {
  calls?: boolean;
  ids?: boolean;
  output?: string;
  failed?: boolean;
  agent?: string;
  status?: string;
  sinceSeq?: number;
  depth?: number;
  run?: string;
  limit: number;
};

const MAX_LISTED = 10;

/** `retinue trace`: the tree of runs, read from the database alone. */
async function traceSession(id: string, cli: Cli<TraceOptions>): Promise<void> {
  if (cli.options.output === "")
    throw new RetinueError("usage", "-o needs the name of a file", "such as: -o trace.txt");
  const make = cli.options.json ? wholeTrace : drawnTrace;
  const text = await withSession(id, cli, (record, session) => make(record, session, cli));
  await saveText(text, cli.options.output, cli);
}

async function wholeTrace(
  record: Record,
  session: SessionRow,
  { options }: Cli<TraceOptions>,
): Promise<string> {
  const whole = await loadTrace(record, session);
  const wanted = filterTrace(whole, buildFilter(options, whole));
  const trace = options.failed ? (cutToFailure(wanted) ?? { ...wanted, runs: [] }) : wanted;
  return JSON.stringify(trace, null, 2);
}

/** Reads the calls and turns only of the runs that are drawn. */
async function drawnTrace(record: Record, session: SessionRow, cli: Cli<TraceOptions>): Promise<string> {
  const { trace: all, fill } = await loadOutline(record, session);
  if (cli.options.sinceSeq !== undefined) await fill(walkRuns(all.runs));
  const wanted = filterTrace(all, buildFilter(cli.options, all));
  const trace = cli.options.failed ? cutToFailure(wanted) : wanted;
  const canvas = createTerminalCanvas(cli);
  const head = [...drawHead(all, canvas), ""];
  if (!trace) {
    await fill(walkRuns(wanted.runs));
    return [...head, sayNoFailure(wanted)].join("\n");
  }
  const limit = cli.options.limit === 0 ? Number.POSITIVE_INFINITY : cli.options.limit;
  await fill(pickRuns(trace.runs, limit));
  const { calls = false, ids = false } = cli.options;
  const lines = drawTrace(trace, canvas, { calls, ids, limit });
  const more = cli.options.failed ? ["", ...describeFailure(trace, wanted, canvas)] : [];
  return [...head, ...(lines.length > 0 ? lines : [sayNothing(cli.options)]), ...more].join("\n");
}

function buildFilter(
  { agent, status, sinceSeq, depth, run }: TraceOptions,
  { runs, session }: Trace,
): TraceFilter {
  const named = run === undefined ? undefined : findNamedRun(runs, run, session.id);
  return omitAbsent({ agent, status, sinceSeq, depth, run: named });
}

function findNamedRun(runs: readonly TraceRun[], id: string, sessionId: string): TraceRun {
  const found = findRun(runs, id);
  const [only] = found;
  if (only && found.length === 1) return only;
  const message = only
    ? `'${id}' fits several runs: ${listSome(
        found.map(({ runId }) => runId),
        MAX_LISTED,
      )}`
    : `session ${sessionId} has no run '${id}'`;
  throw new RetinueError("input", message, `see their ids with: retinue trace ${sessionId} --ids --limit 0`);
}

function sayNothing({ agent, status, sinceSeq, run }: TraceOptions): string {
  const filters = [
    agent === undefined ? "" : `--agent ${agent}`,
    status === undefined ? "" : `--status ${status}`,
    sinceSeq === undefined ? "" : `--since-seq ${sinceSeq}`,
    run === undefined ? "" : `--run ${run}`,
  ].filter(Boolean);
  return filters.length === 0 ? "no runs yet" : `no run fits ${filters.join(" ")}`;
}

/** A session's title, status and totals; and the next step, if no process works on it. */
function drawHead({ session, totals }: Trace, { glyphs, paint, width }: Canvas): string[] {
  const { id, state } = session;
  const line = (text: string) => cutTo(glyphs.text(text), width, glyphs.cut);
  const status = showRunStatus({ status: session.status, partial: false }, state, glyphs.status);
  const moment = `${showUtc(session.createdAt, "second")} UTC`;
  const facts = [
    showCount(totals.runs, "run"),
    ...(totals.agents > 1 ? [`${totals.agents} agents`] : []),
    ...(totals.atOnce > 1 ? [`${totals.atOnce} at once`] : []),
    showCount(totals.calls, "tool call"),
    showCount(totals.tokens, "token"),
    showCost(totals.costUsd),
    `${showDuration(totals.activeMs)} at work`,
  ];
  const next =
    state === "interrupted"
      ? [`go on with: retinue resume ${id}`]
      : state === "waiting"
        ? ["waits for a person: retinue approve"]
        : [];
  const title = cutTo(
    glyphs.text(cutToLine(session.title, 200)),
    Math.max(10, width - id.length - 20),
    glyphs.cut,
  );
  return [
    `${paint.bold(id)}  ${status}  ${title}`,
    paint.dim(line(`${cutToLine(session.project, 200)}  ${moment}`)),
    paint.dim(line(facts.join(` ${glyphs.dot} `))),
    ...next,
  ];
}

const MAX_TEXT = 400;
const MOST_CALLS = 5;

/** A trace with only the path from a root to the run that failed first; undefined if none did. */
function cutToFailure(trace: Trace): Trace | undefined {
  const failed = firstFailure(trace.runs);
  if (!failed) return undefined;
  const line = pathTo(trace.runs, failed).reverse();
  const [top] = line.reduce<TraceRun[]>((below, run) => {
    return [{ ...run, matched: run === failed, children: below }];
  }, []);
  return { ...trace, runs: top ? [top] : [] };
}

/** The failure at the end of a path, in detail. */
function describeFailure(path: Trace, { session, runs }: Trace, canvas: Canvas): string[] {
  const run = [...walkRuns(path.runs)].at(-1);
  if (!run) return [];
  const { glyphs, paint } = canvas;
  const text = (given: string) => glyphs.text(cutToLine(given, MAX_TEXT));
  const bad = run.calls
    .filter(({ outcome }) => outcome === "error" || outcome === "denied")
    .slice(-MOST_CALLS);
  const others =
    [...walkRuns(runs)].filter(({ status }) => status === "failed" || status === "timeout").length - 1;
  const type = run.errorType ? ` (${run.errorType})` : "";
  const said = run.turns.findLast((turn) => turn.text !== "")?.text ?? "";
  return [
    paint.bold(`first failure: ${text(run.agent)}, ${run.runId}${type}`),
    `  task: ${text(run.task)}`,
    ...(run.error ? [`  error: ${paint.bad(text(run.error))}`] : []),
    ...(run.bailoutReason ? [`  stopped by: ${text(run.bailoutReason)}`] : []),
    ...(said ? [`  last words: ${text(said)}`] : []),
    ...bad.map((call) => `  call: ${labelCall(call, canvas)}`),
    ...(others > 0
      ? [`  ${showCount(others, "other failure")}: retinue trace ${session.id} --status failed`]
      : []),
    paint.dim(`  look closer: retinue trace ${session.id} --run ${run.runId} --calls`),
  ];
}

/** Says that no run failed, and how many calls did. */
function sayNoFailure({ runs, session }: Trace): string {
  let calls = 0;
  for (const run of walkRuns(runs)) calls += run.calls.filter(({ outcome }) => outcome === "error").length;
  if (calls === 0) return "no run failed";
  return `no run failed, but ${showCount(calls, "tool call")} did: retinue trace ${session.id} --calls`;
}
