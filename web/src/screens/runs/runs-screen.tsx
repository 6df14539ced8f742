import { Activity, SearchX } from "lucide-react";
import { useRef, useState } from "react";
import { Link } from "wouter";
import type { SessionCard } from "../../../../src/schema/api/session.ts";
import { countOf } from "../../ui/measures.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { RunsToolbar } from "./runs-toolbar.tsx";
import { type GridHandle, SessionGrid } from "./session-grid.tsx";
import { StopDialog } from "./stop-dialog.tsx";
import { TickedBar } from "./ticked-bar.tsx";
import { useRunFilters, useSessionList } from "./use-session-list.ts";
import { tickedPath, useTicks } from "./use-ticks.ts";

/** All sessions: what needs the person, what is at work, what is done. */
export default function RunsScreen() {
  const filters = useRunFilters();
  const { query, sessions, counts, areCountsCut, lines, isCut } = useSessionList(filters);
  const ticks = useTicks();
  const [stopping, setStopping] = useState<SessionCard | null>(null);
  const grid = useRef<GridHandle>(null);
  const isFiltered = filters.search !== "" || filters.since !== "" || filters.only !== null;
  const only = query.data?.searchedOnly;
  return (
    <>
      <ScreenHead
        title="Runs"
        about={sessions && `${isCut ? "the newest " : ""}${countOf(sessions.length, "session")}`}
      />
      <RunsToolbar
        filters={filters}
        counts={counts}
        areCountsCut={areCountsCut}
        onLeave={() => grid.current?.focus()}
      />
      {only !== undefined && (
        <p role="status" className="border-b border-line bg-raised px-4 py-1 text-xs text-ink-2">
          Only the {only.toLocaleString("en-US")} newest sessions were searched.
        </p>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">
        {query.isError && !sessions ? (
          <Failed failure={query.error} onRetry={() => void query.refetch()} />
        ) : !sessions ? (
          <Loading rows={9} label="Loading sessions" />
        ) : lines.length === 0 ? (
          <Nothing isFiltered={isFiltered} allPath={tickedPath(ticks.ticked)} />
        ) : (
          <SessionGrid lines={lines} ticks={ticks} onStop={setStopping} handle={grid} />
        )}
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
      <Empty icon={SearchX} title="Nothing fits">
        <p>No session has these words in its title, tasks or answers, or it stands otherwise.</p>
        <Link href={allPath} className="mt-3 inline-block text-accent underline underline-offset-2">
          Show all sessions
        </Link>
      </Empty>
    );
  return (
    <Empty icon={Activity} title="No runs yet">
      <p>Give an agent something to do; it will be here with everything it delegated.</p>
      <Link
        href="/"
        className="mt-3 inline-flex h-8 items-center rounded-md bg-accent px-3 text-sm font-medium text-accent-ink hover:brightness-110"
      >
        Go to the chat
      </Link>
    </Empty>
  );
}
