import { GitCompareArrows, Trash2, X } from "lucide-react";
import { useRef, useState } from "react";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { Keys } from "../../ui/keys.tsx";
import { useSessionDetail } from "../compare/use-session-detail.ts";
import { DeleteDialog } from "./delete-dialog.tsx";
import type { useTicks } from "./use-ticks.ts";

/** More are only counted: the list and the question before they are deleted name them. */
const MOST_NAMED = 3;

/** So much of the list's end stays free for the bar that lies over it. */
export const BAR_PX = 72;

/** What is ticked and what can be done with it; it lies over the end of the list, which stays where it is. */
export function TickedBar({
  ticks,
  onLeave,
  findRowBesides,
}: {
  ticks: ReturnType<typeof useTicks>;
  /** The button that was used is gone, and the list takes the focus. */
  onLeave: () => void;
  /** Where in the list the focus goes when these sessions are gone. */
  findRowBesides: (sessionIds: readonly string[]) => HTMLElement | null;
}) {
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
              <Keys keys="c" />
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
  return count === 1 ? "1 ticked – tick another to compare" : `${count.toLocaleString("en-US")} ticked`;
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
