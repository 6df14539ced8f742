import type { ReactNode } from "react";
import type { Trace } from "../../../../../src/schema/inspect/trace.ts";
import { countOf, showCost, showTokens } from "../../../ui/measures.ts";
import { StatusBadge, standingOf } from "../../../ui/status.tsx";
import { NOT_BEGUN } from "./course/standing-at.ts";
import { type State, stateAt } from "./course/state-at.ts";
import { useReplay, useThen } from "./replay-scope.tsx";

/** How the session stood where the playhead is, and what it had come to; `now` is how it stands. */
export function ReplayHead({
  trace,
  now,
  Figure,
}: {
  trace: Trace;
  now: string;
  Figure: (props: { name: string; children: ReactNode }) => ReactNode;
}) {
  const { course, endMs, calls } = useReplay();
  const thenMs = useThen() ?? endMs;
  const state = stateAt(course, thenMs);
  return (
    <>
      <StatusBadge standing={thenMs >= endMs ? now : standingThen(trace, state, thenMs)} />
      <dl
        aria-label="At this moment"
        className="figures flex min-w-0 flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-2"
      >
        <Figure name="Runs that had begun">
          {state.begun.toLocaleString("en-US")} of {countOf(course.runs, "run")}
        </Figure>
        <Figure name="Live">{state.live.toLocaleString("en-US")} live</Figure>
        {state.failed > 0 && <Figure name="Failed">{state.failed.toLocaleString("en-US")} failed</Figure>}
        {calls === "ready" && (
          <>
            <Figure name="Turns">{countOf(state.turns, "turn")}</Figure>
            <Figure name="Calls">{countOf(state.calls, "call")}</Figure>
            <Figure name="Tokens">{showTokens(state.tokens)} tokens</Figure>
            <Figure name="Cost">{showCost(state.costUsd)}</Figure>
          </>
        )}
      </dl>
    </>
  );
}

/** Between two tasks a session stands as the one before left it. */
function standingThen({ runs }: Trace, { live, waiting }: State, atMs: number): string {
  if (waiting > 0) return "waiting";
  if (live > 0) return "running";
  const last = runs.findLast(({ endMs }) => endMs !== null && endMs <= atMs);
  return last ? standingOf(last) : NOT_BEGUN;
}
