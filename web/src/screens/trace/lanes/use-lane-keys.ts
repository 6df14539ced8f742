import type { KeyboardEvent, RefObject } from "react";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { useShortcuts } from "../../../shell/shortcuts.ts";
import type { Drawing } from "../drawing/drawing.ts";
import { useRovingFocus } from "../drawing/use-roving-focus.ts";
import { nearestIn } from "./lanes.ts";

type LaneKeysOptions = Pick<Drawing, "cursorId" | "index" | "onCursor"> & {
  lanes: readonly (readonly TraceRun[])[];
  scroller: RefObject<HTMLElement | null>;
};

/** Moves through the lanes by keyboard: along a lane, and to whatever ran beside. */
export function useLaneKeys({ cursorId, index, onCursor, lanes, scroller }: LaneKeysOptions) {
  const focus = useRovingFocus(scroller);
  const run = index.byId.get(cursorId ?? "") ?? lanes[0]?.[0];
  const goTo = (next: TraceRun | undefined) => {
    if (!next) return;
    focus(next.runId);
    onCursor(next.runId);
  };
  const along = (by: 1 | -1) => {
    const lane = lanes[run?.lane ?? 0] ?? [];
    if (run) goTo(lane[lane.indexOf(run) + by]);
  };
  const across = (by: 1 | -1) => {
    if (!run) return;
    if (cursorId === null) goTo(run);
    for (let lane = run.lane + by; lane >= 0 && lane < lanes.length; lane += by) {
      const next = nearestIn(lanes[lane] ?? [], run);
      if (next) return goTo(next);
    }
  };
  useShortcuts([
    { keys: "j", does: "The lane below", act: () => across(1) },
    { keys: "k", does: "The lane above", act: () => across(-1) },
    { keys: "l", does: "Next run of the lane", act: () => along(1) },
    { keys: "h", does: "Run before in the lane", act: () => along(-1) },
  ]);
  const acts = new Map<string, () => void>([
    ["ArrowDown", () => across(1)],
    ["ArrowUp", () => across(-1)],
    ["ArrowRight", () => along(1)],
    ["ArrowLeft", () => along(-1)],
  ]);
  return (event: KeyboardEvent) => {
    const act = acts.get(event.key);
    if (!act || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    act();
  };
}
