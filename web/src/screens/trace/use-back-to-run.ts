import { useEffect, useRef } from "react";

/** The pane takes the focus along when it goes; whoever closed it by keyboard is then back at the run it was about. */
export function useBackToRun(openId: string | null): void {
  const before = useRef(openId);
  useEffect(() => {
    const { current: left } = before;
    before.current = openId;
    if (left === null || openId !== null || document.activeElement !== document.body) return;
    document.querySelector<HTMLElement>(`[data-run="${CSS.escape(left)}"]`)?.focus({ preventScroll: true });
  }, [openId]);
}
