import type { CallOutcome, SessionState, TraceCall, TraceRun } from "../../schema/inspect/trace.ts";
import { countOf } from "../measures.ts";
import { plainLine } from "../plain-text.ts";
import type { NodeStatus } from "../tree/run-node.ts";
import type { Canvas } from "./canvas.ts";
import { drawPhases } from "./draw-phases.ts";

const MAX_NAME = 40;
const MAX_TASK = 300;
const MAX_ERROR = 300;

/** `∥ ✅ completed coder "fix the parser"`. */
export function runLabel(run: TraceRun, state: SessionState, { glyphs, bars }: Canvas): string {
  const mark = run.parallel ? `${bars.parallel} ` : "";
  const name = plainLine(run.agent, MAX_NAME);
  const text = `${statusWord(run, state, glyphs.status)} ${glyphs.text(`${name} "${plainLine(run.task, MAX_TASK)}"`)}`;
  return `${mark}${text}`;
}

/** A status as icon and word. What has not ended of a session that nobody works on is not running. */
export function statusWord(
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
export function callLabel({ outcome, tool, input, error }: TraceCall, { glyphs }: Canvas): string {
  const why = error ? `: ${plainLine(error, MAX_ERROR)}` : "";
  const text = `${plainLine(tool, MAX_NAME)} ${plainLine(input, MAX_TASK)}${why}`;
  return `${outcomeIcon(outcome, glyphs.status)} ${outcome} ${glyphs.text(text)}`;
}

/** What is worth saying below a run besides its line. */
export function notesOf(
  run: TraceRun,
  { calls = false, ids = false }: { calls?: boolean; ids?: boolean },
): { text: string; bad: boolean }[] {
  const { error, turns, calls: made, files } = run;
  const repeated = turns.slice(0, -1).filter((turn) => turn.status === "failed").length;
  const tools = calls || made.length === 0 ? "" : `tools: ${countCalls(made)}`;
  const notable = [
    run.attempt > 0 ? `retry ${run.attempt}` : "",
    repeated > 0 ? `${countOf(repeated, "model call")} repeated` : "",
    run.bailoutReason ? `stopped by ${plainLine(run.bailoutReason, MAX_NAME)}` : "",
    files.length > 0 ? `${countOf(files.length, "file")} changed` : "",
    run.approvals.some(({ allowed }) => allowed === null) ? "waits for approval" : "",
    tools,
  ].filter(Boolean);
  const facts = notable.length > 0 ? [countOf(run.iterations, "turn"), ...notable] : [];
  return [
    ...(ids ? [{ text: run.runId, bad: false }] : []),
    ...(error ? [{ text: `error: ${plainLine(error, MAX_ERROR)}`, bad: true }] : []),
    ...(facts.length > 0 ? [{ text: facts.join(" · "), bad: false }] : []),
    ...drawPhases(run.phases, calls).map((text) => ({ text, bad: false })),
  ];
}

/** `read ×3, write (1 denied)`. */
export function countCalls(calls: readonly TraceCall[]): string {
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
      return `${plainLine(tool, MAX_NAME)}${times}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
    })
    .join(", ");
}

function outcomeIcon(outcome: CallOutcome, icons: Readonly<Record<NodeStatus, string>>): string {
  switch (outcome) {
    case "ok":
    case "cached":
      return icons.completed;
    case "running":
      return icons.running;
    case "interrupted":
      return icons.waiting;
    case "denied":
    case "error":
      return icons.failed;
  }
}
