import { offsetAt } from "@retinue/core/text/zone";
import { expect, test } from "vitest";
import type { Component } from "./jcal.ts";
import {
  findClock,
  formatWallDay,
  formatWallTime,
  parseDuration,
  parseWall,
  writeZone,
} from "./zone-clock.ts";

test.each([
  ["2026-11-17", { isDay: true, isUtc: false }],
  ["20261117T140000", { isDay: false, isUtc: false }],
  ["2026-11-17T14:00:00Z", { isDay: false, isUtc: true }],
])("%s is a date", (text, expected) => {
  const wall = parseWall(text);
  expect(wall).toMatchObject(expected);
  expect(formatWallDay(wall?.wall ?? 0)).toBe("2026-11-17");
});

test("a text that is not a date is undefined", () => {
  for (const text of ["2026-02-30", "20261117T2500", "0001-01-01", "soon", "", 7, null])
    expect(parseWall(text)).toBeUndefined();
});

test("a duration is read in milliseconds; a negative one, or none, is nothing", () => {
  expect(["PT1H30M", "P1D", "P2W", "PT90S"].map(parseDuration)).toEqual([
    ...[5_400_000, 86_400_000, 1_209_600_000, 90_000],
  ]);
  expect(["-PT1H", "1 hour", undefined].map(parseDuration)).toEqual([0, 0, 0]);
});

test.each([
  ["Europe/Berlin", "Europe/Berlin"],
  ["W. Europe Standard Time", "Europe/Berlin"],
  ["/vendor.example/20240101/America/New_York", "America/New_York"],
  [undefined, "Asia/Tokyo"],
  ["Nowhere", "Asia/Tokyo"],
])("the TZID %s means %s where the owner is in Tokyo", (tzid, zone) => {
  expect(findClock(tzid, [], "Asia/Tokyo").zone).toBe(zone);
});

test.each(["Europe/Berlin", "America/New_York", "Africa/Casablanca", "Asia/Kolkata"])(
  "the clocks of %s, written out, go as those of the zone",
  (zone) => {
    const [kind, properties, observances] = writeZone(zone, 2026);
    const renamed = properties.map((property): Component[1][number] =>
      property[0] === "tzid" ? ["tzid", {}, "text", "Customized"] : property,
    );
    const clock = findClock("Customized", [[kind, renamed, observances]], "UTC");
    for (let at = Date.UTC(2026, 0, 1); at < Date.UTC(2028, 0, 1); at += 11 * 86_400_000)
      expect([formatWallTime(at), clock.toWall(at) - at]).toEqual([formatWallTime(at), offsetAt(zone, at)]);
  },
);
