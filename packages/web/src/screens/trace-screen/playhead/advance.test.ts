import fc from "fast-check";
import { expect, test } from "vitest";
import { advance, choosePace } from "./advance.ts";
import { type CallMoment, foldedIn, idleIn, idleUntil } from "./moments.ts";

const HOUR = 3_600_000;
const turn = (startMs: number, endMs: number | null, tool: string | null = null): CallMoment => ({
  runId: "run_a",
  tool,
  startMs,
  endMs,
  tokens: 0,
  costUsd: 0,
});

test("waiting for a person or for another run counts as idle", () => {
  const moments = [
    turn(0, 1_000),
    turn(1_000, HOUR, "delegate_many"),
    turn(1_500, 3_000, "shell"),
    turn(HOUR, HOUR + 100),
  ];
  expect(idleIn(moments, HOUR + 100)).toEqual([{ startMs: 3_000, endMs: HOUR }]);
  expect(idleIn([turn(0, null)], HOUR)).toEqual([]);
  expect(idleIn([], HOUR)).toEqual([]);
});

test("an idle stretch at the end grows with time; one that is short compared with the work is drawn in full", () => {
  const idle = idleIn([turn(0, 20_000), turn(22_500, 23_000)], 30_000);
  expect(idle).toEqual([
    { startMs: 20_000, endMs: 22_500 },
    { startMs: 23_000, endMs: 30_000 },
  ]);
  expect(idleUntil(idle, 30_000, 40_000).at(-1)).toEqual({ startMs: 23_000, endMs: 40_000 });
  expect(idleUntil(idle.slice(0, 1), 30_000, 40_000)).toEqual(idle.slice(0, 1));
  expect(foldedIn(idle, 30_000)).toEqual([{ startMs: 23_000, endMs: 30_000 }]);
});

test("a speed multiplies the time, and an idle hour passes in less than half a second", () => {
  const idle = [{ startMs: 1_000, endMs: HOUR }];
  const pace = choosePace("4", idle, HOUR + 5_000);
  expect(advance(0, 100, pace)).toBe(400);
  expect(advance(1_000, 200, pace)).toBeGreaterThan(HOUR / 3);
  expect(advance(1_000, 500, pace)).toBe(HOUR + 400);
  expect(advance(1_000, 500, choosePace("4", [], HOUR + 5_000))).toBe(3_000);
});

test("fitted, a long session takes twenty seconds, and a short one no longer than it took", () => {
  expect(advance(0, 20_000, choosePace("fit", [], HOUR))).toBeCloseTo(HOUR);
  expect(advance(0, 19_000, choosePace("fit", [], HOUR))).toBeLessThan(HOUR);
  expect(advance(0, 3_000, choosePace("fit", [], 3_000))).toBe(3_000);
});

test("the playhead never goes back, never past the end, and many short steps lead where one long one does", () => {
  const stretches = fc.array(
    fc.tuple(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 2_001, max: 90_000 })),
    {
      maxLength: 8,
    },
  );
  fc.assert(
    fc.property(stretches, fc.array(fc.nat(2_000), { maxLength: 20 }), (pairs, steps) => {
      let clock = 0;
      const idle = pairs.map(([work, rest]) => {
        const startMs = clock + work;
        clock = startMs + rest;
        return { startMs, endMs: clock };
      });
      const pace = choosePace("16", idle, clock + 1_000);
      let at = 0;
      for (const step of steps) {
        const next = advance(at, step, pace);
        expect(next).toBeGreaterThanOrEqual(at);
        expect(next).toBeLessThanOrEqual(pace.endMs);
        at = next;
      }
      const whole = steps.reduce((sum, step) => sum + step, 0);
      expect(at).toBeCloseTo(advance(0, whole, pace), 3);
    }),
  );
});
