import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseSince } from "./options.ts";

beforeEach(() => void vi.useFakeTimers({ now: Date.parse("2026-03-10T12:00:00Z") }));
afterEach(() => void vi.useRealTimers());

test.each([
  ["30m", "2026-03-10T11:30:00.000Z"],
  ["24h", "2026-03-09T12:00:00.000Z"],
  ["7d", "2026-03-03T12:00:00.000Z"],
  ["2w", "2026-02-24T12:00:00.000Z"],
  ["0d", "2026-03-10T12:00:00.000Z"],
  ["2026-03-01", "2026-03-01T00:00:00.000Z"],
  ["2026-03-01T08:30", "2026-03-01T08:30:00.000Z"],
  ["2026-03-01T08:30:15.5", "2026-03-01T08:30:15.500Z"],
  ["2026-03-01T08:30Z", "2026-03-01T08:30:00.000Z"],
  ["2026-03-01T00:30+02:00", "2026-02-28T22:30:00.000Z"],
])("%s is %s", (text, moment) => {
  expect(new Date(parseSince(text)).toISOString()).toBe(moment);
});

test.each([
  "",
  "7",
  "d",
  "7 d",
  "-7d",
  "1.5d",
  "7y",
  "99999999d",
  "yesterday",
  "2026-02-30",
  "2026-13-01",
  "2026-03-01T25:00",
  "2026-03-01T08:30+99:00",
  "2026-3-1",
  "2026-03-01+02:00",
])("'%s' is refused with examples", (text) => {
  expect(() => parseSince(text)).toThrow(/like 30m, 24h, 7d/);
});

test("the longest time ago is still a moment", () => {
  expect(new Date(parseSince("999999w")).toISOString()).toMatch(/^-?\d+-/);
});
