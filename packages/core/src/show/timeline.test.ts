import fc from "fast-check";
import { expect, test } from "vitest";
import { createTimeline, findGaps, findWork, joinStretches } from "./timeline.ts";

const span = { openedSeq: 1, closedSeq: 2, startedAt: "", endedAt: "" };

test("a span that went on after a crash worked at its end, one that is open works until now", () => {
  expect(findWork({ ...span, startMs: 0, endMs: 100_000, durationMs: 3_000 }, 0)).toEqual({
    startMs: 97_000,
    endMs: 100_000,
  });
  expect(findWork({ ...span, startMs: 5, endMs: null, durationMs: null }, 9)).toEqual({
    startMs: 5,
    endMs: 9,
  });
});

test("long idle stretches are gaps, short ones and those small against the work are not", () => {
  const work = (endMs: number, next: number) => [
    { startMs: 0, endMs },
    { startMs: next, endMs: next + 1_000 },
  ];
  expect(findGaps(work(1_000, 2_500))).toEqual([]);
  expect(findGaps(work(60_000, 65_000))).toEqual([]);
  expect(findGaps(work(1_000, 9_000))).toEqual([{ startMs: 1_000, endMs: 9_000 }]);
});

test("a gap is drawn short and everything else to scale", () => {
  const { at, lengthMs, gaps } = createTimeline({
    gaps: [{ startMs: 1_000, endMs: 3_601_000 }],
    endMs: 3_602_000,
  });
  expect(at(500)).toBe(500);
  expect(at(1_000)).toBe(1_000);
  expect(at(3_601_000)).toBe(1_060);
  expect(lengthMs).toBe(2_060);
  expect(gaps).toEqual([{ startMs: 1_000, endMs: 1_060, leftOutMs: 3_600_000 }]);
});

test("later is never drawn earlier, and nothing is drawn outside", () => {
  const stretches = fc.array(fc.tuple(fc.nat(1e7), fc.nat(1e5)), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(stretches, fc.array(fc.integer({ min: -10, max: 2e7 })), (pairs, moments) => {
      const work = joinStretches(pairs.map(([from, length]) => ({ startMs: from, endMs: from + length })));
      const endMs = work.at(-1)?.endMs ?? 0;
      const { at, lengthMs } = createTimeline({ gaps: findGaps(work), endMs });
      const drawn = moments.sort((one, other) => one - other).map(at);
      for (const [index, place] of drawn.entries()) {
        expect(place).toBeGreaterThanOrEqual((drawn[index - 1] ?? 0) - 1e-6);
        expect(place).toBeLessThanOrEqual(lengthMs + 1e-6);
      }
    }),
  );
});
