import type { PointerEvent } from "react";
import type { Timeline } from "../drawing/timeline.ts";
import { useReplay } from "./replay-scope.tsx";

/** Takes the playhead along with the pointer, over a block that is as long as the axis. */
export function useDrag(timeline: Timeline): (event: PointerEvent<HTMLElement>) => void {
  const { goTo } = useReplay();
  return (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const { currentTarget: block, pointerId } = event;
    block.setPointerCapture(pointerId);
    const follow = ({ clientX }: { clientX: number }) => {
      const { left, width } = block.getBoundingClientRect();
      goTo(timeline.momentAt((clientX - left) / Math.max(1, width)));
    };
    const letGo = () => {
      block.removeEventListener("pointermove", follow);
      block.removeEventListener("pointerup", letGo);
      block.removeEventListener("pointercancel", letGo);
    };
    block.addEventListener("pointermove", follow);
    block.addEventListener("pointerup", letGo);
    block.addEventListener("pointercancel", letGo);
    follow(event);
  };
}
