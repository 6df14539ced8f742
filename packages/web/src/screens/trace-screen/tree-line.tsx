import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { memo } from "react";
import { join } from "../../ui/class-names.ts";
import { AgentName } from "../../ui/face.tsx";
import { Cell, GridRow } from "../../ui/grid.tsx";
import { findLook, StatusIcon } from "../../ui/status.tsx";
import { FoldButton, type FoldedRow } from "../../ui/tree.tsx";
import { LEAST_BAR_PX, type TimeChart } from "./chart.tsx";
import { PlayheadLine } from "./playhead/playhead.tsx";
import { useIsPast, useStandingThen, useUntil } from "./playhead/playhead-scope.tsx";
import { NOT_BEGUN } from "./playhead/run-at.ts";
import { RunBar, StepStrip } from "./run-bar.tsx";
import { showSpan } from "./time-axis.ts";

const INDENT_PX = 14;
const MOST_INDENTS = 14;
const GUIDES = `repeating-linear-gradient(to right, transparent 0 ${INDENT_PX - 7}px, var(--line) ${INDENT_PX - 7}px ${INDENT_PX - 6}px, transparent ${INDENT_PX - 6}px ${INDENT_PX}px)`;

type TreeLineProps = {
  row: FoldedRow<TraceRun>;
  rowIndex: number;
  topPx: number;
  chart: TimeChart;
  originMs: number;
  isCursor: boolean;
  isOpen: boolean;
  /** Its model and tool calls are drawn. */
  hasSteps: boolean;
  isNarrow: boolean;
  onOpen: (runId: string) => void;
  onToggle: (row: FoldedRow<TraceRun>) => void;
};

/** One run: its place in the tree at the left, its bar on the axis at the right. */
export const TraceLine = memo(function TreeLine(props: TreeLineProps) {
  const { row, rowIndex, topPx, chart, isCursor, isOpen, isNarrow, onOpen } = props;
  const { node: run, level, isExpanded, place, siblings } = row;
  const standing = useStandingThen(run);
  const untilMs = useUntil(run, chart.timeline.endMs);
  const words = [run.agent, findLook(standing).word, run.task].join(", ");
  return (
    <GridRow
      aria-rowindex={rowIndex}
      aria-level={level}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={isExpanded ?? undefined}
      aria-selected={isOpen}
      aria-label={words}
      tabIndex={isCursor ? 0 : -1}
      data-run={run.runId}
      onClick={() => onOpen(run.runId)}
      className={join(
        "group absolute top-0 left-0 flex min-w-full cursor-pointer -outline-offset-2",
        isNarrow ? "h-15" : "h-8",
        isOpen ? "bg-accent-soft" : isCursor ? "bg-raised" : "hover:bg-hover/50",
      )}
      style={{ transform: `translateY(${topPx}px)`, width: chart.leftPx + (isNarrow ? 0 : chart.widthPx) }}
    >
      <div
        className={join(
          "sticky left-0 z-10 flex shrink-0 items-center overflow-clip border-b border-line/60",
          isOpen ? "bg-accent-soft" : isCursor ? "bg-raised" : "bg-panel group-hover:bg-hover",
          !isNarrow && "border-r",
        )}
        style={{ width: isNarrow ? "100%" : chart.leftPx }}
      >
        <NameCell {...props} standing={standing} untilMs={untilMs} />
        <Cell
          className={join(
            "figures shrink-0 pr-3 text-right text-xs text-ink-2",
            isNarrow ? "w-20 self-start pt-2.5" : "w-20",
          )}
        >
          {standing === NOT_BEGUN ? (
            <span className="text-2xs text-ink-3">{NOT_BEGUN}</span>
          ) : (
            showSpan(untilMs - run.startMs)
          )}
        </Cell>
        {isNarrow && <ThinBar {...props} standing={standing} untilMs={untilMs} />}
      </div>
      {!isNarrow && <BarCell {...props} standing={standing} untilMs={untilMs} />}
    </GridRow>
  );
});

/** `untilMs`: up to where the run is drawn. */
type PartProps = TreeLineProps & { standing: string; untilMs: number };

function NameCell({ row, isNarrow, onToggle, standing }: PartProps) {
  const { node: run, level, isExpanded } = row;
  const isFaint = row.isFaint || standing === NOT_BEGUN;
  const indentPx = Math.min(level - 1, MOST_INDENTS) * INDENT_PX;
  return (
    <Cell className={join("flex min-w-0 flex-1 items-center self-stretch pl-2", isNarrow && "pb-4")}>
      <span
        aria-hidden
        className="shrink-0 self-stretch"
        style={{ width: indentPx, backgroundImage: indentPx > 0 ? GUIDES : undefined }}
      />
      <FoldButton isExpanded={isExpanded} onToggle={() => onToggle(row)} />
      <StatusIcon standing={standing} labelled />
      <span
        className={join(
          "ml-1.5 flex min-w-0 items-center gap-2 text-sm",
          isFaint && "text-ink-3 [&_span]:font-normal",
          standing === NOT_BEGUN && "grayscale",
        )}
      >
        <span className="max-w-40 min-w-0 shrink-0 truncate">
          <AgentName name={run.agent} size="sm" />
        </span>
        <span className="truncate text-xs text-ink-3" title={run.task}>
          {run.task}
        </span>
      </span>
    </Cell>
  );
}

function BarCell(props: PartProps) {
  const { row, chart, originMs, hasSteps, standing, untilMs, isCursor, isOpen } = props;
  const { node: run, isFaint } = row;
  const { timeline, widthPx, leftPx } = chart;
  const isReplayed = useIsPast();
  const left = timeline.at(run.startMs) * widthPx;
  const right = timeline.at(untilMs) * widthPx;
  const place = { left, width: Math.max(LEAST_BAR_PX, right - left), within: widthPx };
  return (
    <Cell className="relative flex-1 border-b border-line/60" style={{ minWidth: widthPx }}>
      <span
        className={join(
          "absolute left-0 block h-[18px]",
          hasSteps ? "top-[5px]" : "top-[7px]",
          isFaint && "opacity-45",
        )}
        style={{ width: widthPx }}
      >
        {standing !== NOT_BEGUN && (
          <RunBar standing={standing} place={place} stickyPx={leftPx}>
            {isFaint ? null : run.task}
          </RunBar>
        )}
      </span>
      {hasSteps && standing !== NOT_BEGUN && (
        <StepStrip
          runId={run.runId}
          chart={chart}
          originMs={originMs}
          untilMs={isReplayed ? untilMs : null}
        />
      )}
      {/* The ground of these rows hides the line behind all of them. */}
      {(isCursor || isOpen) && <PlayheadLine />}
    </Cell>
  );
}

/** On a phone: when the run was at work, along the whole row. */
function ThinBar({ row: { node: run }, chart: { timeline }, standing, untilMs }: PartProps) {
  const from = timeline.at(run.startMs);
  const to = timeline.at(untilMs);
  return (
    <span aria-hidden className="absolute inset-x-4 bottom-2 h-1.5 rounded-full bg-raised">
      {standing !== NOT_BEGUN && (
        <span
          className={join("absolute inset-y-0 min-w-1 rounded-full bg-current", findLook(standing).tone)}
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
        />
      )}
    </span>
  );
}
