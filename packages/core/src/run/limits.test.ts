import { expect, test } from "vitest";
import { makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import { Deadline, type TimeBox } from "../budget/deadline.ts";
import { findEndMs, limitReached, tellWhatIsLeft } from "./limits.ts";

const boxOf = (lengthMs: number, depth = 0, outer: TimeBox | null = null): TimeBox => ({
  ...{ deadline: new Deadline(lengthMs), lengthMs, depth, outer },
});

test("a run ends with its turns, with a tool call too many, or when the time for its last report has come", () => {
  const { run } = makeRun({ limits: { turns: 3, timeoutMs: 1_000 } });
  expect(limitReached(run, 10_000)).toBeNull();
  run.turn = 2;
  expect([limitReached(run, 799), limitReached(run, 800)]).toEqual([null, "deadline"]);
  run.overToolCalls = true;
  expect(limitReached(run, 0)).toBe("max_tool_calls");
  run.turn = 3;
  expect(limitReached(run, 0)).toBe("max_iterations");
});

test("in a time that is given to a whole tree each level ends before the one above, and reports before its own end", () => {
  const timeBox = boxOf(100_000);
  const ends = [0, 1, 2].map((depth) => {
    const { run } = makeRun({ timeBox, depth });
    run.turn = 1;
    const softEnd = Array.from({ length: 200 }, (_, second) => second * 1_000).find(
      (nowMs) => limitReached(run, nowMs) === "deadline",
    );
    return [softEnd, findEndMs(run)];
  });
  expect(ends).toEqual([
    [90_000, 100_000],
    [80_000, 90_000],
    [70_000, 80_000],
  ]);
});

test("of a long time a level keeps no more than 30 seconds, and the tightest of several times counts", () => {
  const long = boxOf(3_600_000);
  const timeoutMs = 10_000_000;
  expect(findEndMs(makeRun({ timeBox: long, depth: 2, limits: { timeoutMs } }).run)).toBe(3_540_000);
  const inner = boxOf(5_000_000, 1, long);
  expect(findEndMs(makeRun({ timeBox: inner, depth: 1, limits: { timeoutMs } }).run)).toBe(3_570_000);
});

test("a clock that stands still ends nothing", () => {
  const timeBox = boxOf(1_000);
  const { run } = makeRun({ timeBox, limits: { timeoutMs: 2_000 } });
  timeBox.deadline.stop(0);
  expect(findEndMs(run)).toBe(2_000);
  run.deadline.stop(0);
  expect(findEndMs(run)).toBe(Number.POSITIVE_INFINITY);
});

/** What a run is told after turns of so many calls each. */
function listenTo(limits: RunParts["limits"], turns: readonly number[]): string[] {
  const { run } = makeRun({ limits });
  for (const calls of turns) {
    const before = run.toolCalls;
    run.turn++;
    run.toolCalls += calls;
    tellWhatIsLeft(run, before);
  }
  return run.history
    .slice(2)
    .map(({ content }) => JSON.stringify(content).match(/(?:No|\d+) t[^.,;]*? (?:is|are)/)?.[0] ?? "?");
}

test("a run is told once each that its calls and its turns are nearly used up", () => {
  expect(listenTo({ turns: 100, toolCalls: 20 }, [10, 5, 1, 1, 3])).toEqual(["4 tool calls are"]);
  expect(listenTo({ turns: 100, toolCalls: 20 }, [10, 10])).toEqual(["No tool calls are"]);
  expect(listenTo({ turns: 10, toolCalls: 100 }, Array(10).fill(0))).toEqual(["2 turns are"]);
  expect(listenTo({ turns: 5, toolCalls: 5 }, [0, 0, 0, 4])).toEqual(["1 tool call and 1 turn are"]);
  expect(listenTo({ turns: 4, toolCalls: 4 }, [1, 1, 1, 1])).toEqual(["No tool calls are"]);
});
