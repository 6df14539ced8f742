import { instantToWall, offsetAt, wallToInstant } from "@retinue/core/text/zone";
import fc from "fast-check";
import { expect, test } from "vitest";
import { listBusyRanges } from "../../service-tools/times.ts";
import { ToolFault } from "../../service-tools/tool-fault.ts";
import type { EventTime, NewEvent } from "../calendar-provider.ts";
import { changeSeries, removeOccurrence } from "./change-event.ts";
import { findOccurrence, listOccurrences, readSeriesEvent } from "./read-event.ts";
import { parseCalendar, type Series, writeCalendar } from "./series.ts";
import { createSeries } from "./write-event.ts";

const reading = { zone: "Europe/Berlin", owner: "alex@retinue.example", etag: "1" };
const writing = { owner: "alex@retinue.example", now: Date.UTC(2026, 10, 16), zone: "Europe/Berlin" };
const at = (iso: string, zone = "Europe/Berlin"): EventTime => ({ kind: "instant", at: iso, zone });
const year = { from: Date.parse("2026-01-01T00:00:00Z"), to: Date.parse("2027-01-01T00:00:00Z") };

async function parsed(...lines: string[]): Promise<Series> {
  const text = ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n");
  const { series, problems } = await parseCalendar(text);
  expect(problems).toEqual([]);
  if (!series[0]) throw new Error("no event");
  return series[0];
}

const eventLines = (...lines: string[]) => ["BEGIN:VEVENT", "UID:u1", "SUMMARY:Sync", ...lines, "END:VEVENT"];

function listStarts(series: Series, span = year): string[] {
  return listOccurrences(series, span, reading).events.map(({ start }) =>
    start.kind === "day" ? start.day : start.at,
  );
}

function newEvent(more: Partial<NewEvent> = {}): NewEvent {
  const [start, end] = [at("2026-11-17T13:00:00.000Z"), at("2026-11-17T14:00:00.000Z")];
  return { id: "k1", title: "Review", start, end, attendees: [], notify: true, ...more };
}

test("local time and instants go back and forth, across changes of the clocks", () => {
  expect(wallToInstant("Europe/Berlin", Date.UTC(2026, 2, 29, 2, 30))).toBe(Date.UTC(2026, 2, 29, 1, 30));
  expect(wallToInstant("Europe/Berlin", Date.UTC(2026, 9, 25, 2, 30))).toBe(Date.UTC(2026, 9, 25, 0, 30));
  expect(offsetAt("Nowhere/Land", 0)).toBe(0);
  const zones = fc.constantFrom(
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "UTC",
  );
  const seconds = fc.integer({ min: Date.UTC(1975, 0) / 1000, max: Date.UTC(2060, 0) / 1000 });
  fc.assert(
    fc.property(zones, seconds, (zone, second) => {
      const instant = second * 1000;
      const back = wallToInstant(zone, instantToWall(zone, instant));
      // An hour that is shown twice is taken as its first.
      expect(instantToWall(zone, back)).toBe(instantToWall(zone, instant));
      expect(back).toBeLessThanOrEqual(instant);
    }),
  );
});

test("a series leaves out its exceptions, shows moved occurrences, and adds listed dates", async () => {
  const series = await parsed(
    ...eventLines(
      "DTSTART;TZID=Europe/Berlin:20261012T100000",
      "DTEND;TZID=Europe/Berlin:20261012T103000",
      "RRULE:FREQ=WEEKLY;UNTIL=20261102T090000Z",
      "EXDATE;TZID=Europe/Berlin:20261019T100000",
      "RDATE;TZID=Europe/Berlin:20261201T080000",
    ),
    ...eventLines("RECURRENCE-ID:20261026T090000Z", "DTSTART:20261027T120000Z", "DTEND:20261027T130000Z"),
  );
  expect(listStarts(series)).toEqual([
    "2026-10-12T08:00:00.000Z",
    "2026-10-27T12:00:00.000Z",
    "2026-11-02T09:00:00.000Z",
    "2026-12-01T07:00:00.000Z",
  ]);
  expect(findOccurrence(series, "u1_20261026T090000Z", reading)?.start).toEqual(
    at("2026-10-27T12:00:00.000Z", "UTC"),
  );
  expect(findOccurrence(series, "u1_20261019T080000Z", reading)).toBeNull();
});

test("an occurrence that is under way when the span begins belongs to it", async () => {
  const series = await parsed(
    ...eventLines("DTSTART:20261116T220000Z", "DURATION:PT4H", "RRULE:FREQ=DAILY;COUNT=2"),
  );
  const span = { from: Date.parse("2026-11-17T01:00:00Z"), to: Date.parse("2026-11-17T01:30:00Z") };
  expect(listStarts(series, span)).toEqual(["2026-11-16T22:00:00.000Z"]);
});

test("whole days keep their number of days, and a bare day lasts one", async () => {
  const series = await parsed(...eventLines("DTSTART;VALUE=DATE:20261024", "RRULE:FREQ=DAILY;COUNT=3"));
  const { events } = listOccurrences(series, year, reading);
  expect(events.map(({ id, end }) => [id, end])).toEqual([
    ["u1_20261024", { kind: "day", day: "2026-10-25" }],
    ["u1_20261025", { kind: "day", day: "2026-10-26" }],
    ["u1_20261026", { kind: "day", day: "2026-10-27" }],
  ]);
  expect(listBusyRanges(events, year, reading)).toEqual([
    { from: Date.parse("2026-10-23T22:00:00.000Z"), to: Date.parse("2026-10-26T23:00:00.000Z") },
  ]);
});

test("zones are known by vendor paths, Windows names and the calendar's own words", async () => {
  const start = async (tzid: string, ...zone: string[]) =>
    listStarts(await parsed(...zone, ...eventLines(`DTSTART;TZID=${tzid}:20260717T100000`)))[0];
  expect(await start("/vendor.example/20240101/America/New_York")).toBe("2026-07-17T14:00:00.000Z");
  expect(await start("Pacific Standard Time")).toBe("2026-07-17T17:00:00.000Z");
  const observance = (name: string, month: number, from: string, to: string) => [
    `BEGIN:${name}`,
    "DTSTART:16010101T020000",
    `TZOFFSETFROM:${from}`,
    `TZOFFSETTO:${to}`,
    `RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=${month}`,
    `END:${name}`,
  ];
  const own = [
    "BEGIN:VTIMEZONE",
    "TZID:Mine",
    ...observance("STANDARD", 10, "+0300", "+0200"),
    ...observance("DAYLIGHT", 3, "+0200", "+0300"),
    "END:VTIMEZONE",
  ];
  expect(await start("Mine", ...own)).toBe("2026-07-17T07:00:00.000Z");
  expect(await start("Unheard Of")).toBe("2026-07-17T08:00:00.000Z");
});

test("hostile calendars end in a fault, a problem or one event, never in a hang", async () => {
  const hostile = await parsed(
    "BEGIN:VTIMEZONE",
    "TZID:Mine",
    "BEGIN:STANDARD",
    "DTSTART:16010101T000000",
    "TZOFFSETFROM:+9999",
    "TZOFFSETTO:-9999",
    "RRULE:FREQ=SECONDLY",
    "END:STANDARD",
    "END:VTIMEZONE",
    ...eventLines(
      "DTSTART;TZID=Mine:20260101T000000",
      "DURATION:P99999W",
      "RRULE:FREQ=SECONDLY;BYMONTHDAY=31;BYMONTH=2",
    ),
  );
  expect(listStarts(hostile)).toHaveLength(1);
  for (const text of ["", "no calendar", "BEGIN:VCALENDAR\r\n", "BEGIN:VEVENT\r\n".repeat(50_000), "\0"])
    expect((await parseCalendar(text)).series).toEqual([]);
});

test("one broken event hides no other, and says what is wrong", async () => {
  const good = eventLines("DTSTART:20260101T000000Z").join("\r\n");
  const bad = good.replace("u1", "u2").replace("SUMMARY", "RRULE:FREQ=NEVER\r\nSUMMARY");
  const none = good.replace("u1", "u3").replace(/DTSTART.*\r\n/, "");
  const { series, problems } = await parseCalendar(
    `BEGIN:VCALENDAR\r\n${bad}\r\n${good}\r\n${none}\r\nEND:VCALENDAR\r\n`,
  );
  expect(series.map(({ uid }) => uid)).toEqual(["u1"]);
  expect(problems).toEqual([expect.stringContaining("NEVER"), "an event has no start: Sync"]);
});

test("what is written is read back the same, with a zone that other programs understand", async () => {
  const zones = fc.constantFrom(
    "Europe/Berlin",
    "America/New_York",
    "Africa/Casablanca",
    "Asia/Kolkata",
    "UTC",
  );
  const days = fc.integer({ min: 0, max: 3000 });
  const text = fc.string({ unit: "binary", maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(zones, days, text, async (zone, offset, title) => {
      const start = Date.UTC(2024, 0, 1, 9) + offset * 86_400_000;
      const [from, to] = [start, start + 5_400_000].map((ms) => at(new Date(ms).toISOString(), zone));
      if (!from || !to) return;
      const written = await writeCalendar([createSeries(newEvent({ title, start: from, end: to }), writing)]);
      const { series, problems } = await parseCalendar(written);
      expect(problems).toEqual([]);
      const event = series[0] && readSeriesEvent(series[0], reading);
      expect([event?.start, event?.end]).toEqual([from, to]);
      expect(written.match(/^BEGIN:VEVENT/gm)).toHaveLength(1);
      if (zone === "UTC") return;
      // The written zone says the same as the known one, under a name nobody knows.
      const renamed = (await parseCalendar(written.replaceAll(zone, "Nobodys"))).series[0];
      const moved = renamed && readSeriesEvent(renamed, { ...reading, zone: "UTC" });
      expect(moved?.start).toEqual({ ...from, zone: "UTC" });
    }),
    { numRuns: 100 },
  );
});

test("nothing in a text or address becomes a line of its own", async () => {
  const evil = "x\r\nATTENDEE:mailto:x@evil.example\r\n";
  const series = createSeries(
    newEvent({ title: evil, location: evil, attendees: [`a@b.example${evil}`] }),
    writing,
  );
  const text = await writeCalendar([series]);
  expect(text.match(/^ATTENDEE/gm)).toHaveLength(1);
  expect(text).not.toMatch(/^X\r\n/m);
});

test("a series that moves takes its exceptions and its weekday along", async () => {
  const before = createSeries(newEvent({ recurrence: "FREQ=WEEKLY;BYDAY=TU;COUNT=4" }), writing);
  const without = removeOccurrence(before, "20261124T130000Z", "Europe/Berlin");
  const moved = changeSeries(
    without,
    undefined,
    { start: at("2026-11-18T08:00:00.000Z"), notify: true },
    writing,
  );
  const text = await writeCalendar([moved]);
  const [again] = (await parseCalendar(text)).series;
  expect(again && listStarts(again)).toEqual([
    "2026-11-18T08:00:00.000Z",
    "2026-12-02T08:00:00.000Z",
    "2026-12-09T08:00:00.000Z",
  ]);
  const twice = createSeries(newEvent({ recurrence: "FREQ=WEEKLY;BYDAY=TU,TH" }), writing);
  expect(() =>
    changeSeries(twice, undefined, { start: at("2026-11-18T08:00:00.000Z"), notify: true }, writing),
  ).toThrow(/another weekday/);
});

test("attendees who stay keep their answer, and nobody is notified if that is wished", async () => {
  const series = await parsed(
    ...eventLines(
      "DTSTART:20261117T100000Z",
      "ORGANIZER:mailto:boss@acme.example",
      "ATTENDEE;PARTSTAT=ACCEPTED;CN=Dana:mailto:Dana@acme.example",
    ),
  );
  const change = { attendees: ["dana@acme.example", "sam@acme.example"], notify: false };
  const changed = changeSeries(series, undefined, change, writing);
  const event = readSeriesEvent(changed, reading);
  expect(event?.attendees).toEqual([
    { address: "dana@acme.example", name: "Dana", response: "accepted" },
    { address: "sam@acme.example", response: "needs_action" },
  ]);
  expect(event?.organizer).toEqual({ address: "boss@acme.example", self: false });
  const text = (await writeCalendar([changed])).replaceAll("\r\n ", "");
  expect(text.match(/SCHEDULE-AGENT=CLIENT/g)).toHaveLength(2);
});

test.each([
  [{ end: at("2026-11-17T12:00:00.000Z") }, /end before/],
  [{ end: { kind: "day", day: "2026-11-18" } }, /not one of each/],
  [{ start: at("2026-11-17T13:00:00.000Z", "Mars/Base") }, /not a time zone/],
  [{ recurrence: "FREQ=SECONDLY" }, /cannot be used/],
] satisfies [Partial<NewEvent>, RegExp][])("an event that makes no sense is refused: %j", (more, message) => {
  expect(() => createSeries(newEvent(more), writing)).toThrow(ToolFault);
  expect(() => createSeries(newEvent(more), writing)).toThrow(message);
});
