import { expect, test } from "vitest";
import { createTimeAxis, placeTicks } from "./time-axis.ts";

test("without idle stretches moments are drawn in proportion", () => {
  const { at, gaps } = createTimeAxis({ gaps: [] }, 1_000);
  expect([at(0), at(250), at(1_000)]).toEqual([0, 0.25, 1]);
  expect(gaps).toEqual([]);
});

test("moments outside the trace stay inside its drawing", () => {
  const { at } = createTimeAxis({ gaps: [] }, 1_000);
  expect([at(-5), at(9_999)]).toEqual([0, 1]);
});

test("an idle stretch is drawn short, and what comes after it follows at once", () => {
  const { at, gaps, parts } = createTimeAxis({ gaps: [{ startMs: 100, endMs: 10_100 }] }, 10_200);
  expect(at(100)).toBeGreaterThan(0.4);
  expect(at(10_100) - at(100)).toBeLessThan(0.05);
  expect(at(10_200)).toBe(1);
  expect(gaps).toHaveLength(1);
  expect(gaps[0]?.leftOutMs).toBe(10_000);
  expect(parts).toEqual([
    { startMs: 0, endMs: 100 },
    { startMs: 10_100, endMs: 10_200 },
  ]);
});

test("the moment at a place is the one that is drawn there, also inside of an idle stretch", () => {
  const { at, momentAt } = createTimeAxis({ gaps: [{ startMs: 100, endMs: 10_100 }] }, 10_200);
  for (const ms of [0, 60, 100, 2_000, 10_100, 10_150, 10_200]) expect(momentAt(at(ms))).toBeCloseTo(ms);
  expect([momentAt(-1), momentAt(2)]).toEqual([0, 10_200]);
});

test("ticks are at round distances and no closer than there is room for", () => {
  const ticks = placeTicks(createTimeAxis({ gaps: [] }, 64_000), 800);
  expect(ticks.map(({ text }) => text)).toEqual(["0", "10 s", "20 s", "30 s", "40 s", "50 s", "1 m"]);
});

test("ticks behind an idle stretch count from its end", () => {
  const timeline = createTimeAxis({ gaps: [{ startMs: 30_000, endMs: 7_230_000 }] }, 7_260_000);
  const texts = placeTicks(timeline, 800).map(({ text }) => text);
  expect(texts).toContain("+10 s");
  expect(texts.some((text) => text.includes("h"))).toBe(false);
});
