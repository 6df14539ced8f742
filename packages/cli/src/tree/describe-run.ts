import type {
  CallOutcome,
  SessionState,
  TraceCall,
  TracePhase,
  TraceRun,
} from "@retinue/core/schema/inspect/trace";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Canvas } from "./canvas.ts";
import type { NodeStatus } from "./run-tree.ts";

const MAX_NAME = 40;
const MAX_TASK = 300;
const MAX_ERROR = 300;

/** `∥ ✅ completed coder "fix the parser"`. */
export function labelRun(run: TraceRun, state: SessionState, { glyphs, bars }: Canvas): string {
  const mark = run.parallel ? `${bars.parallel} ` : "";
  const name = cutToLine(run.agent, MAX_NAME);
  const text = `${showRunStatus(run, state, glyphs.status)} ${glyphs.text(`${name} "${cutToLine(run.task, MAX_TASK)}"`)}`;
  return `${mark}${text}`;
}

/** A status as icon and word. What has not ended of a session that nobody works on is not running. */
export function showRunStatus(
  { status, partial }: Pick<TraceRun, "status" | "partial">,
  state: SessionState,
  icons: Readonly<Record<NodeStatus, string>>,
): string {
  if (partial) return `${icons.partial} partial`;
  const isOpen = status === "running" || status === "pending";
  if (isOpen && state !== "running")
    return `${icons.waiting} ${state === "waiting" ? "waiting" : "interrupted"}`;
  return `${icons[status]} ${status}`;
}

/** `✅ ok read {"path":"a.ts"}`. */
export function labelCall({ outcome, tool, input, error }: TraceCall, { glyphs }: Canvas): string {
  const why = error ? `: ${cutToLine(error, MAX_ERROR)}` : "";
  const text = `${cutToLine(tool, MAX_NAME)} ${cutToLine(input, MAX_TASK)}${why}`;
  return `${glyphs.status[AS_STATUS[outcome]]} ${outcome} ${glyphs.text(text)}`;
}

/** What is worth saying below a run besides its line. */
export function listNotes(
  run: TraceRun,
  { calls = false, ids = false }: { calls?: boolean; ids?: boolean },
): { text: string; bad: boolean }[] {
  const { error, turns, calls: made, files } = run;
  const repeated = turns.slice(0, -1).filter((turn) => turn.status === "failed").length;
  const tools = calls || made.length === 0 ? "" : `tools: ${describeCalls(made)}`;
  const notable = [
    run.attempt > 0 ? `retry ${run.attempt}` : "",
    repeated > 0 ? `${showCount(repeated, "model call")} repeated` : "",
    run.bailoutReason ? `stopped by ${cutToLine(run.bailoutReason, MAX_NAME)}` : "",
    files.length > 0 ? `${showCount(files.length, "file")} changed` : "",
    run.approvals.some(({ allowed }) => allowed === null) ? "waits for approval" : "",
    tools,
  ].filter(Boolean);
  const facts = notable.length > 0 ? [showCount(run.iterations, "turn"), ...notable] : [];
  return [
    ...(ids ? [{ text: run.runId, bad: false }] : []),
    ...(error ? [{ text: `error: ${cutToLine(error, MAX_ERROR)}`, bad: true }] : []),
    ...(facts.length > 0 ? [{ text: facts.join(" · "), bad: false }] : []),
    ...drawPhases(run.phases, calls).map((text) => ({ text, bad: false })),
  ];
}

/** `read ×3, write (1 denied)`. */
function describeCalls(calls: readonly TraceCall[]): string {
  const byTool = Map.groupBy(calls, ({ tool }) => tool);
  return [...byTool]
    .map(([tool, group]) => {
      const bad = Map.groupBy(group, ({ outcome }) => outcome);
      const notes = [...bad].flatMap(([outcome, some]) =>
        outcome === "ok" || outcome === "cached"
          ? []
          : [`${some.length} ${outcome === "error" ? "failed" : outcome}`],
      );
      const times = group.length > 1 ? ` ×${group.length}` : "";
      return `${cutToLine(tool, MAX_NAME)}${times}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
    })
    .join(", ");
}

/** The status whose icon a call gets. */
const AS_STATUS: Readonly<Record<CallOutcome, NodeStatus>> = {
  ok: "completed",
  cached: "completed",
  running: "running",
  interrupted: "waiting",
  denied: "failed",
  error: "failed",
};

const MAX_VALUE = 160;

/** The phases of a run in their order; with `whole`, what its flow told in each. Nothing for a run without phases. */
function drawPhases(phases: readonly TracePhase[], whole: boolean): string[] {
  if (phases.length === 0) return [];
  if (whole) return phases.flatMap(drawPhase);
  const names = phases.map(({ phase, context }) =>
    phase === "end" ? cutToLine(String(context.status), 20) : phase,
  );
  return [`phases: ${names.join(" → ")}`];
}

function drawPhase({ phase, context }: TracePhase): string[] {
  const fields = Object.entries(context).map(([name, value]) => {
    const label = name === "notes" ? "Notes" : cutToLine(name.toUpperCase(), MAX_VALUE);
    return `  ${label}: ${cutToLine(describeField(value), MAX_VALUE)}`;
  });
  return [`phase: ${phase}`, ...fields];
}

function describeField(value: unknown): string {
  if (typeof value === "string") return value;
  const isListOfTexts = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isListOfTexts ? value.join(", ") : (JSON.stringify(value) ?? "");
}
