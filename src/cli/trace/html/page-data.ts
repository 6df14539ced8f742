import { statusOf } from "../../../runtime/trace/filter-trace.ts";
import { createTimeline, stretchOf, type Timeline, workOf } from "../../../runtime/trace/timeline.ts";
import { everyRun } from "../../../runtime/trace/walk-runs.ts";
import type { Trace, TraceCall, TraceRun, TraceTurn } from "../../../schema/inspect/trace.ts";
import { showCost, showDuration } from "../../measures.ts";
import { plainText } from "../../plain-text.ts";
import { marksOf } from "../draw-bar.ts";
import { createAllowance, type TextAllowance } from "./text-allowance.ts";

/** What the page is handed: texts that are plain, figures that are words already, places as shares of the axis. */
export type PageData = {
  title: string;
  status: string;
  facts: [name: string, value: string][];
  ticks: { at: number; text: string }[];
  gaps: { from: number; to: number; text: string }[];
  prompts: Readonly<Record<string, string>>;
  runs: PageRun[];
  cut: boolean;
};

type Place = readonly [from: number, to: number];
type PageStep =
  | {
      kind: "turn";
      x: Place;
      turn: number;
      status: string;
      time: string;
      tokens: string;
      text: string;
      error: string;
    }
  | {
      kind: "call";
      x: Place;
      tool: string;
      outcome: string;
      time: string;
      input: string;
      output: string;
      approvedBy: string;
    };

type PageRun = {
  id: string;
  /** The place of its parent in the list, and of the run after everything below it. */
  parent: number;
  end: number;
  depth: number;
  lane: number;
  agent: string;
  model: string;
  task: string;
  status: string;
  time: string;
  tokens: string;
  cost: string;
  x: Place;
  matched: boolean;
  facts: [name: string, value: string][];
  error: string;
  prompt: string;
  system: string;
  summary: string;
  result: string;
  data: string;
  steps: PageStep[];
  files: string[];
  checks: { ok: boolean; name: string; reason: string }[];
  notes: string[];
  phases: { phase: string; fields: [name: string, value: string][] }[];
};

const TICKS = 4;

/** Makes the page's data from a trace; `promptOf` finds a system prompt by its id. */
export function pageData(trace: Trace, promptOf: (id: string) => string | undefined): PageData {
  const timeline = createTimeline(trace, stretchOf(trace.runs, trace.endMs));
  const allowance = createAllowance();
  const runs = [...everyRun(trace.runs)];
  const places = new Map(runs.map((run, index) => [run.runId, index]));
  const page = { trace, timeline, allowance, places };
  const systems = new Set(runs.flatMap(({ context }) => context.systemPromptId ?? []));
  const prompts = [...systems].map((id) => [id, allowance.take(plainText(promptOf(id) ?? ""))] as const);
  const { session } = trace;
  return {
    title: plainText(session.title) || session.id,
    status: session.state,
    facts: sessionFacts(trace),
    ticks: ticksOf(timeline),
    gaps: timeline.gaps.map(({ startMs, endMs, leftOutMs }) => ({
      from: share(startMs, timeline),
      to: share(endMs, timeline),
      text: `${showDuration(leftOutMs)} without work left out`,
    })),
    prompts: Object.fromEntries(prompts),
    runs: withEnds(runs.map((run) => pageRun(run, page))),
    get cut() {
      return allowance.isUsedUp();
    },
  };
}

type Page = {
  trace: Trace;
  timeline: Timeline;
  allowance: TextAllowance;
  places: ReadonlyMap<string, number>;
};

function pageRun(run: TraceRun, { trace, timeline, allowance, places }: Page): PageRun {
  const text = (given: string | null) => allowance.take(plainText(given ?? ""));
  const { result } = run;
  const end = run.endMs ?? trace.endMs;
  const isOpen = run.endMs === null;
  const steps = [...run.turns.map((turn) => ({ turn })), ...run.calls.map((call) => ({ call }))];
  steps.sort((one, other) => spanOf(one).openedSeq - spanOf(other).openedSeq);
  return {
    id: run.runId,
    parent: run.parentRunId === null ? -1 : (places.get(run.parentRunId) ?? -1),
    end: 0,
    depth: 0,
    lane: run.lane,
    agent: plainText(run.agent),
    model: plainText(run.model ?? ""),
    task: allowance.take(plainText(run.task)),
    status: isOpen && trace.session.state !== "running" ? openWord(trace) : statusOf(run),
    time: showDuration(run.durationMs ?? Math.max(0, end - run.startMs)),
    tokens: run.tokens.self.toLocaleString("en-US"),
    cost: showCost(run.costUsd.self),
    x: [share(timeline.at(run.startMs), timeline), share(timeline.at(end), timeline)],
    matched: run.matched,
    facts: runFacts(run),
    error: text(run.error),
    prompt: text(run.context.message),
    system: run.context.systemPromptId ?? "",
    summary: plainText(result?.summary ?? ""),
    result: text(result?.text ?? ""),
    data: result?.data === undefined ? "" : text(JSON.stringify(result.data, null, 2)),
    steps: steps.map((step) => pageStep(step, { trace, timeline, allowance, places })),
    files: run.files.map(plainText),
    checks: run.deliverables.map(({ ok, deliverable, reason }) => ({
      ok,
      name: plainText(deliverable),
      reason: plainText(reason),
    })),
    notes: notesOf(run),
    phases: run.phases.map(({ phase, context }) => ({
      phase,
      fields: Object.entries(context).map(([name, value]) => [
        plainText(name),
        text(typeof value === "string" ? value : (JSON.stringify(value) ?? "")),
      ]),
    })),
  };
}

type Step = { turn: TraceTurn } | { call: TraceCall };

function spanOf(step: Step): TraceTurn | TraceCall {
  return "turn" in step ? step.turn : step.call;
}

function pageStep(step: Step, { trace, timeline, allowance }: Page): PageStep {
  const text = (given: string | null) => allowance.take(plainText(given ?? ""));
  const span = spanOf(step);
  const work = workOf(span, trace.endMs);
  const x: Place = [share(timeline.at(work.startMs), timeline), share(timeline.at(work.endMs), timeline)];
  const time = span.durationMs === null ? "" : showDuration(span.durationMs);
  if ("turn" in step) {
    const { turn, status, tokens, text: words, error } = step.turn;
    const count = (tokens.input + tokens.output).toLocaleString("en-US");
    return { kind: "turn", x, turn, status, time, tokens: count, text: text(words), error: text(error) };
  }
  const { tool, outcome, input, output, approvedBy } = step.call;
  return {
    kind: "call",
    x,
    tool: plainText(tool),
    outcome,
    time,
    input: text(pretty(input)),
    output: text(output),
    approvedBy: plainText(approvedBy ?? ""),
  };
}

function sessionFacts({ session, totals }: Trace): [string, string][] {
  const number = (value: number) => value.toLocaleString("en-US");
  return [
    ["Runs", number(totals.runs)],
    ["Agents", number(totals.agents)],
    ["At once", number(totals.atOnce)],
    ["Tool calls", number(totals.calls)],
    ["Tokens", number(totals.tokens)],
    ["Cost", showCost(totals.costUsd)],
    ["At work", showDuration(totals.activeMs)],
    ["Started", `${session.createdAt.slice(0, 16).replace("T", " ")} UTC`],
    ["Session", session.id],
    ["Project", plainText(session.project)],
  ];
}

function runFacts(run: TraceRun): [string, string][] {
  const number = (value: number) => value.toLocaleString("en-US");
  const most = run.maxIterations === null ? "" : ` of ${run.maxIterations}`;
  const hasBelow = run.children.length > 0;
  const facts: [string, string | null][] = [
    ["Model", run.model],
    ["Turns", `${run.iterations}${most}`],
    ["Tokens", number(run.tokens.self)],
    ["with sub-agents", hasBelow ? number(run.tokens.subtree) : null],
    ["Cost", showCost(run.costUsd.self)],
    ["with sub-agents ", hasBelow ? showCost(run.costUsd.subtree) : null],
    ["Started", `${run.startedAt.slice(0, 19).replace("T", " ")} UTC`],
    ["Context", run.context.mode],
    ["Retry", run.attempt > 0 ? String(run.attempt) : null],
    ["Stopped by", run.bailoutReason],
    ["Seqs", `${run.openedSeq}–${run.closedSeq ?? "open"}`],
    ["Run", run.runId],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, plainText(value)] as [string, string]] : []));
}

function notesOf({ warnings, approvals, tainted, parallel }: TraceRun): string[] {
  return [
    ...warnings.map(plainText),
    ...approvals.map(({ tool, allowed, by, note }) => {
      const word = allowed === null ? "waits for approval" : allowed ? "approved" : "denied";
      return plainText(`${tool}: ${word}${by ? ` by ${by}` : ""}${note ? ` (${note})` : ""}`);
    }),
    ...(tainted ? ["Untrusted text entered this run."] : []),
    ...(parallel ? ["Ran at the same time as a sibling."] : []),
  ];
}

/** Fills in the depth of each run and where what is below it ends; filtered traces begin anywhere. */
function withEnds(runs: PageRun[]): PageRun[] {
  for (const [index, run] of runs.entries()) {
    run.depth = (runs[run.parent]?.depth ?? -1) + 1;
    run.end = index + 1;
  }
  for (let index = runs.length - 1; index >= 0; index--) {
    const { parent = -1, end = 0 } = runs[index] ?? {};
    const above = runs[parent];
    if (above) above.end = Math.max(above.end, end);
  }
  return runs;
}

function ticksOf(timeline: Timeline): PageData["ticks"] {
  return marksOf(timeline, TICKS).map(({ atMs, text }) => ({ at: share(atMs, timeline), text }));
}

function share(ms: number, { lengthMs }: Timeline): number {
  return Number(Math.min(1, Math.max(0, ms / lengthMs)).toFixed(5));
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

function openWord({ session }: Trace): string {
  return session.state === "waiting" ? "waiting" : "interrupted";
}
