import { type RefObject, useEffect, useRef } from "react";

/** Puts the focus on the element of a run as soon as it is drawn: what is out of sight has none yet. */
export function useRovingFocus(scroller: RefObject<HTMLElement | null>): (runId: string) => void {
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    if (wanted.current === null) return;
    const found = scroller.current?.querySelector<HTMLElement>(`[data-run="${CSS.escape(wanted.current)}"]`);
    if (!found) return;
    wanted.current = null;
    found.focus({ preventScroll: true });
  });
  return (runId) => {
    wanted.current = runId;
  };
}
