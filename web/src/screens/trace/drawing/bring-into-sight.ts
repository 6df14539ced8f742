import type { Chart } from "./axis.tsx";

/** Scrolls sideways to where something begins, if that is out of sight. */
export function bringIntoSight(block: HTMLElement, { timeline, widthPx, leftPx }: Chart, ms: number): void {
  const at = timeline.at(ms) * widthPx;
  const room = block.clientWidth - leftPx;
  if (at < block.scrollLeft || at > block.scrollLeft + room - 40)
    block.scrollLeft = Math.max(0, at - room / 4);
}
