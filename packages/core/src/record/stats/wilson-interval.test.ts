import fc from "fast-check";
import { expect, test } from "vitest";
import { wilsonInterval } from "./wilson-interval.ts";

/** The first four are Newcombe's worked examples (1998, method 3); at the ends the bound is z²/(n+z²) away. */
const KNOWN = [
  [81, 263, 0.2553, 0.3662],
  [15, 148, 0.0624, 0.1605],
  [0, 20, 0, 0.1611],
  [1, 29, 0.0061, 0.1718],
  [5, 6, 0.4365, 0.9699],
  [0, 10, 0, 0.2775],
  [10, 10, 0.7225, 1],
] as const;

test.each(KNOWN)("%i of %i lies between %f and %f", (successes, n, low, high) => {
  const interval = wilsonInterval(successes, n);
  expect(interval.low).toBeCloseTo(low, 4);
  expect(interval.high).toBeCloseTo(high, 4);
});

test("none and all reach the ends exactly", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), (n) => {
      expect(wilsonInterval(0, n).low).toBe(0);
      expect(wilsonInterval(n, n).high).toBe(1);
    }),
  );
});

test("the interval holds the share, stays within 0 and 1, and mirrors when successes and failures are swapped", () => {
  const counts = fc
    .integer({ min: 1, max: 100_000 })
    .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)));
  fc.assert(
    fc.property(counts, ([successes, n]) => {
      const { low, high } = wilsonInterval(successes, n);
      const swapped = wilsonInterval(n - successes, n);
      expect(low).toBeGreaterThanOrEqual(0);
      expect(high).toBeLessThanOrEqual(1);
      expect(low).toBeLessThanOrEqual(successes / n);
      expect(high).toBeGreaterThanOrEqual(successes / n);
      expect(low).toBeCloseTo(1 - swapped.high, 10);
    }),
  );
});

test("counts that make no share are refused", () => {
  for (const [successes, n] of [
    [0, 0],
    [3, 2],
    [-1, 2],
    [Number.NaN, 2],
  ] as const) {
    expect(() => wilsonInterval(successes, n)).toThrow(RangeError);
  }
});
