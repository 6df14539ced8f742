import { isoWithOffset, isZone } from "@retinue/core/text/zone";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addDays, countDays, findInstant, readClocks, readRange, readTime, readZone } from "./times.ts";

const BERLIN = "Europe/Berlin";
const zones = [BERLIN, "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "UTC"];

test("clocks lead to an instant and back, unless they show the same twice", () => {
  const instant = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => seconds * 1_000);
  fc.assert(
    fc.property(instant, fc.constantFrom(...zones), (at, zone) => {
      const written = readClocks(at, zone).toISOString().slice(0, 19);
      const again = findInstant(readTime(written, "datetime", zone), zone);
      expect(readClocks(again, zone)).toEqual(readClocks(at, zone));
      expect(again).toBeLessThanOrEqual(at);
      expect(Date.parse(isoWithOffset(at, zone))).toBe(at);
    }),
  );
});

describe("a time", () => {
  test.each([
    ["2026-11-17T14:00", "2026-11-17T13:00:00.000Z"],
    ["2026-07-17T14:00", "2026-07-17T12:00:00.000Z"],
    ["2026-11-17 14:00:30", "2026-11-17T13:00:30.000Z"],
    ["2026-11-17T14:00:00Z", "2026-11-17T14:00:00.000Z"],
    ["2026-11-17T14:00:00-05:00", "2026-11-17T19:00:00.000Z"],
    ["2026-03-29T02:30", "2026-03-29T01:30:00.000Z"],
    ["2026-10-25T02:30", "2026-10-25T00:30:00.000Z"],
  ])("%s in Berlin is %s", (written, at) => {
    expect(readTime(written, "datetime", BERLIN)).toEqual({ kind: "instant", at, zone: BERLIN });
  });

  test("without a time of day is a whole day", () => {
    expect(readTime("2026-11-17", "datetime", BERLIN)).toEqual({ kind: "day", day: "2026-11-17" });
  });

  test.each([
    "2026-02-30",
    "2026-13-01T10:00",
    "2026-11-17T25:00",
    "tomorrow",
    "17.11.2026",
    "2026-11-17T14",
    "",
  ])("%s is none", (written) => {
    expect(() => readTime(written, "datetime", BERLIN)).toThrow(/is not a time/);
  });

  test("zones are those there are", () => {
    expect(isZone("Europe/Berlin")).toBe(true);
    expect(() => readZone("Mars/Olympus", BERLIN)).toThrow(/no time zone/);
  });

  test("days are counted by the calendar", () => {
    expect(addDays("2026-12-31", 1)).toBe("2027-01-01");
    expect(countDays("2026-03-28", "2026-03-30")).toBe(2);
  });
});

describe("a time range on Wednesday, 18 November 2026, 10:00 in Berlin", () => {
  const frame = { now: Date.parse("2026-11-18T09:00:00Z"), zone: BERLIN };
  test.each([
    ["today", "2026-11-18T00:00:00+01:00", "2026-11-19T00:00:00+01:00"],
    ["Tomorrow", "2026-11-19T00:00:00+01:00", "2026-11-20T00:00:00+01:00"],
    ["this week", "2026-11-16T00:00:00+01:00", "2026-11-23T00:00:00+01:00"],
    ["last week", "2026-11-09T00:00:00+01:00", "2026-11-16T00:00:00+01:00"],
    ["next month", "2026-12-01T00:00:00+01:00", "2027-01-01T00:00:00+01:00"],
    ["last month", "2026-10-01T00:00:00+02:00", "2026-11-01T00:00:00+01:00"],
    ["24h", "2026-11-17T10:00:00+01:00", "2026-11-18T10:00:00+01:00"],
    ["last 2 weeks", "2026-11-04T10:00:00+01:00", "2026-11-18T10:00:00+01:00"],
    ["next 3 days", "2026-11-18T10:00:00+01:00", "2026-11-21T10:00:00+01:00"],
    ["2026-11-10", "2026-11-10T00:00:00+01:00", "2026-11-11T00:00:00+01:00"],
    ["2026-11-10/2026-11-12", "2026-11-10T00:00:00+01:00", "2026-11-13T00:00:00+01:00"],
  ])("%s goes from %s to %s", (written, from, to) => {
    const range = readRange(written, { ...frame, towards: "past" });
    expect(isoWithOffset(range.from, BERLIN)).toBe(from);
    expect(isoWithOffset(range.to, BERLIN)).toBe(to);
  });

  test("a length lies where the tool looks", () => {
    expect(readRange("7d", { ...frame, towards: "future" }).from).toBe(frame.now);
    expect(readRange("7d", { ...frame, towards: "past" }).to).toBe(frame.now);
  });

  test.each(["whenever", "constructor", "2026-11-12/2026-11-10", "7y", ""])("%s is none", (written) => {
    expect(() => readRange(written, { ...frame, towards: "past" })).toThrow(/time_range/);
  });
});

test.each(["2026-11-17T14:00+99:00", "2026-11-17T14:00+01:75", "2026-11-17T14:00-15:00"])(
  "%s has an offset that no clock has",
  (text) => {
    expect(() => readTime(text, "datetime", "UTC")).toThrow(/is not a time/);
  },
);
