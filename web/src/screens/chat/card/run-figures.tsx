import { useNow } from "../../../live/use-now.ts";
import { useSelected } from "../../../live/use-selected.ts";
import { useSession } from "../../../live/use-session.tsx";
import { countOf, showCost, showDuration, showTokens } from "../../../ui/measures.ts";
import { useRun } from "./use-run.ts";
import { useIsHeld } from "./use-standing.ts";

/** Time, turns, tokens and cost of a run; they go on while it lives. */
export function RunFigures({ runId }: { runId: string }) {
  const live = useSession().live(runId);
  const { iterations, maxIterations, tokens, costUsd } = useRun(runId);
  const turn = useSelected(live, (now) => now?.turn ?? 0);
  const liveTokens = useSelected(live, (now) => now?.tokens);
  const liveCost = useSelected(live, (now) => now?.costUsd);
  const turns = Math.max(iterations, turn);
  const cost = liveCost === undefined ? costUsd : liveCost;
  return (
    <span className="figures flex shrink-0 items-center gap-x-2.5 text-2xs text-ink-3">
      <Elapsed runId={runId} />
      <span
        title={`${countOf(turns, "turn")}${maxIterations === null ? "" : ` of at most ${maxIterations}`}`}
      >
        {maxIterations === null ? turns : `${turns}/${maxIterations}`}
        <span className="sr-only"> turns</span>
      </span>
      <span title="Tokens and cost of this run alone">
        {showTokens(liveTokens ?? tokens)}
        <span className="sr-only"> tokens</span> · {showCost(cost)}
      </span>
    </span>
  );
}

function Elapsed({ runId }: { runId: string }) {
  const { startedAtMs, endedAtMs, durationMs } = useRun(runId);
  const isHeld = useIsHeld();
  const now = useNow(endedAtMs === null && isHeld);
  if (endedAtMs === null && !isHeld) return null;
  return <span>{showDuration(durationMs ?? (endedAtMs ?? now) - startedAtMs)}</span>;
}
