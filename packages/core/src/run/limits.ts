import type { TimeBox } from "../budget/deadline.ts";
import type { BailoutReason } from "../schema/result.ts";
import { loopPrompt } from "./load-prompt.ts";
import type { Run } from "./run.ts";

/** The part of a run's time that is kept for its last report. */
const WRAP_UP_SHARE = 0.2;
/** In a time given to a whole tree, the part and the most by which each level ends before the one above. */
const LEVEL_SHARE = 0.1;
const MAX_LEVEL_MS = 30_000;

/** When a run must end, by its own time and by that of the tree; infinite while every clock stands still. */
export function findEndMs(run: Run): number {
  let end = run.deadline.isStopped ? Number.POSITIVE_INFINITY : run.deadline.atMs;
  for (let box = run.timeBox; box; box = box.outer)
    if (!box.deadline.isStopped)
      end = Math.min(end, box.deadline.atMs - levelsMs(box, run.depth - box.depth));
  return end;
}

/** When a run must begin its last report. */
function findSoftEndMs(run: Run): number {
  let end = run.deadline.atMs - run.limits.timeoutMs * WRAP_UP_SHARE;
  for (let box = run.timeBox; box; box = box.outer)
    end = Math.min(end, box.deadline.atMs - levelsMs(box, run.depth - box.depth + 1));
  return end;
}

function levelsMs({ lengthMs }: TimeBox, levels: number): number {
  return levels * Math.min(MAX_LEVEL_MS, lengthMs * LEVEL_SHARE);
}

/** The part of a limit at which a run is told what is left of it. */
const LOW_SHARE = 0.2;
const MAX_LOW_CALLS = 5;
const MAX_LOW_TURNS = 3;

/** Tells a run, once each, that its turns or its tool calls are nearly used up. `before`: the calls before this turn. */
export function tellWhatIsLeft(run: Run, before: number): void {
  const { turns, toolCalls } = run.limits;
  const lowCalls = findLow(toolCalls, MAX_LOW_CALLS);
  const callsLeft = toolCalls - run.toolCalls;
  const turnsLeft = turns - run.turn;
  const areCallsLow = toolCalls - before > lowCalls && callsLeft <= lowCalls;
  const areTurnsLow = turnsLeft === findLow(turns, MAX_LOW_TURNS) && turnsLeft > 0;
  if (!areCallsLow && !areTurnsLow) return;
  const left = [
    ...(areCallsLow ? [{ count: callsLeft, thing: "tool call" }] : []),
    ...(areTurnsLow ? [{ count: turnsLeft, thing: "turn" }] : []),
  ];
  const words = left
    .map(({ count, thing }) => `${count || "No"} ${thing}${count === 1 ? "" : "s"}`)
    .join(" and ");
  const isOne = left.length === 1 && left[0]?.count === 1;
  run.pushUser(loopPrompt("limits-left", { left: `${words} ${isOne ? "is" : "are"}` }));
}

function findLow(limit: number, most: number): number {
  return Math.min(most, Math.floor(limit * LOW_SHARE));
}

/** The limit that a run has reached and that ends it after one last turn; null while it may go on. */
export function limitReached(run: Run, nowMs: number): BailoutReason | null {
  const { limits } = run;
  if (run.turn >= limits.turns) return "max_iterations";
  if (run.overToolCalls) return "max_tool_calls";
  if (run.turn > 0 && nowMs >= findSoftEndMs(run)) return "deadline";
  return null;
}
