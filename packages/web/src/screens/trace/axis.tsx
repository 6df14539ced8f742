import { showSpacedDuration } from "@retinue/core/show/measures";
import { useMemo } from "react";
import type { TimeChart } from "./chart.ts";
import { PlayheadLine } from "./playhead/playhead.tsx";
import { placeTicks } from "./time-axis.ts";

const HATCHED =
  "repeating-linear-gradient(135deg, var(--line) 0 1px, transparent 1px 6px), linear-gradient(var(--ground), var(--ground))";

/** Names of moments above the bars. */
export function AxisNames({ chart: { timeline, widthPx } }: { chart: TimeChart }) {
  const ticks = useMemo(() => placeTicks(timeline, widthPx), [timeline, widthPx]);
  return (
    <div aria-hidden className="relative h-full overflow-clip" style={{ width: widthPx }}>
      {ticks.map(({ at, text }) => (
        <span
          key={at}
          className="figures absolute top-1/2 -translate-y-1/2 pl-1.5 text-2xs whitespace-nowrap text-ink-3"
          style={{ left: at * widthPx }}
        >
          {text}
        </span>
      ))}
      {timeline.gaps.map(({ from, to, leftOutMs }) => (
        <span
          key={from}
          title={`${showSpacedDuration(leftOutMs)} in which nothing was at work`}
          className="absolute inset-y-1 grid place-items-center overflow-clip bg-panel text-2xs text-ink-3"
          style={{ left: from * widthPx, width: (to - from) * widthPx }}
        >
          <span className="whitespace-nowrap">
            {(to - from) * widthPx > 60 ? `${showSpacedDuration(leftOutMs)} idle` : "⋯"}
          </span>
        </span>
      ))}
    </div>
  );
}

/** Lines and idle stretches behind the bars, once for all rows. */
export function AxisLines({ chart: { timeline, widthPx, leftPx } }: { chart: TimeChart }) {
  const ticks = useMemo(() => placeTicks(timeline, widthPx), [timeline, widthPx]);
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-y-0 overflow-clip"
      style={{ left: leftPx, width: widthPx }}
    >
      {ticks.map(({ at }) => (
        <span key={at} className="absolute inset-y-0 w-px bg-line/70" style={{ left: at * widthPx }} />
      ))}
      {timeline.gaps.map(({ from, to }) => (
        <span
          key={from}
          className="absolute inset-y-0 border-x border-line"
          style={{ left: from * widthPx, width: (to - from) * widthPx, background: HATCHED }}
        />
      ))}
      <PlayheadLine />
    </div>
  );
}
