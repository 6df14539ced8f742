import type { Controlled, SessionCard } from "@retinue/core/schema/api/session";
import { showCount, showNumber } from "@retinue/core/show/measures";
import type { SessionGroup } from "@retinue/core/show/standing";
import { Activity, SearchX } from "lucide-react";
import { useRef, useState } from "react";
import { api } from "../../data/client.ts";
import { renew } from "../../data/queries.ts";
import { join } from "../../ui/class-names.ts";
import { ButtonLink, Segmented, Select, TextLink } from "../../ui/controls.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { tell, useAttempt } from "../../ui/toast.tsx";
import { GROUPS } from "./group-sessions.ts";
import { type GridHandle, SessionGrid } from "./session-grid.tsx";
import { TickedBar } from "./ticked-bar.tsx";
import { PERIODS, tickedPath, useRunFilters, useSessionList, useTicks } from "./use-session-list.ts";

/** All sessions: what needs the person, what is at work, what is done. */
export default function RunsScreen() {
  const filters = useRunFilters();
  const { query, sessions, counts, areCountsCut, lines, isCut } = useSessionList(filters);
  const ticks = useTicks();
  const [stopping, setStopping] = useState<SessionCard | null>(null);
  const grid = useRef<GridHandle>(null);
  const isFiltered = filters.search !== "" || filters.since !== "" || filters.only !== "";
  const only = query.data?.searchedOnly;
  return (
    <>
      <ScreenHead
        title="Runs"
        about={sessions && `${isCut ? "the newest " : ""}${showCount(sessions.length, "session")}`}
      />
      <RunsToolbar
        filters={filters}
        counts={counts}
        areCountsCut={areCountsCut}
        onLeave={() => grid.current?.focus()}
      />
      {only !== undefined && (
        <p role="status" className="border-b border-line bg-raised px-4 py-1 text-xs text-ink-2">
          Only the {showNumber(only)} newest sessions were searched.
        </p>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <Loaded query={query} rows={9} label="Loading sessions">
          {() =>
            lines.length === 0 ? (
              <Nothing isFiltered={isFiltered} allPath={tickedPath(ticks.ticked)} />
            ) : (
              <SessionGrid lines={lines} ticks={ticks} onStop={setStopping} handle={grid} />
            )
          }
        </Loaded>
        <TickedBar
          ticks={ticks}
          onLeave={() => grid.current?.focus()}
          findRowBesides={(ids) => grid.current?.findRowBesides(ids) ?? null}
        />
      </div>
      <StopDialog card={stopping} onClose={() => setStopping(null)} />
    </>
  );
}

function Nothing({ isFiltered, allPath }: { isFiltered: boolean; allPath: string }) {
  if (isFiltered)
    return (
      <Empty icon={SearchX} title="No matches">
        <p>No session matches these words and filters.</p>
        <TextLink href={allPath} className="mt-3 inline-block">
          Show all sessions
        </TextLink>
      </Empty>
    );
  return (
    <Empty icon={Activity} title="No runs yet">
      <p>Give an agent a task; it will appear here with everything it delegates.</p>
      <ButtonLink kind="primary" href="/" className="mt-3">
        Go to the chat
      </ButtonLink>
    </Empty>
  );
}

/** Asks once more before everything in a session is stopped. */
function StopDialog({ card, onClose }: { card: SessionCard | null; onClose: () => void }) {
  const [isBusy, attempt] = useAttempt();
  const name = card?.title || card?.session_id || "";
  const stop = async () => {
    if (!card) return;
    await attempt(async () => {
      const { done } = await api.post<Controlled>(`/api/sessions/${card.session_id}/cancel`);
      tell(done ? `Stopped: ${name}` : `Nothing was running in: ${name}`);
      await renew({ queryKey: ["sessions"] });
    });
    onClose();
  };
  return (
    <ConfirmDialog
      open={card !== null}
      onClose={onClose}
      title="Stop this session?"
      yes="Stop everything"
      no="Let it run"
      isBusy={isBusy}
      onYes={() => void stop()}
    >
      <p className="wrap-anywhere">
        <strong className="font-medium text-ink">{name}</strong> and everything it delegated (
        {showCount(card?.runs ?? 0, "run")} so far) will be stopped. What was done stays on record, and you
        can continue in the same session later.
      </p>
    </ConfirmDialog>
  );
}

type RunsToolbarProps = {
  filters: ReturnType<typeof useRunFilters>;
  counts: Readonly<Record<SessionGroup, number>>;
  /** There are more sessions than were counted. */
  areCountsCut: boolean;
  /** The person is done with typing and wants the list. */
  onLeave: () => void;
};

function RunsToolbar({ filters, counts, areCountsCut, onLeave }: RunsToolbarProps) {
  const all = counts.needsYou + counts.running + counts.done;
  const mark = (count: number, isUrgent = false) => (
    <span className={join("figures text-2xs", isUrgent ? "font-semibold text-warn" : "text-ink-3")}>
      {showNumber(count)}
      {areCountsCut && "+"}
    </span>
  );
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-2">
      <SearchBox
        label="Search titles, tasks and answers"
        does="Search sessions"
        around="min-w-44 flex-1 sm:max-w-72"
        value={filters.search}
        onChange={filters.setSearch}
        onLeave={onLeave}
      />
      <Segmented<SessionGroup | "">
        label="Show"
        value={filters.only}
        choices={[
          { value: "", name: "All", mark: mark(all) },
          ...GROUPS.map(({ value, name }) => ({
            value,
            name,
            mark: mark(counts[value], value === "needsYou" && counts[value] > 0),
          })),
        ]}
        onChange={filters.setOnly}
        className="max-w-full overflow-x-auto max-sm:order-3"
      />
      <Select
        aria-label="Period"
        value={filters.since}
        onChoose={filters.setSince}
        className="max-sm:order-2 sm:ml-auto"
      >
        {PERIODS.map(({ value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </Select>
    </div>
  );
}
