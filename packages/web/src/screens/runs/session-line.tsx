import type { SessionCard } from "@retinue/core/schema/api/session";
import { showCost, showCount, showShort, showSpacedDuration } from "@retinue/core/show/measures";
import { groupSession, nameSessionStatus } from "@retinue/core/show/standing";
import { Ban, ChartGantt, Quote, Unplug } from "lucide-react";
import { memo, type ReactNode } from "react";
import { Link } from "wouter";
import { join } from "../../ui/class-names.ts";
import { Button, IconLink } from "../../ui/controls.tsx";
import { AgentName } from "../../ui/face.tsx";
import { Cell, GridRow } from "../../ui/grid.tsx";
import { showAge, showMoment } from "../../ui/show-moment.ts";
import { StatusBadge } from "../../ui/status.tsx";
import { workedMs } from "./group-sessions.ts";

/** Columns of the list, by the room there is; on a phone the same cells stand in two lines. */
export const COLUMNS =
  "grid-cols-[1.25rem_6.5rem_minmax(0,1fr)_4.5rem_4rem_5.5rem_4rem] @4xl:grid-cols-[1.25rem_6.5rem_minmax(0,1fr)_9rem_4.5rem_4rem_5.5rem_4rem] @5xl:grid-cols-[1.25rem_6.5rem_minmax(0,1fr)_10rem_7.5rem_5rem_4.5rem_4.5rem_5.5rem_4rem]";

type RowProps = {
  card: SessionCard;
  rowIndex: number;
  nowMs: number;
  isCurrent: boolean;
  isTicked: boolean;
  onTick: (sessionId: string) => void;
  onStop: (card: SessionCard) => void;
  onCurrent: (sessionId: string) => void;
};

function SessionGridRow({
  card: { session_id: id },
  rowIndex,
  isCurrent,
  isTicked,
  onCurrent,
  className,
  children,
}: RowProps & { className: string; children: ReactNode }) {
  return (
    <GridRow
      aria-rowindex={rowIndex}
      aria-selected={isCurrent}
      tabIndex={isCurrent ? 0 : -1}
      data-session={id}
      onFocus={() => onCurrent(id)}
      className={join(
        "relative border-b border-line px-4 -outline-offset-2",
        className,
        isTicked ? "bg-accent-soft" : isCurrent && "bg-raised",
      )}
    >
      {children}
    </GridRow>
  );
}

/** One session of the list. */
export const SessionLine = memo(function SessionRow(props: RowProps) {
  const { card, nowMs } = props;
  const figure = "figures text-right text-xs text-ink-2";
  return (
    <SessionGridRow {...props} className={join("grid h-11 items-center gap-x-3 hover:bg-hover/60", COLUMNS)}>
      <SessionTick {...props} />
      <Cell className="flex">
        <StatusBadge standing={nameSessionStatus(card)} />
      </Cell>
      <TaskCell card={card} />
      <Cell className="hidden min-w-0 text-sm @4xl:block">
        {card.agent ? (
          <AgentName name={card.agent} size="sm" />
        ) : (
          <span className="text-ink-3">none yet</span>
        )}
      </Cell>
      <Cell className={join(figure, "hidden @5xl:block")}>
        <Shape card={card} />
      </Cell>
      <Cell className={figure}>{showTime(card, nowMs)}</Cell>
      <Cell className={join(figure, "hidden @5xl:block")}>{showShort(card.tokens)}</Cell>
      <Cell className={figure}>{showCost(card.cost_usd)}</Cell>
      <Cell className="figures text-right text-xs text-ink-3" title={showMoment(Date.parse(card.updated_at))}>
        {showAge(Date.parse(card.updated_at), nowMs)}
      </Cell>
      <RowActions {...props} />
    </SessionGridRow>
  );
});

/** The same on a phone: what it is about, and below it how it went. */
export const SessionCardRow = memo(function SessionCardRow(props: RowProps) {
  const { card, nowMs } = props;
  return (
    <SessionGridRow {...props} className="flex h-17 flex-col justify-center gap-1">
      <div className="flex min-w-0 items-center gap-2" role="none">
        <SessionTick {...props} />
        <TaskCell card={card} />
        <RowActions {...props} />
      </div>
      <Cell className="figures flex min-w-0 items-center gap-2 text-xs text-ink-3">
        <StatusBadge standing={nameSessionStatus(card)} />
        {card.agent && (
          <span className="min-w-0 truncate text-ink-2">
            <AgentName name={card.agent} size="sm" />
          </span>
        )}
        <span className="ml-auto shrink-0">
          {showTime(card, nowMs)} · {showCost(card.cost_usd)} · {showAge(Date.parse(card.updated_at), nowMs)}
        </span>
      </Cell>
    </SessionGridRow>
  );
});

/** The box that ticks a session. The row keeps the focus, so that the keys of the list still work. */
function SessionTick({ card: { session_id: id, title }, isTicked, onTick }: RowProps) {
  return (
    <Cell className="relative z-1 -ml-1 shrink-0">
      <label
        className="grid size-6 cursor-pointer place-items-center"
        title="Tick to compare or delete (Space)"
      >
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Tick ${title || id}`}
          checked={isTicked}
          onChange={({ currentTarget }) => {
            onTick(id);
            currentTarget.closest<HTMLElement>("[data-session]")?.focus({ preventScroll: true });
          }}
          className="size-3.5 cursor-pointer accent-accent"
        />
      </label>
    </Cell>
  );
}

function TaskCell({ card }: { card: SessionCard }) {
  const { session_id: id, title, found, holder } = card;
  return (
    <Cell className="min-w-0 flex-1">
      <div className="flex min-w-0 items-center gap-2">
        <Link
          href={`/chat/${id}`}
          tabIndex={-1}
          title={title || id}
          className="truncate text-sm font-medium text-ink after:absolute after:inset-0"
        >
          {title || id}
        </Link>
        {holder === "elsewhere" && (
          <span
            title="Another process works on this session"
            className="inline-flex shrink-0 items-center gap-1 text-2xs text-ink-3"
          >
            <Unplug aria-hidden className="size-3" /> elsewhere
          </span>
        )}
      </div>
      {found && (
        <p className="flex min-w-0 items-center gap-1 text-2xs text-ink-3">
          <Quote aria-hidden className="size-2.5 shrink-0" />
          <span className="truncate">
            {found.agent}, {found.in}: {found.excerpt}
          </span>
        </p>
      )}
    </Cell>
  );
}

function Shape({ card: { agents, depth, runs } }: { card: SessionCard }) {
  return (
    <span
      title={`${showCount(runs, "run")} of ${showCount(agents, "agent")}, ${showCount(depth + 1, "level")} deep`}
    >
      {agents} × {depth + 1}
      {runs > 1 && <span className="text-ink-3"> · {showCount(runs, "run")}</span>}
    </span>
  );
}

function RowActions({ card, onStop }: RowProps) {
  const name = card.title || card.session_id;
  const canStop = groupSession(card) !== "done";
  return (
    <Cell className="relative flex shrink-0 justify-end gap-0.5">
      {canStop && (
        <Button
          kind="quiet"
          small
          tabIndex={-1}
          aria-label={`Stop ${name}`}
          title="Stop (x)"
          onClick={() => onStop(card)}
        >
          <Ban className="size-3.5" />
        </Button>
      )}
      <IconLink
        href={`/trace/${card.session_id}`}
        tabIndex={-1}
        aria-label={`Trace of ${name}`}
        title="Trace (t)"
        className="h-6"
      >
        <ChartGantt className="size-3.5" />
      </IconLink>
    </Cell>
  );
}

function showTime(card: SessionCard, nowMs: number): string {
  const ms = workedMs(card, nowMs);
  return ms === 0 ? "–" : showSpacedDuration(ms);
}
