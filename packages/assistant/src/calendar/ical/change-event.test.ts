import { expect, test } from "vitest";
import type { EventChange, EventTime } from "../calendar-provider.ts";
import { changeSeries } from "./change-event.ts";
import { listOccurrences } from "./read-event.ts";
import { parseCalendar, type Series, writeCalendar } from "./series.ts";

const how = { owner: "alex@retinue.example", now: Date.UTC(2026, 10, 16), zone: "Europe/Berlin" };
const at = (iso: string, zone = "Europe/Berlin"): EventTime => ({ kind: "instant", at: iso, zone });
const BERLIN = ";TZID=Europe/Berlin:";

async function readSeries(text: string): Promise<Series> {
  const [series] = (await parseCalendar(text)).series;
  if (!series) throw new Error("no event");
  return series;
}

function parsed(...lines: string[]): Promise<Series> {
  const event = ["BEGIN:VEVENT", "UID:u1", ...lines, "END:VEVENT"];
  return readSeries(["BEGIN:VCALENDAR", "VERSION:2.0", ...event, "END:VCALENDAR", ""].join("\r\n"));
}

/** The days and hours, in UTC, of a series after a change, as read from its text. */
async function startsAfter(series: Series, change: Partial<EventChange>): Promise<string[]> {
  const changed = changeSeries(series, undefined, { notify: false, ...change }, how);
  const span = { from: Date.parse("2026-10-01T00:00:00Z"), to: Date.parse("2027-01-01T00:00:00Z") };
  const again = await readSeries(await writeCalendar([changed]));
  return listOccurrences(again, span, { ...how, etag: "" }).events.map(({ start }) =>
    start.kind === "day" ? start.day : start.at.slice(5, 16),
  );
}

test("the last occurrence stays when a series that ends with it moves to a later hour", async () => {
  const series = await parsed(`DTSTART${BERLIN}20261102T100000`, "RRULE:FREQ=WEEKLY;UNTIL=20261116T090000Z");
  expect(await startsAfter(series, { start: at("2026-11-02T13:00:00Z") })).toEqual([
    "11-02T13:00",
    "11-09T13:00",
    "11-16T13:00",
  ]);
});

test.each([
  ["a zone into UTC", `${BERLIN}20261102T100000`, `${BERLIN}20261109T100000`, "UTC"],
  ["UTC into a zone", ":20261102T090000Z", ":20261109T090000Z", "Europe/Berlin"],
  ["a zone into another", `${BERLIN}20261102T100000`, ":20261109T090000Z", "America/New_York"],
])("an excluded occurrence stays excluded when a series goes from %s", async (_, start, excluded, zone) => {
  const series = await parsed(`DTSTART${start}`, "RRULE:FREQ=WEEKLY;COUNT=3", `EXDATE${excluded}`);
  const moved = await startsAfter(series, { start: at("2026-11-02T09:00:00Z", zone) });
  expect(moved).toEqual(["11-02T09:00", "11-16T09:00"]);
});

test("a series that begins weeks later keeps the days that it leaves out, and its end", async () => {
  const rule = "RRULE:FREQ=WEEKLY;BYDAY=MO;UNTIL=20261215T225959Z";
  const series = await parsed(`DTSTART${BERLIN}20261102T100000`, rule, `EXDATE${BERLIN}20261130T100000`);
  expect(await startsAfter(series, { start: at("2026-11-16T08:00:00Z") })).toEqual([
    "11-16T08:00",
    "11-23T08:00",
    "12-07T08:00",
    "12-14T08:00",
  ]);
});

test("dates that are listed move with the start", async () => {
  const series = await parsed(`DTSTART${BERLIN}20261102T100000`, `RDATE${BERLIN}20261105T100000`);
  const moved = await startsAfter(series, { start: at("2026-11-02T13:00:00Z") });
  expect(moved).toEqual(["11-02T13:00", "11-05T13:00"]);
});

test.each([
  ["RRULE:FREQ=MONTHLY;BYMONTHDAY=15", "2026-11-20T09:00:00Z"],
  ["RRULE:FREQ=DAILY;BYHOUR=10", "2026-11-15T13:00:00Z"],
  ["RRULE:FREQ=YEARLY;BYMONTH=11;BYMONTHDAY=15", "2026-12-15T09:00:00Z"],
])("a start that the rule %s does not name is refused, unless another rule is given", async (rule, start) => {
  const series = await parsed(`DTSTART${BERLIN}20261115T100000`, rule);
  await expect(startsAfter(series, { start: at(start) })).rejects.toThrow("give its recurrence as well");
  const change = { start: at(start), recurrence: "FREQ=YEARLY" };
  expect(await startsAfter(series, change)).toEqual([start.slice(5, 16)]);
});

test("several weekdays can be exchanged for others together with the start", async () => {
  const series = await parsed(`DTSTART${BERLIN}20261102T100000`, "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;COUNT=4");
  const change = { start: at("2026-11-03T09:00:00Z"), recurrence: "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=3" };
  expect(await startsAfter(series, change)).toEqual(["11-03T09:00", "11-05T09:00", "11-10T09:00"]);
});

test("who attends without a mail address is not lost by another change", async () => {
  const room = "ATTENDEE;CUTYPE=ROOM;CN=Fjord:urn:uuid:fjord";
  const series = await parsed("DTSTART:20261102T090000Z", room, "ATTENDEE:mailto:dana@acme.example");
  const changed = changeSeries(series, undefined, { title: "New", notify: false }, how);
  expect(await writeCalendar([changed])).toContain("urn:uuid:fjord");
});
