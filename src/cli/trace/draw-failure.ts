import { firstFailure } from "../../runtime/trace/filter-trace.ts";
import { everyRun, pathTo } from "../../runtime/trace/walk-runs.ts";
import type { Trace, TraceRun } from "../../schema/inspect/trace.ts";
import { countOf } from "../measures.ts";
import { plainLine } from "../plain-text.ts";
import type { Canvas } from "./canvas.ts";
import { callLabel } from "./describe-run.ts";

const MAX_TEXT = 400;
const MOST_CALLS = 5;

/** A trace with nothing in it but the way from a root to the run that failed first; undefined if none did. */
export function traceOfFailure(trace: Trace): Trace | undefined {
  const failed = firstFailure(trace.runs);
  if (!failed) return undefined;
  const line = pathTo(trace.runs, failed).reverse();
  const [top] = line.reduce<TraceRun[]>((below, run) => {
    return [{ ...run, matched: run === failed, children: below }];
  }, []);
  return { ...trace, runs: top ? [top] : [] };
}

/** What is known of the failure at the end of a path. */
export function describeFailure(path: Trace, { session, runs }: Trace, canvas: Canvas): string[] {
  const run = [...everyRun(path.runs)].at(-1);
  if (!run) return [];
  const { glyphs, paint } = canvas;
  const text = (given: string) => glyphs.text(plainLine(given, MAX_TEXT));
  const bad = run.calls
    .filter(({ outcome }) => outcome === "error" || outcome === "denied")
    .slice(-MOST_CALLS);
  const others =
    [...everyRun(runs)].filter(({ status }) => status === "failed" || status === "timeout").length - 1;
  const type = run.errorType ? ` (${run.errorType})` : "";
  const said = run.turns.findLast((turn) => turn.text !== "")?.text ?? "";
  return [
    paint.bold(`first failure: ${text(run.agent)}, ${run.runId}${type}`),
    `  task: ${text(run.task)}`,
    ...(run.error ? [`  error: ${paint.bad(text(run.error))}`] : []),
    ...(run.bailoutReason ? [`  stopped by: ${text(run.bailoutReason)}`] : []),
    ...(said ? [`  last words: ${text(said)}`] : []),
    ...bad.map((call) => `  call: ${callLabel(call, canvas)}`),
    ...(others > 0
      ? [`  ${countOf(others, "other failure")}: retinue trace ${session.id} --status failed`]
      : []),
    paint.dim(`  look closer: retinue trace ${session.id} --run ${run.runId} --calls`),
  ];
}

/** That nothing failed, and what did nevertheless. */
export function sayNoFailure({ runs, session }: Trace): string {
  let calls = 0;
  for (const run of everyRun(runs)) calls += run.calls.filter(({ outcome }) => outcome === "error").length;
  if (calls === 0) return "no run failed";
  return `no run failed, but ${countOf(calls, "tool call")} did: retinue trace ${session.id} --calls`;
}
