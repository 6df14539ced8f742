import type { TraceRun } from "../../../../../../src/schema/inspect/trace.ts";
import { lookOf, standingOf } from "../../../../ui/status.tsx";
import type { Ask } from "./course.ts";
import type { Moment } from "./moment.ts";

/** Something that one can step to: a run began or ended, a turn or call began, a person was asked or answered. */
export type Happening = {
  atMs: number;
  what: "began" | "ended" | "turn" | "call" | "asked" | "answered";
  /** Whose it was; undefined if the trace does not know the run. */
  run: TraceRun | undefined;
  tool: string;
};

/** Of what happened in the same millisecond the last is what one is told of. */
const BY_WEIGHT: readonly Happening["what"][] = ["turn", "call", "answered", "began", "asked", "ended"];

function weightOf({ what }: Happening): number {
  return BY_WEIGHT.indexOf(what);
}

/** Everything that one can step to, in the order of time. */
export function happeningsOf(
  runs: readonly TraceRun[],
  moments: readonly Moment[],
  asks: readonly Ask[],
): Happening[] {
  const byId = new Map(runs.map((run) => [run.runId, run]));
  const all: Happening[] = [];
  for (const run of runs) {
    all.push({ atMs: run.startMs, what: "began", run, tool: "" });
    if (run.endMs !== null) all.push({ atMs: run.endMs, what: "ended", run, tool: "" });
  }
  for (const { runId, tool, startMs } of moments)
    all.push({
      atMs: startMs,
      what: tool === null ? "turn" : "call",
      run: byId.get(runId),
      tool: tool ?? "",
    });
  for (const { run, tool, askedMs, answeredMs } of asks) {
    all.push({ atMs: askedMs, what: "asked", run, tool });
    if (Number.isFinite(answeredMs)) all.push({ atMs: answeredMs, what: "answered", run, tool });
  }
  return all.sort((one, other) => one.atMs - other.atMs || weightOf(one) - weightOf(other));
}

/** What happened, in words that follow the agent's name. */
export function wordsOf({ what, run, tool }: Happening): string {
  if (what === "began") return "began";
  if (what === "turn") return "takes a turn";
  if (what === "call") return `calls ${tool}`;
  if (what === "asked") return `asks to use ${tool}`;
  if (what === "answered") return `has an answer about ${tool}`;
  return run ? `ended: ${lookOf(standingOf(run)).word}` : "ended";
}
