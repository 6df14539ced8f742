import { expect, test } from "vitest";
import { makeTraceRun } from "../../../../../test/fixtures/trace-run.ts";
import { placeLane, sortIntoLanes } from "./lanes.ts";
import { createTimeAxis } from "./time-axis.ts";

const whole = (endMs: number) => ({
  timeline: createTimeAxis({ gaps: [] }, endMs),
  widthPx: 1_000,
  fromPx: 0,
  toPx: 1_000,
});
const ids = (placed: readonly { run: { runId: string } }[]) => placed.map(({ run }) => run.runId);

test("each lane lists its runs by start, wherever they are in the tree", () => {
  const lanes = sortIntoLanes([
    makeTraceRun("root", { lane: 0 }, [
      makeTraceRun("late", { lane: 2, startMs: 50 }),
      makeTraceRun("early", { lane: 2, startMs: 10 }),
    ]),
  ]);
  expect(lanes.map((lane) => lane.map(({ agent }) => agent))).toEqual([["root"], [], ["early", "late"]]);
});

test("bars out of sight are not drawn", () => {
  const lane = [0, 400, 900].map((startMs) => makeTraceRun(`a${startMs}`, { startMs, endMs: startMs + 50 }));
  const window = { ...whole(1_000), fromPx: 300, toPx: 600 };
  expect(ids(placeLane(lane, window, null))).toEqual(["run_a400"]);
});

test("of ten thousand runs in one lane no more bars are drawn than fit, and failures are among them", () => {
  const lane = Array.from({ length: 10_000 }, (_, index) =>
    makeTraceRun(`a${index}`, {
      startMs: index * 10,
      endMs: index * 10 + 5,
      status: index === 5_001 ? "failed" : "completed",
    }),
  );
  const placed = placeLane(lane, whole(100_000), "run_a7003");
  expect(placed.length).toBeLessThan(400);
  expect(ids(placed)).toContain("run_a5001");
  expect(ids(placed)).toContain("run_a7003");
});
