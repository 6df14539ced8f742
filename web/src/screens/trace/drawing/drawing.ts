import type { Trace } from "../../../../../src/schema/inspect/trace.ts";
import type { TraceIndex } from "../trace-index.ts";
import type { Timeline } from "./timeline.ts";

/** What both drawings of a trace are given. */
export type Drawing = {
  trace: Trace;
  index: TraceIndex;
  timeline: Timeline;
  nowMs: number;
  /** 1 fits everything into the block. */
  zoom: number;
  filter: string;
  /** The run that the keys act on; the pane shows `openId`. */
  cursorId: string | null;
  openId: string | null;
  onCursor: (runId: string) => void;
  onOpen: (runId: string) => void;
};

/** The moment that a trace counts from, by the clock. */
export function originOf({ runs: [first] }: Trace): number {
  return first ? Date.parse(first.startedAt) - first.startMs : 0;
}
