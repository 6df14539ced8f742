import type { Removal } from "@retinue/core/schema/api/session";
import { showBytes, showCount, showNumber } from "@retinue/core/show/measures";
import { useQuery } from "@tanstack/react-query";
import { GitCompareArrows, Trash2, X } from "lucide-react";
import { useRef, useState } from "react";
import { api } from "../../data/client.ts";
import { renew, useSessionDetail } from "../../data/queries.ts";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { REACHABLE } from "../../ui/class-names.ts";
import { Button, KeyHint } from "../../ui/controls.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { Loaded } from "../../ui/states.tsx";
import { tell, useAttempt } from "../../ui/toast.tsx";
import type { useTicks } from "./use-session-list.ts";

/** More are only counted: the list and the question before they are deleted name them. */
const MOST_NAMED = 3;

/** So much of the list's end stays free for the bar that lies over it. */
export const BAR_PX = 72;

type TickedBarProps = {
  ticks: ReturnType<typeof useTicks>;
  /** The button that was used is gone, and the list takes the focus. */
  onLeave: () => void;
  /** Where in the list the focus goes when these sessions are gone. */
  findRowBesides: (sessionIds: readonly string[]) => HTMLElement | null;
};

/** What is ticked and what can be done with it; it lies over the end of the list, which stays where it is. */
export function TickedBar({ ticks, onLeave, findRowBesides }: TickedBarProps) {
  const { ticked, toggle, clear, compare } = ticks;
  useShortcuts([{ keys: "c", does: "Compare the two ticked sessions", act: compare }]);
  const untick = (id: string) => {
    toggle(id);
    onLeave();
  };
  const untickAll = () => {
    clear();
    onLeave();
  };
  const [deleting, setDeleting] = useState<readonly string[] | null>(null);
  const removed = useRef<readonly string[]>([]);
  const words = wordsFor(ticked.length);
  return (
    <>
      <p role="status" className="sr-only">
        {words}
      </p>
      {ticked.length > 0 && (
        <section
          aria-label="Ticked sessions"
          className="absolute inset-x-3 bottom-3 z-20 mx-auto flex w-fit max-w-[calc(100%-1.5rem)] animate-arrive items-center gap-2 rounded-xl border border-line-strong bg-panel py-1.5 pr-1.5 pl-3 shadow-float"
        >
          <p aria-hidden className="text-sm text-ink-2">
            {words}
          </p>
          {ticked.length <= MOST_NAMED && (
            <ul className="flex min-w-0 gap-1.5 max-sm:hidden">
              {ticked.map((id) => (
                <TickedSession key={id} id={id} onUntick={untick} />
              ))}
            </ul>
          )}
          <Button
            kind="primary"
            disabled={ticked.length !== 2}
            onClick={compare}
            title={ticked.length === 2 ? undefined : "Tick exactly two sessions to compare them"}
          >
            <GitCompareArrows aria-hidden className="size-3.5" /> Compare
            <span className="max-sm:hidden">
              <KeyHint keys="c" />
            </span>
          </Button>
          <Button onClick={() => setDeleting(ticked)}>
            <Trash2 aria-hidden className="size-3.5" /> Delete…
          </Button>
          <Button kind="quiet" aria-label="Untick all" title="Untick all (Escape)" onClick={untickAll}>
            <X className="size-4" />
          </Button>
        </section>
      )}
      <DeleteDialog
        sessionIds={deleting}
        onClose={(gone) => {
          removed.current = gone;
          setDeleting(null);
          if (gone.length > 0) clear();
        }}
        finalFocus={() => (removed.current.length > 0 ? findRowBesides(removed.current) : null)}
      />
    </>
  );
}

function wordsFor(count: number): string {
  if (count === 0) return "";
  return count === 1 ? "1 ticked – tick another to compare" : `${showNumber(count)} ticked`;
}

function TickedSession({ id, onUntick }: { id: string; onUntick: (id: string) => void }) {
  const { data } = useSessionDetail(id);
  const name = data?.session.title || id;
  return (
    <li className="flex h-7 max-w-52 min-w-0 items-center gap-0.5 rounded-md bg-raised pl-2 text-xs text-ink">
      <span className="truncate" title={name}>
        {name}
      </span>
      <Button kind="quiet" small aria-label={`Untick ${name}`} onClick={() => onUntick(id)}>
        <X className="size-3" />
      </Button>
    </li>
  );
}

type DeleteDialogProps = {
  /** Null: nothing is asked. */
  sessionIds: readonly string[] | null;
  /** Told which ones are gone now. */
  onClose: (removed: readonly string[]) => void;
  finalFocus: () => HTMLElement | null;
};

/** Says what would go, and asks once more before sessions are removed for good. */
function DeleteDialog({ sessionIds, onClose, finalFocus }: DeleteDialogProps) {
  const [isBusy, attempt] = useAttempt();
  const plan = useQuery({
    queryKey: ["removal", sessionIds],
    queryFn: () => api.post<Removal>("/api/sessions/removal", { sessionIds, dryRun: true }),
    enabled: sessionIds !== null,
    staleTime: 0,
    gcTime: 0,
  });
  const remove = async () => {
    let removed: readonly string[] = [];
    await attempt(async () => {
      const { sessions, going } = await api.post<Removal>("/api/sessions/removal", { sessionIds });
      removed = going.map(({ sessionId }) => sessionId);
      tell(`Deleted ${showCount(sessions, "session")}`);
      await renew({ queryKey: ["sessions"] });
      await renew({ queryKey: ["storage"] });
    });
    onClose(removed);
  };
  return (
    <ConfirmDialog
      open={sessionIds !== null}
      onClose={() => onClose([])}
      title="Delete for good?"
      finalFocus={finalFocus}
      yes="Delete"
      no="Keep"
      isBusy={isBusy || !plan.data || plan.data.sessions === 0}
      onYes={() => void remove()}
    >
      <Loaded query={plan} rows={2} label="Working out what would be deleted">
        {({ sessions, bytes, going, kept }) => (
          <div className="grid gap-2">
            <p>
              <strong className="font-medium text-ink">
                {showCount(sessions, "session")}, about {showBytes(bytes)}
              </strong>
              , with everything on record about them and their own files. They can no longer be undone,
              replayed or continued. Files of the project stay as they are.
            </p>
            <NamedSessions
              label="What is deleted"
              sessions={going.map(({ bytes: size, ...session }) => ({
                ...session,
                about: `, ${showBytes(size)}`,
              }))}
            />
            <NamedSessions
              label="What is kept"
              sessions={kept.map(({ why, ...session }) => ({ ...session, about: ` stays: ${why}` }))}
            />
          </div>
        )}
      </Loaded>
    </ConfirmDialog>
  );
}

type NamedSessionsProps = {
  label: string;
  sessions: readonly { sessionId: string; title: string; about: string }[];
};

function NamedSessions({ label, sessions }: NamedSessionsProps) {
  if (sessions.length === 0) return null;
  return (
    <section
      aria-label={label}
      {...REACHABLE}
      className="max-h-40 overflow-auto rounded-md border border-line px-3 py-1.5 text-xs leading-5"
    >
      <ul>
        {sessions.map(({ sessionId, title, about }) => (
          <li key={sessionId} className="wrap-anywhere">
            <span className="text-ink">{revealHidden(title) || sessionId}</span>
            {about}
          </li>
        ))}
      </ul>
    </section>
  );
}
