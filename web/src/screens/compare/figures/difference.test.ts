import { expect, test } from "vitest";
import { showCost, showTokens } from "../../../ui/measures.ts";
import { differenceOf } from "./difference.ts";

test("a difference has its sign, its size and its share of the first figure", () => {
  expect(differenceOf(5_000, 7_100, showTokens)).toBe("+2.1k (+42 %)");
  expect(differenceOf(8, 6)).toBe("−2 (−25 %)");
  expect(differenceOf(3, 3)).toBe("same");
});

test("what is unknown on one side stays unknown, and is never taken for 0", () => {
  expect(differenceOf(null, 0.5, showCost)).toBe("unknown");
  expect(differenceOf(0.5, null, showCost)).toBe("unknown");
  expect(differenceOf(null, null, showCost)).toBe("unknown");
});

test("shares that would mislead are left out or said otherwise", () => {
  expect(differenceOf(0, 4)).toBe("+4");
  expect(differenceOf(10_000, 10_001)).toBe("+1 (under 1 %)");
  expect(differenceOf(2, 60)).toBe("+58 (×30)");
});
