import fc from "fast-check";
import { expect, test } from "vitest";
import { percentile } from "./percentile.ts";

test("it is one of the values, found by its rank", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
  expect([1, 50, 95, 99, 100].map((percent) => percentile(hundred, percent))).toEqual([1, 50, 95, 99, 100]);
  expect(percentile([10, 20, 30, 40], 50)).toBe(20);
  expect(percentile([10, 20, 30, 40, 50], 50)).toBe(30);
  expect(percentile([10, 20, 30, 40, 50], 95)).toBe(50);
  expect(percentile([7], 50)).toBe(7);
});

test("at least that share does not exceed it, and less than that share lies below it", () => {
  const values = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 100 }), (some, percent) => {
      const sorted = some.toSorted((a, b) => a - b);
      const found = percentile(sorted, percent);
      expect(sorted.filter((value) => value <= found).length * 100).toBeGreaterThanOrEqual(
        percent * sorted.length,
      );
      expect(sorted.filter((value) => value < found).length * 100).toBeLessThan(percent * sorted.length);
    }),
  );
});

test("nothing has no percentile, and there is none outside of 0 and 100", () => {
  expect(() => percentile([], 50)).toThrow(RangeError);
  for (const percent of [0, -1, 101, Number.NaN]) expect(() => percentile([1], percent)).toThrow(RangeError);
});
