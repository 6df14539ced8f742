import type { LiveChange, LiveRun } from "../../../src/schema/api/stream.ts";

/** A run of which nothing has been told yet. */
const STILL: LiveRun = {
  text: "",
  reasoning: "",
  turn: 0,
  waitingOn: null,
  calls: [],
  tokens: 0,
  costUsd: 0,
  isPaused: false,
};

/** How a live run stands after a change of it. */
export function changedRun(before: LiveRun | null, change: LiveChange): LiveRun {
  const { cleared, text = "", reasoning = "", ...rest } = change;
  const from = before ?? STILL;
  return {
    ...from,
    ...rest,
    text: (cleared ? "" : from.text) + text,
    reasoning: (cleared ? "" : from.reasoning) + reasoning,
  };
}
