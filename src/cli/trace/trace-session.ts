import { filterTrace, type TraceFilter } from "../../runtime/trace/filter-trace.ts";
import { loadOutline, loadTrace } from "../../runtime/trace/load-trace.ts";
import { everyRun, findRun } from "../../runtime/trace/walk-runs.ts";
import { RetinueError } from "../../schema/error.ts";
import type { Trace, TraceRun } from "../../schema/inspect/trace.ts";
import { listSome } from "../../schema/list-some.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import { saveText } from "../export/save-text.ts";
import type { CommonOptions } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { canvasFor } from "./canvas.ts";
import { describeFailure, sayNoFailure, traceOfFailure } from "./draw-failure.ts";
import { drawHead } from "./draw-head.ts";
import { drawTrace } from "./draw-trace.ts";
import { findSession, noSessions } from "./find-session.ts";
import { withRecord } from "./open-record.ts";
import { pickRuns } from "./pick-runs.ts";

/** Options of `retinue trace`. */
export type TraceOptions = CommonOptions & {
  calls?: boolean;
  ids?: boolean;
  html?: boolean;
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
export async function traceSession(id: string, options: TraceOptions, terminal: Terminal): Promise<void> {
  refuseContradictions(options);
  const make = options.json || options.html ? wholeTrace : drawnTrace;
  const text = await withRecord(terminal, (store) =>
    make(store, findSession(store, id, options, terminal), options, terminal),
  );
  if (text === undefined) throw noSessions(id);
  await saveText(text, options.output, terminal);
}

async function wholeTrace(store: Store, session: SessionRow, options: TraceOptions): Promise<string> {
  const whole = loadTrace(store, session);
  const wanted = filterTrace(whole, filterOf(options, whole));
  const trace = options.failed ? (traceOfFailure(wanted) ?? { ...wanted, runs: [] }) : wanted;
  if (!options.html) return JSON.stringify(trace, null, 2);
  const { renderTracePage } = await import("./html/render-page.ts");
  return renderTracePage(trace, (prompt) => store.prompt(prompt));
}

/** Only of the runs that are drawn it is read what they did. */
function drawnTrace(store: Store, session: SessionRow, options: TraceOptions, terminal: Terminal): string {
  const { trace: all, fill } = loadOutline(store, session);
  if (options.sinceSeq !== undefined) fill(everyRun(all.runs));
  const wanted = filterTrace(all, filterOf(options, all));
  const trace = options.failed ? traceOfFailure(wanted) : wanted;
  const canvas = canvasFor(terminal);
  const head = [...drawHead(all, canvas), ""];
  if (!trace) {
    fill(everyRun(wanted.runs));
    return [...head, sayNoFailure(wanted)].join("\n");
  }
  const limit = options.limit === 0 ? Number.POSITIVE_INFINITY : options.limit;
  fill(pickRuns(trace.runs, limit));
  const { calls = false, ids = false } = options;
  const lines = drawTrace(trace, canvas, { calls, ids, limit });
  const more = options.failed ? ["", ...describeFailure(trace, wanted, canvas)] : [];
  return [...head, ...(lines.length > 0 ? lines : [sayNothing(options)]), ...more].join("\n");
}

function filterOf(
  { agent, status, sinceSeq, depth, run }: TraceOptions,
  { runs, session }: Trace,
): TraceFilter {
  return {
    ...(agent !== undefined && { agent }),
    ...(status !== undefined && { status }),
    ...(sinceSeq !== undefined && { sinceSeq }),
    ...(depth !== undefined && { depth }),
    ...(run !== undefined && { run: theRun(runs, run, session.id) }),
  };
}

function theRun(runs: readonly TraceRun[], id: string, sessionId: string): TraceRun {
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

function refuseContradictions({ json, html, output }: TraceOptions): void {
  if (json && html)
    throw new RetinueError("usage", "--json and --html cannot both be", "leave out one of them");
  if (output === "") throw new RetinueError("usage", "-o needs the name of a file", "such as: -o trace.html");
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
