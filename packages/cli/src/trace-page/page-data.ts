import type { Trace, TraceCall, TraceRun, TraceTurn } from "@retinue/core/schema/inspect/trace";
import { showCost, showCount, showDuration } from "@retinue/core/show/measures";
import { nameStatus } from "@retinue/core/show/standing";
import { createTimeline, findWork, spanRuns, type Timeline } from "@retinue/core/show/timeline";
import { walkRuns } from "@retinue/core/show/walk-runs";
import { stripControls } from "../plain-text.ts";
import { listMarks } from "../tree/draw-bar.ts";

/** What the page is handed: texts that are plain, figures that are words already, places as shares of the axis. */
type PageData = {
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

/** Makes the page's data from a trace; `findPrompt` finds a system prompt by its id. */
export function makePageData(trace: Trace, findPrompt: (id: string) => string | undefined): PageData {
  const timeline = createTimeline(trace, spanRuns(trace.runs, trace.endMs));
  const allowance = createAllowance();
  const runs = [...walkRuns(trace.runs)];
  const places = new Map(runs.map((run, index) => [run.runId, index]));
  const page = { trace, timeline, allowance, places };
  const systems = new Set(runs.flatMap(({ context }) => context.systemPromptId ?? []));
  const prompts = [...systems].map(
    (id) => [id, allowance.take(stripControls(findPrompt(id) ?? ""))] as const,
  );
  const { session } = trace;
  return {
    title: stripControls(session.title) || session.id,
    status: session.state,
    facts: sessionFacts(trace),
    ticks: listTicks(timeline),
    gaps: timeline.gaps.map(({ startMs, endMs, leftOutMs }) => ({
      from: share(startMs, timeline),
      to: share(endMs, timeline),
      text: `${showDuration(leftOutMs)} without work left out`,
    })),
    prompts: Object.fromEntries(prompts),
    runs: withEnds(runs.map((run) => makePageRun(run, page))),
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

function makePageRun(run: TraceRun, { trace, timeline, allowance, places }: Page): PageRun {
  const text = (given: string | null) => allowance.take(stripControls(given ?? ""));
  const { result } = run;
  const end = run.endMs ?? trace.endMs;
  const isOpen = run.endMs === null;
  const steps = [...run.turns.map((turn) => ({ turn })), ...run.calls.map((call) => ({ call }))];
  steps.sort((one, other) => findSpan(one).openedSeq - findSpan(other).openedSeq);
  return {
    id: run.runId,
    parent: run.parentRunId === null ? -1 : (places.get(run.parentRunId) ?? -1),
    end: 0,
    depth: 0,
    lane: run.lane,
    agent: stripControls(run.agent),
    model: stripControls(run.model ?? ""),
    task: allowance.take(stripControls(run.task)),
    status: isOpen && trace.session.state !== "running" ? openWord(trace) : nameStatus(run),
    time: showDuration(run.durationMs ?? Math.max(0, end - run.startMs)),
    tokens: run.tokens.self.toLocaleString("en-US"),
    cost: showCost(run.costUsd.self),
    x: [share(timeline.at(run.startMs), timeline), share(timeline.at(end), timeline)],
    matched: run.matched,
    facts: runFacts(run),
    error: text(run.error),
    prompt: text(run.context.message),
    system: run.context.systemPromptId ?? "",
    summary: stripControls(result?.summary ?? ""),
    result: text(result?.text ?? ""),
    data: result?.data === undefined ? "" : text(JSON.stringify(result.data, null, 2)),
    steps: steps.map((step) => makePageStep(step, { trace, timeline, allowance, places })),
    files: run.files.map(stripControls),
    checks: run.deliverables.map(({ ok, deliverable, reason }) => ({
      ok,
      name: stripControls(deliverable),
      reason: stripControls(reason),
    })),
    notes: listNotes(run),
    phases: run.phases.map(({ phase, context }) => ({
      phase,
      fields: Object.entries(context).map(([name, value]) => [
        stripControls(name),
        text(typeof value === "string" ? value : (JSON.stringify(value) ?? "")),
      ]),
    })),
  };
}

type Step = { turn: TraceTurn } | { call: TraceCall };

function findSpan(step: Step): TraceTurn | TraceCall {
  return "turn" in step ? step.turn : step.call;
}

function makePageStep(step: Step, { trace, timeline, allowance }: Page): PageStep {
  const text = (given: string | null) => allowance.take(stripControls(given ?? ""));
  const span = findSpan(step);
  const work = findWork(span, trace.endMs);
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
    tool: stripControls(tool),
    outcome,
    time,
    input: text(pretty(input)),
    output: text(output),
    approvedBy: stripControls(approvedBy ?? ""),
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
    ["Project", stripControls(session.project)],
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
  return facts.flatMap(([name, value]) => (value ? [[name, stripControls(value)] as [string, string]] : []));
}

function listNotes({ warnings, approvals, tainted, parallel }: TraceRun): string[] {
  return [
    ...warnings.map(stripControls),
    ...approvals.map(({ tool, allowed, by, note }) => {
      const word = allowed === null ? "waits for approval" : allowed ? "approved" : "denied";
      return stripControls(`${tool}: ${word}${by ? ` by ${by}` : ""}${note ? ` (${note})` : ""}`);
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

function listTicks(timeline: Timeline): PageData["ticks"] {
  return listMarks(timeline, TICKS).map(({ atMs, text }) => ({ at: share(atMs, timeline), text }));
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

/** How much text a page may hold, so that a browser opens it however large the session was. */
type TextAllowance = {
  /** The text as far as there is room, with a word about what is missing. */
  take(text: string): string;
  isUsedUp(): boolean;
};

const MOST_CHARS = 8_000_000;
const MOST_CHARS_OF_ONE = 40_000;

/** Creates the allowance of one page. */
export function createAllowance(all = MOST_CHARS, one = MOST_CHARS_OF_ONE): TextAllowance {
  let left = all;
  let wasCut = false;
  return {
    take(text) {
      const room = Math.max(0, Math.min(one, left));
      left -= Math.min(text.length, room);
      if (text.length <= room) return text;
      wasCut = true;
      return `${text.slice(0, room).toWellFormed()}\n… ${showCount(text.length - room, "more character")}`;
    },
    isUsedUp: () => wasCut,
  };
}
