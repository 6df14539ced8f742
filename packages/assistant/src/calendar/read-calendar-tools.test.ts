import { isoWithOffset } from "@retinue/core/text/zone";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findWeekday, isOverlapping, mergeRanges, readClocks } from "../service-tools/times.ts";
import { findFreeSlots } from "./read-calendar-tools.ts";

const span = fc
  .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 30 }))
  .map(([from, length]) => ({ from, to: from + length }));
const covers = (spans: readonly { from: number; to: number }[], at: number) =>
  spans.some(({ from, to }) => from <= at && at < to);

test("merged spans cover exactly the same time, in order, with gaps between", () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 30 }), (spans) => {
      const merged = mergeRanges(spans);
      for (let at = 0; at < 231; at++) expect(covers(merged, at)).toBe(covers(spans, at));
      for (const [index, each] of merged.entries()) {
        expect(each.from).toBeLessThan(each.to);
        const next = merged[index + 1];
        if (next) expect(each.to).toBeLessThan(next.from);
      }
      expect(mergeRanges(merged)).toEqual(merged);
    }),
  );
});

const HOUR = 3_600_000;
const zones = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland", "UTC"];

test("a suggested slot is free, in working hours of a working day, not past, and none overlaps another", () => {
  const base = Date.parse("2026-10-20T00:00:00Z");
  const busyHours = fc.array(fc.tuple(fc.integer({ min: 0, max: 400 }), fc.integer({ min: 1, max: 20 })), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      fc.record({
        zone: fc.constantFrom(...zones),
        offset: fc.integer({ min: 0, max: 300 }),
        minutes: fc.constantFrom(15, 30, 60, 90, 480),
        busyHours,
      }),
      ({ zone, offset, minutes, busyHours: hours }) => {
        const near = base + offset * HOUR;
        const busy = hours.map(([from, length]) => ({
          from: base + from * HOUR,
          to: base + (from + length) * HOUR,
        }));
        const within = { from: near - 24 * HOUR, to: near + 168 * HOUR };
        const search = {
          within,
          durationMs: minutes * 60_000,
          busy,
          zone,
          near,
          now: near - 10 * HOUR,
          count: 3,
        };
        const slots = findFreeSlots(search);
        for (const [at, slot] of slots.entries()) {
          expect(busy.some((each) => isOverlapping(each, slot))).toBe(false);
          expect(slot.from).toBeGreaterThanOrEqual(search.now);
          expect(findWeekday(slot.from, zone)).toBeLessThan(6);
          expect(readClocks(slot.from, zone).getUTCHours()).toBeGreaterThanOrEqual(9);
          const end = readClocks(slot.to, zone);
          expect(end.getUTCHours() * 60 + end.getUTCMinutes()).toBeLessThanOrEqual(17 * 60);
          expect(slots.slice(at + 1).some((other) => isOverlapping(other, slot))).toBe(false);
        }
      },
    ),
  );
});

test("working hours follow the clocks when they change", () => {
  const within = { from: Date.parse("2026-10-23T22:00:00Z"), to: Date.parse("2026-10-27T22:00:00Z") };
  const search = { within, durationMs: 8 * HOUR, busy: [], zone: "Europe/Berlin", now: 0, count: 5 };
  const slots = findFreeSlots({ ...search, near: within.from });
  expect(slots.map(({ from }) => isoWithOffset(from, "Europe/Berlin"))).toEqual([
    "2026-10-26T09:00:00+01:00",
    "2026-10-27T09:00:00+01:00",
  ]);
});
