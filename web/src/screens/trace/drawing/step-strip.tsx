import { useMemo } from "react";
import type { StepView } from "../../../../../src/schema/api/session.ts";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { join } from "../../../ui/join.ts";
import { onlyWaits } from "../replay/course/moment.ts";
import { stepAt } from "../replay/course/run-at.ts";
import { showSpan } from "../show-span.ts";
import type { Chart } from "./axis.tsx";

/** Model calls are quiet, tool calls stand out unless they only wait for a child, and what went wrong has its own colour. */
function lookOfStep({ kind, tool, outcome, status }: StepView): string {
  if (outcome === "error" || outcome === "denied" || status === "failed") return "bg-bad";
  if (kind === "turn") return "bg-ink-3/60";
  return onlyWaits(tool ?? "") ? "bg-accent/30" : "bg-accent";
}

function nameOf({ kind, tool, turn, durationMs }: StepView): string {
  const time = durationMs === null ? "under way" : showSpan(durationMs);
  return `${kind === "turn" ? `turn ${turn ?? "?"}` : tool}, ${time}`;
}

/** What a strip is told. */
export type StepStripProps = {
  runId: string;
  chart: Chart;
  originMs: number;
  /** Nothing later is drawn; null draws all there is. */
  untilMs: number | null;
};

/** The model and tool calls of a run as thin pieces below its bar; they are loaded when they are first drawn. */
export function StepStrip({ runId, chart, originMs, untilMs }: StepStripProps) {
  const steps = useSignal(useSession().steps(runId));
  const { timeline, widthPx } = chart;
  const pieces = useMemo(() => {
    let lastRight = -1;
    const lastMs = untilMs ?? timeline.endMs;
    return steps.flatMap((whole) => {
      const step = untilMs === null ? whole : stepAt(whole, originMs + untilMs);
      if (!step) return [];
      const startMs = step.startedAtMs - originMs;
      const endMs = step.endedAtMs === null ? lastMs : step.endedAtMs - originMs;
      const left = timeline.at(startMs) * widthPx;
      const width = Math.max(1.5, (timeline.at(endMs) - timeline.at(startMs)) * widthPx - 0.5);
      // Pieces that nobody could tell apart are drawn once.
      if (left + width < lastRight + 0.75) return [];
      lastRight = left + width;
      return [{ step, left, width }];
    });
  }, [steps, timeline, widthPx, originMs, untilMs]);
  return (
    <span aria-hidden data-testid="step-strip" className="absolute inset-x-0 bottom-[3px] h-[3px]">
      {pieces.map(({ step, left, width }) => (
        <span
          key={step.messageId}
          title={nameOf(step)}
          className={join("absolute inset-y-0 rounded-full", lookOfStep(step))}
          style={{ left, width }}
        />
      ))}
    </span>
  );
}
