import fc from "fast-check";
import ICAL from "ical.js";
import { describe, expect, test } from "vitest";
import { ToolFault } from "../../service-tools/tool-fault.ts";
import { expandRule, parseRecurrence, WEEKDAYS } from "./recurrence.ts";

const wall = (text: string) => Date.parse(`${text}Z`);
const YEARS = { from: wall("2000-01-01T00:00:00"), to: wall("2100-01-01T00:00:00") };

function starts(rule: string, first: string, window = YEARS): string[] {
  return expandRule(parseRecurrence(rule), wall(first), window).starts.map((start) => {
    return new Date(start).toISOString().slice(0, 16);
  });
}

describe("rules as RFC 5545 explains them", () => {
  const first = "1997-09-02T09:00:00";
  const window = { from: wall("1997-01-01T00:00:00"), to: wall("2010-01-01T00:00:00") };
  test.each([
    ["FREQ=DAILY;COUNT=3", ["1997-09-02", "1997-09-03", "1997-09-04"]],
    ["FREQ=DAILY;INTERVAL=10;COUNT=3", ["1997-09-02", "1997-09-12", "1997-09-22"]],
    [
      "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,TH;WKST=SU",
      ["1997-09-02", "1997-09-04", "1997-09-16", "1997-09-18"],
    ],
    ["FREQ=MONTHLY;COUNT=3;BYDAY=1TU", ["1997-09-02", "1997-10-07", "1997-11-04"]],
    ["FREQ=MONTHLY;BYMONTHDAY=-3;COUNT=3", ["1997-09-02", "1997-09-28", "1997-10-29"]],
    ["FREQ=MONTHLY;COUNT=3;BYDAY=TU,WE,TH;BYSETPOS=3", ["1997-09-02", "1997-09-04", "1997-10-07"]],
    ["FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3", ["1997-09-02", "1998-02-13", "1998-03-13"]],
    ["FREQ=YEARLY;INTERVAL=2;COUNT=2;BYMONTH=1", ["1997-09-02", "1999-01-02"]],
    [
      "FREQ=YEARLY;INTERVAL=3;COUNT=4;BYYEARDAY=1,100,200",
      ["1997-09-02", "2000-01-01", "2000-04-09", "2000-07-18"],
    ],
    ["FREQ=YEARLY;BYDAY=20MO;COUNT=3", ["1997-09-02", "1998-05-18", "1999-05-17"]],
    ["FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;COUNT=3", ["1997-09-02", "1998-05-11", "1999-05-17"]],
    [
      "FREQ=YEARLY;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;INTERVAL=4;COUNT=2",
      ["1997-09-02", "1997-11-04"],
    ],
  ])("%s", (rule, days) => {
    expect(starts(rule, first, window)).toEqual(days.map((day) => `${day}T09:00`));
  });
});

test("a rule that names no day at all ends, and has only its first start", () => {
  for (const rule of [
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=31",
    "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=31",
    "FREQ=MONTHLY;BYSETPOS=300;BYDAY=MO",
  ])
    expect(starts(rule, "2026-01-05T10:00:00")).toEqual(["2026-01-05T10:00"]);
});

test("an endless rule is followed far from its start without counting up to it", () => {
  const window = { from: wall("9000-01-01T00:00:00"), to: wall("9000-01-03T00:00:00") };
  expect(starts("FREQ=DAILY;INTERVAL=2", "1990-01-01T08:00:00", window)).toHaveLength(1);
  expect(starts("FREQ=HOURLY", "1990-01-01T08:00:00", window)).toHaveLength(48);
});

test("too many starts are cut, and the result says so", () => {
  const { starts: found, cut } = expandRule(
    parseRecurrence("FREQ=HOURLY"),
    wall("2026-01-01T00:00:00"),
    YEARS,
  );
  expect([found.length, cut]).toEqual([10_000, true]);
});

test.each([
  "",
  "FREQ=SECONDLY",
  "FREQ=MINUTELY;INTERVAL=5",
  "FREQ=DAILY;INTERVAL=0",
  "FREQ=DAILY;COUNT=-1",
  "FREQ=DAILY;COUNT=3;UNTIL=20270101",
  "FREQ=DAILY;UNTIL=soon",
  "FREQ=DAILY;FREQ=WEEKLY",
  "FREQ=WEEKLY;BYDAY=XX",
  "FREQ=MONTHLY;BYMONTHDAY=0",
  "FREQ=MONTHLY;BYMONTHDAY=99",
  "FREQ=DAILY;X-EVIL=1\r\nATTENDEE:mailto:x@evil.example",
])("the rule '%s' is refused", (rule) => {
  expect(() => parseRecurrence(rule)).toThrow(ToolFault);
});

/** Rules on which ical.js is a fit judge; its own iterator hangs on others. */
const commonRule = fc
  .record({
    interval: fc.integer({ min: 1, max: 4 }),
    byday: fc.uniqueArray(fc.constantFrom(...WEEKDAYS), { minLength: 1, maxLength: 3 }),
    nth: fc.constantFrom(1, 2, 3, 4, -1),
    monthDay: fc.integer({ min: 1, max: 28 }),
    month: fc.integer({ min: 1, max: 12 }),
    kind: fc.constantFrom("daily", "weekly", "monthDay", "monthWeekday", "yearly", "hours"),
  })
  .map(({ interval, byday, nth, monthDay, month, kind }) => {
    const forms: Record<string, string> = {
      daily: `FREQ=DAILY;INTERVAL=${interval}`,
      weekly: `FREQ=WEEKLY;INTERVAL=${interval};BYDAY=${byday.join(",")}`,
      monthDay: `FREQ=MONTHLY;INTERVAL=${interval};BYMONTHDAY=${monthDay}`,
      monthWeekday: `FREQ=MONTHLY;INTERVAL=${interval};BYDAY=${nth}${byday[0]}`,
      yearly: `FREQ=YEARLY;INTERVAL=${interval};BYMONTH=${month};BYDAY=${nth}${byday[0]}`,
      hours: `FREQ=DAILY;INTERVAL=${interval};BYHOUR=9,14`,
    };
    return forms[kind] ?? "";
  });

test("common rules give the same starts as the calendar library's own iterator", () => {
  fc.assert(
    fc.property(commonRule, fc.integer({ min: 0, max: 3000 }), (rule, offset) => {
      const begin = new Date(wall("2020-01-01T09:00:00") + offset * 86_400_000).toISOString().slice(0, 19);
      const judge = ICAL.Recur.fromString(rule).iterator(ICAL.Time.fromDateTimeString(begin));
      const expected = Array.from({ length: 12 }, () => `${judge.next()}`.slice(0, 16));
      const [first = ""] = expected;
      const found = starts(`${rule};COUNT=12`, `${first}:00`);
      expect(found).toEqual(expected);
      // The same without counting, from the middle on.
      const window = { from: wall(`${expected[6]}:00`), to: wall(`${expected[11]}:00`) + 1 };
      expect(starts(rule, `${first}:00`, window)).toEqual(expected.slice(6));
    }),
    { numRuns: 300 },
  );
});

test("a rule of every minute and second ends soon, and the result says that it was cut", () => {
  const upTo = (last: number) => Array.from({ length: last + 1 }, (_, at) => at).join(",");
  const rule = `FREQ=DAILY;BYHOUR=${upTo(23)};BYMINUTE=${upTo(59)};BYSECOND=${upTo(12)};BYSETPOS=1;COUNT=100000`;
  const window = { from: wall("2026-01-01T00:00:00"), to: wall("2027-01-01T00:00:00") };
  expect(expandRule(parseRecurrence(rule), wall("1000-01-01T00:00:00"), window).cut).toBe(true);
});

test("a start that is the first and the last of its period counts once", () => {
  expect(starts("FREQ=MONTHLY;BYDAY=1MO;BYSETPOS=1,-1;COUNT=3", "2026-11-02T10:00:00")).toEqual([
    "2026-11-02T10:00",
    "2026-12-07T10:00",
    "2027-01-04T10:00",
  ]);
});
