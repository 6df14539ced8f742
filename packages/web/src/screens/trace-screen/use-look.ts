import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { useAddress, useChoice, useParam } from "../../ui/use-address.ts";
import type { TraceIndex } from "./use-trace.ts";

/** How the runs are drawn. */
export const VIEWS = [
  { value: "tree", name: "Tree" },
  { value: "lanes", name: "Lanes" },
] as const;

const ZOOM_STEP = 1.6;
const MOST_ZOOM = 400;
/** While keys move the cursor the pane follows, but not through every run on the way. */
const FOLLOW_MS = 140;

/** What the person looks at: the run under the cursor, the one in the pane, the view and its zoom. */
export function useLook(index: TraceIndex, onFailure: (run: TraceRun) => void) {
  const { params, change } = useAddress();
  const openId = params.get("run");
  const [view, showView] = useChoice("view", VIEWS, "tree", { replace: false });
  const [filter, setFilter] = useParam("q");
  const [cursorId, setCursor] = useState(openId);
  const [zoom, setZoom] = useState(1);
  const following = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    if (openId !== null) setCursor(openId);
  }, [openId]);
  // A page that is left must not change the address of the next one. While that one is loaded this one is only hidden,
  // which layout effects alone are told of.
  useLayoutEffect(() => () => clearTimeout(following.current), []);
  const open = useCallback(
    (runId: string) => {
      clearTimeout(following.current);
      setCursor(runId);
      change({ run: runId }, { replace: openId !== null });
    },
    [change, openId],
  );
  const moveTo = useCallback(
    (runId: string) => {
      setCursor(runId);
      clearTimeout(following.current);
      if (openId !== null) following.current = setTimeout(() => change({ run: runId }), FOLLOW_MS);
    },
    [change, openId],
  );
  const close = useCallback(() => {
    clearTimeout(following.current);
    change({ run: null });
  }, [change]);
  const zoomBy = (factor: number) =>
    setZoom((before) => Math.min(MOST_ZOOM, Math.max(1, before * factor < 1.05 ? 1 : before * factor)));
  /** The first failure, and after it the next ones, round and round. */
  const failure = () => {
    const at = index.failures.findIndex(({ runId }) => runId === cursorId);
    const next = index.failures[(at + 1) % Math.max(1, index.failures.length)];
    if (!next) return;
    onFailure(next);
    open(next.runId);
  };
  const acts = {
    open,
    moveTo,
    close,
    failure,
    zoomIn: () => zoomBy(ZOOM_STEP),
    zoomOut: () => zoomBy(1 / ZOOM_STEP),
    fit: () => setZoom(1),
    showView,
    setFilter,
  };
  useShortcuts([
    { keys: "f", does: "First failure, then the next", act: acts.failure },
    { keys: "v", does: "Tree or lanes", act: () => showView(view === "tree" ? "lanes" : "tree") },
    { keys: "+", does: "Closer", act: acts.zoomIn },
    { keys: "-", does: "Farther", act: acts.zoomOut },
    { keys: "0", does: "Fit everything", act: acts.fit },
    { keys: "Escape", does: "Close the run", act: acts.close },
  ]);
  return { openId, view, filter, cursorId, zoom, ...acts };
}
