import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { useAddress } from "../../ui/use-address.ts";
import type { TraceIndex } from "./use-trace.ts";

const ZOOM_STEP = 1.6;
const MOST_ZOOM = 400;
/** While keys move the cursor the pane follows, but not through every run on the way. */
const FOLLOW_MS = 140;

/** What the person looks at: the run under the cursor, the one in the pane, the view and its zoom. */
export function useLook(index: TraceIndex, onFailure: (run: TraceRun) => void) {
  const { runId: openId, tab, view, filter, change } = useTraceAddress();
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
    showTab: (wanted: Tab) => change({ tab: wanted }),
    showView: (wanted: View) => change({ view: wanted }, { replace: false }),
    setFilter: (text: string) => change({ q: text }),
  };
  useShortcuts([
    { keys: "f", does: "First failure, then the next", act: acts.failure },
    { keys: "v", does: "Tree or lanes", act: () => acts.showView(view === "tree" ? "lanes" : "tree") },
    { keys: "+", does: "Closer", act: acts.zoomIn },
    { keys: "-", does: "Farther", act: acts.zoomOut },
    { keys: "0", does: "Fit everything", act: acts.fit },
    { keys: "Escape", does: "Close the run", act: acts.close },
  ]);
  return { openId, tab, view, filter, cursorId, zoom, ...acts };
}

/** Parts of the pane about a run. */
export const TABS = ["prompt", "result", "tools", "files", "permissions", "raw"] as const;
export type Tab = (typeof TABS)[number];

type View = "tree" | "lanes";

type Change = { run?: string | null; tab?: Tab; view?: View; q?: string; at?: string | null };

/** What is looked at, which lives in the address: the run, the part of it, the drawing, the filter and the moment. */
export function useTraceAddress() {
  const { params, change: changeAddress } = useAddress();
  const change = useCallback(
    ({ view, ...rest }: Change, options?: { replace?: boolean }) =>
      changeAddress({ ...rest, ...(view && { view: view === "tree" ? null : view }) }, options),
    [changeAddress],
  );
  const tab = params.get("tab");
  const at = params.get("at");
  return {
    runId: params.get("run"),
    tab: TABS.find((one) => one === tab) ?? "result",
    view: params.get("view") === "lanes" ? ("lanes" as const) : ("tree" as const),
    filter: params.get("q") ?? "",
    /** Milliseconds from the start of the trace; null is now. */
    atMs: at !== null && /^\d{1,12}$/.test(at) ? Number(at) : null,
    change,
  };
}
