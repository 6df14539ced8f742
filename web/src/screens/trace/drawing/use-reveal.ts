import { type RefObject, useEffect, useRef } from "react";
import { chainAbove } from "../trace-index.ts";
import type { Chart } from "./axis.tsx";
import type { Drawing } from "./drawing.ts";
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
  useEffect(() => {
    const run = index.byId.get(cursorId ?? "");
    if (!run || shown.current === cursorId) return;
    const at = tree.placeOf(cursorId);
    if (at === undefined) {
      tree.uncover(chainAbove(index, run).map(({ runId }) => runId));
      return;
    }
    shown.current = cursorId;
    scrollTo(at);
    if (scroller.current) bringIntoSight(scroller.current, chart, run.startMs);
  });
}

/** Scrolls sideways to where something begins, if that is out of sight. */
export function bringIntoSight(block: HTMLElement, { timeline, widthPx, leftPx }: Chart, ms: number): void {
  const at = timeline.at(ms) * widthPx;
  const room = block.clientWidth - leftPx;
  if (at < block.scrollLeft || at > block.scrollLeft + room - 40)
    block.scrollLeft = Math.max(0, at - room / 4);
}
