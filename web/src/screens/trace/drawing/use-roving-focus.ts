import { type RefObject, useEffect, useRef } from "react";

/** Puts the focus on the element of a run, now or as soon as it is drawn: what is out of sight has none yet. */
export function useRovingFocus(scroller: RefObject<HTMLElement | null>): (runId: string) => void {
  const wanted = useRef<string | null>(null);
  const take = () => {
    if (wanted.current === null) return;
    const name = CSS.escape(wanted.current);
    const found = scroller.current?.querySelector<HTMLElement>(`[data-run="${name}"]`);
    if (!found) return;
    wanted.current = null;
    found.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (isFree(scroller)) take();
    else wanted.current = null;
  });
  return (runId) => {
    wanted.current = runId;
    take();
  };
}

/** Whether the focus may be moved without being asked for: it is among the runs, or on nothing but the page or screen. */
export function isFree(scroller: RefObject<HTMLElement | null>): boolean {
  const { activeElement } = document;
  const isNowhere = activeElement === document.body || activeElement?.id === "screen";
  return isNowhere || (scroller.current?.contains(activeElement) ?? false);
}
