import { type RefObject, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import type { SessionCard } from "../../../../src/schema/api/session.ts";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { groupOf, type Line } from "./group-sessions.ts";
import type { useTicks } from "./use-ticks.ts";

type CursorOptions = {
  lines: readonly Line[];
  scroller: RefObject<HTMLElement | null>;
  scrollTo: (index: number) => void;
  ticks: ReturnType<typeof useTicks>;
  onStop: (card: SessionCard) => void;
};

/** The line that the keys act on. It belongs to a session, whatever place the list gives that. */
export function useCursor({ lines, scroller, scrollTo, ticks, onStop }: CursorOptions) {
  const [, go] = useLocation();
  const [currentId, setCurrent] = useState<string | null>(null);
  /** A line that the focus goes to as soon as it is drawn. */
  const wanted = useRef<string | null>(null);
  const known = lines.findIndex((line) => idOf(line) === currentId && currentId !== null);
  const index = known >= 0 ? known : lines.findIndex(({ kind }) => kind === "session");
  const line = lines[index];
  const card = line?.kind === "session" ? line.card : undefined;
  useEffect(() => {
    if (wanted.current === null) return;
    const row = scroller.current?.querySelector<HTMLElement>(
      `[data-session="${CSS.escape(wanted.current)}"]`,
    );
    if (!row) return;
    wanted.current = null;
    row.focus({ preventScroll: true });
  });
  const goTo = (next: number, towards: 1 | -1) => {
    let at = next;
    while (lines[at]?.kind === "head") at += towards;
    const found = lines[at];
    if (found?.kind !== "session") return;
    wanted.current = found.card.session_id;
    setCurrent(found.card.session_id);
    scrollTo(at);
  };
  const isThere = () => scroller.current?.contains(document.activeElement) ?? false;
  const step = (by: 1 | -1) => goTo(isThere() ? index + by : index, by);
  const focus = () => goTo(index, 1);
  useShortcuts([
    { keys: "j", does: "Next session", act: () => step(1) },
    { keys: "k", does: "Session before", act: () => step(-1) },
    // A button that has the focus has its own use for this key, so that only rows take it, below.
    { keys: "Space", does: "Tick the session, to compare two or delete any", act: () => {} },
    { keys: "t", does: "Open the session's trace", act: () => card && go(`/trace/${card.session_id}`) },
    {
      keys: "x",
      does: "Stop the session",
      act: () => card && groupOf(card) !== "done" && onStop(card),
    },
  ]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset.session === undefined) return;
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Home") goTo(0, 1);
    else if (event.key === "End") goTo(lines.length - 1, -1);
    else if (event.key === "Enter" && card) go(`/chat/${card.session_id}`);
    else if (event.key === " " && card) ticks.toggle(card.session_id);
    else if (event.key === "Escape" && ticks.ticked.length > 0) ticks.clear();
    else return;
    event.preventDefault();
  };
  return { currentId: card?.session_id ?? null, setCurrent, focus, onKeyDown };
}

function idOf(line: Line): string | null {
  return line.kind === "session" ? line.card.session_id : null;
}
