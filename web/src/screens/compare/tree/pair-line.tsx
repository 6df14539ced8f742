import { ChevronDown, ChevronRight } from "lucide-react";
import { memo } from "react";
import { Link } from "wouter";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { AgentName } from "../../../ui/face.tsx";
import { Cell, Row } from "../../../ui/grid.tsx";
import { join } from "../../../ui/join.ts";
import { showCost, showTokens } from "../../../ui/measures.ts";
import { lookOf, StatusBadge } from "../../../ui/status.tsx";
import { showSpan } from "../../trace/show-span.ts";
import type { Letter } from "../side-letter.tsx";
import { hasSameTask, type PairRow } from "./pair-rows.ts";

const INDENT_PX = 14;
const MOST_INDENTS = 10;

/** Columns of the list where there is room. */
export const COLUMNS = "grid grid-cols-[minmax(0,1fr)_20rem_20rem]";
/** Columns of what is told of one run. */
export const FIGURES = "grid grid-cols-[5.75rem_4rem_3.5rem_1fr] items-center gap-x-2";

/** What is told of one side's run. */
export type SideOfRow = {
  /** How it stands in one word. */
  standing: string;
  ms: number;
  /** Where it is looked at by itself. */
  path: string;
};

/** What a row is told by the list around it. */
export type PairLineProps = {
  row: PairRow;
  rowIndex: number;
  topPx: number;
  heightPx: number;
  isCurrent: boolean;
  isNarrow: boolean;
  sideOf: (letter: Letter, run: TraceRun) => SideOfRow;
  onCurrent: (id: string) => void;
  onToggle: (row: PairRow) => void;
};

/** One pair of runs: who did what at the left, then how it went on either side. */
export const PairLine = memo(function PairLine(props: PairLineProps) {
  const { row, rowIndex, topPx, heightPx, isCurrent, isNarrow, sideOf, onCurrent } = props;
  const { pair, level, isExpanded, place, siblings } = row;
  const [a, b] = [pair.a && sideOf("A", pair.a), pair.b && sideOf("B", pair.b)];
  const [run] = [pair.a ?? pair.b];
  const words = [
    run?.agent,
    run?.task,
    `A: ${a ? lookOf(a.standing).word : "no such run"}`,
    `B: ${b ? lookOf(b.standing).word : "no such run"}`,
  ];
  return (
    <Row
      aria-rowindex={rowIndex}
      aria-level={level}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-expanded={isExpanded ?? undefined}
      aria-selected={isCurrent}
      aria-label={words.join(", ")}
      tabIndex={isCurrent ? 0 : -1}
      data-run={pair.id}
      onFocus={() => onCurrent(pair.id)}
      className={join(
        "absolute inset-x-0 top-0 border-b border-line/60 px-4 -outline-offset-2",
        isNarrow ? "flex flex-col justify-center gap-0.5" : join(COLUMNS, "items-stretch gap-x-2"),
        isCurrent ? "bg-raised" : "hover:bg-hover/50",
      )}
      style={{ transform: `translateY(${topPx}px)`, height: heightPx }}
    >
      <NameCell {...props} />
      <RunCell letter="A" run={pair.a} side={a} isNarrow={isNarrow} />
      <RunCell letter="B" run={pair.b} side={b} isNarrow={isNarrow} />
    </Row>
  );
});

function NameCell({ row, isNarrow, onToggle }: PairLineProps) {
  const { pair, level, isExpanded, isFaint } = row;
  const run = pair.a ?? pair.b;
  const Chevron = isExpanded ? ChevronDown : ChevronRight;
  const isReworded = !hasSameTask(pair);
  const indentPx = Math.min(level - 1, MOST_INDENTS) * (isNarrow ? INDENT_PX / 2 : INDENT_PX);
  return (
    <Cell className={join("flex min-w-0 items-center", isFaint && "text-ink-3 [&_span]:font-normal")}>
      <span aria-hidden className="shrink-0" style={{ width: indentPx }} />
      <span className="w-6 shrink-0">
        {isExpanded !== null && (
          <button
            type="button"
            tabIndex={-1}
            aria-label={isExpanded ? "Collapse" : "Expand"}
            className="grid size-6 place-items-center rounded text-ink-3 hover:bg-hover hover:text-ink"
            onClick={() => onToggle(row)}
          >
            <Chevron className="size-3.5" />
          </button>
        )}
      </span>
      <div className="grid min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-2 text-sm">
          <span className="max-w-40 min-w-0 shrink-0 truncate">
            {run && <AgentName name={run.agent} size="sm" />}
          </span>
          {pair.a && pair.b && pair.a.agent !== pair.b.agent && (
            <span className="flex max-w-40 min-w-0 shrink-0 items-center gap-1 truncate text-xs text-ink-2">
              in B <AgentName name={pair.b.agent} size="sm" />
            </span>
          )}
          <span className="truncate text-xs text-ink-3" title={run?.task}>
            {run?.task}
          </span>
        </div>
        {isReworded && (
          <p className="truncate text-xs text-ink-3" title={pair.b?.task}>
            <span className="font-medium text-ink-2">in B:</span> {pair.b?.task}
          </p>
        )}
      </div>
    </Cell>
  );
}

function RunCell({
  letter,
  run,
  side,
  isNarrow,
}: {
  letter: Letter;
  run: TraceRun | null;
  side: SideOfRow | null;
  isNarrow: boolean;
}) {
  const mark = isNarrow && (
    <span aria-hidden className="font-mono text-2xs text-ink-3">
      {letter}
    </span>
  );
  const around = join(
    "flex min-w-0 items-center gap-2",
    isNarrow ? "h-6 pl-6" : "border-l border-line/60 pl-2",
  );
  if (!run || !side)
    return (
      <Cell className={join(around, "text-xs text-ink-3")}>
        {mark} <span className="px-2">only in {letter === "A" ? "B" : "A"}</span>
      </Cell>
    );
  return (
    <Cell className={around}>
      {mark}
      <Link
        href={side.path}
        tabIndex={-1}
        title={`Open it in ${letter}'s trace (${letter.toLowerCase()})`}
        className={join(
          FIGURES,
          "figures h-7 min-w-0 flex-1 rounded-md px-2 text-xs text-ink-2 hover:bg-hover hover:text-ink",
          isNarrow && "h-6 max-w-80",
        )}
      >
        <StatusBadge standing={side.standing} quiet />
        <span className="text-right">{showSpan(side.ms)}</span>
        <span className="text-right">{showTokens(run.tokens.subtree)}</span>
        <span className="text-right">{showCost(run.costUsd.subtree)}</span>
      </Link>
    </Cell>
  );
}
