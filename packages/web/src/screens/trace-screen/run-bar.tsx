import type { StepView } from "@retinue/core/schema/api/session";
import { type ReactNode, useMemo } from "react";
import { useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { join } from "../../ui/class-names.ts";
import { findLook, StatusIcon } from "../../ui/status.tsx";
import type { TimeChart } from "./chart.tsx";
import { onlyWaits } from "./playhead/moments.ts";
import { stepAt } from "./playhead/run-at.ts";
import { showSpan } from "./time-axis.ts";

/** Room that a label needs to stand inside its bar, or beside it. */
const INSIDE_PX = 110;
const BESIDE_PX = 150;
const LEAST_LABEL_PX = 28;

type BarPlace = { left: number; width: number; within: number };

function isOpen(standing: string): boolean {
  return standing === "running" || standing === "waiting" || standing === "interrupted";
}

type RunBarProps = {
  standing: string;
  place: BarPlace;
  /** Where what is in sight begins. */
  stickyPx: number;
  /** Others may stand beside it: a label that does not fit inside is left out. */
  isBeside?: boolean;
  children: ReactNode;
};

/** The bar of a run with its label, which stays in sight while a long bar is scrolled. */
export function RunBar({
  standing,
  place: { left, width, within },
  stickyPx,
  isBeside = false,
  children,
}: RunBarProps) {
  const { tone, soft } = findLook(standing);
  const isInside = width >= (isBeside ? LEAST_LABEL_PX : INSIDE_PX);
  const isRight = within - left - width >= BESIDE_PX || within - left - width > left;
  return (
    <>
      <span
        data-standing={standing}
        className={join(
          "absolute inset-y-0 flex items-center overflow-clip rounded-[4px] border border-current/45 text-xs",
          tone,
          width >= 6 ? soft : standing === "completed" ? "bg-current/40" : "bg-current",
          isOpen(standing) && "border-dashed",
        )}
        style={{ left, width }}
      >
        {isInside && children && (
          <Label standing={standing} style={{ left: stickyPx }} className="sticky max-w-full pr-2 pl-1.5">
            {children}
          </Label>
        )}
      </span>
      {!isInside && !isBeside && children && (
        <Label
          standing={standing}
          className={join("absolute inset-y-0 text-xs", isRight ? "pl-1.5" : "justify-end pr-1.5")}
          style={
            isRight
              ? { left: left + width, maxWidth: Math.max(0, within - left - width) }
              : { right: within - left, maxWidth: left }
          }
        >
          {children}
        </Label>
      )}
    </>
  );
}

type LabelProps = {
  standing: string;
  children: ReactNode;
  className: string;
  style: { left?: number; right?: number; maxWidth?: number };
};

function Label({ standing, children, className, style }: LabelProps) {
  return (
    <span className={join("flex min-w-0 items-center gap-1 text-ink-2", className)} style={style}>
      {standing !== "completed" && <StatusIcon standing={standing} />}
      <span className="truncate">{children}</span>
    </span>
  );
}

/** Model calls are quiet, tool calls stand out unless they only wait for a child, and what went wrong has its own colour. */
function lookOfStep({ kind, tool, outcome, status }: StepView): string {
  if (outcome === "error" || outcome === "denied" || status === "failed") return "bg-bad";
  if (kind === "turn") return "bg-ink-3/60";
  return onlyWaits(tool ?? "") ? "bg-accent/30" : "bg-accent";
}

function nameStep({ kind, tool, turn, durationMs }: StepView): string {
  const time = durationMs === null ? "under way" : showSpan(durationMs);
  return `${kind === "turn" ? `turn ${turn ?? "?"}` : tool}, ${time}`;
}

type StepStripProps = {
  runId: string;
  chart: TimeChart;
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
      // Pieces too close to tell apart are drawn once.
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
          title={nameStep(step)}
          className={join("absolute inset-y-0 rounded-full", lookOfStep(step))}
          style={{ left, width }}
        />
      ))}
    </span>
  );
}
