import { type RefObject, useLayoutEffect, useState } from "react";

/** The width of a block that scrolls, and how far it is scrolled to the right. */
export type Viewport = { width: number; left: number };

/** Scrolling sideways is told in such steps, so that not every pixel draws anew. */
const STEP_PX = 200;

/** Follows a block that scrolls. */
export function useViewport(scroller: RefObject<HTMLElement | null>): Viewport {
  const [viewport, setViewport] = useState<Viewport>({ width: 0, left: 0 });
  useLayoutEffect(() => {
    const block = scroller.current;
    if (!block) return;
    const look = () => {
      const width = block.clientWidth;
      const left = Math.floor(block.scrollLeft / STEP_PX) * STEP_PX;
      setViewport((before) => (before.width === width && before.left === left ? before : { width, left }));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(block);
    block.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      block.removeEventListener("scroll", look);
    };
  }, [scroller]);
  return viewport;
}
