import { type RefObject, useEffect, useRef } from "react";
import type { Chart } from "../drawing/axis.tsx";
import { bringIntoSight } from "../drawing/bring-into-sight.ts";
import type { Drawing } from "../drawing/drawing.ts";
import { isFree, useRovingFocus } from "../drawing/use-roving-focus.ts";
import { chainAbove } from "../trace-index.ts";
import type { useTree } from "./use-tree.ts";

type RevealOptions = Pick<Drawing, "cursorId" | "index"> & {
  tree: ReturnType<typeof useTree>;
  scroller: RefObject<HTMLElement | null>;
  chart: Chart;
  scrollTo: (at: number) => void;
};

/** Brings the run under the cursor into sight, wherever the cursor came from: everything above it opens. */
export function useReveal({ cursorId, index, tree, scroller, chart, scrollTo }: RevealOptions): void {
  const shown = useRef<string | null>(null);
  const focus = useRovingFocus(scroller);
  useEffect(() => {
    const run = index.byId.get(cursorId ?? "");
    if (!run || shown.current === cursorId) return;
    const at = tree.placeOf(cursorId);
    if (at === undefined) {
      tree.uncover(chainAbove(index, run).map(({ runId }) => runId));
      return;
    }
    shown.current = cursorId;
    if (isFree(scroller)) focus(run.runId);
    scrollTo(at);
    if (scroller.current) bringIntoSight(scroller.current, chart, run.startMs);
  });
}
