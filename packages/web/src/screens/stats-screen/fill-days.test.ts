import { expect, test } from "vitest";
import { fillDays } from "./fill-days.ts";

const now = Date.parse("2026-03-02T15:00:00Z");
const day = (name: string, runs: number) => ({ day: name, runs, successes: 0, costUsd: 0, tokens: 0 });
const shown = (...args: Parameters<typeof fillDays>) => fillDays(...args).map((one) => [one.day, one.runs]);

test("days without a run are drawn as well, up to today", () => {
  expect(shown([day("2026-02-27", 3), day("2026-03-01", 1)], 2, now)).toEqual([
    ["2026-02-27", 3],
    ["2026-02-28", 0],
    ["2026-03-01", 1],
    ["2026-03-02", 0],
  ]);
});

test("a period with one day of runs is drawn whole", () => {
  expect(shown([day("2026-03-02", 5)], 3, now)).toEqual([
    ["2026-02-28", 0],
    ["2026-03-01", 0],
    ["2026-03-02", 5],
  ]);
});

test("a very long record is drawn from its last 400 days", () => {
  expect(fillDays([day("2020-01-01", 1)], 7, now)).toHaveLength(400);
});
