import { expect, test } from "vitest";
import { listOccurrences, readSeriesEvent } from "./read-event.ts";
import { parseCalendar, writeCalendar } from "./series.ts";

const reading = { zone: "Europe/Berlin", owner: "alex@retinue.example", etag: "" };
const calendar = (...lines: string[]) =>
  ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR", ""].join("\r\n");
const event = (...lines: string[]) => ["BEGIN:VEVENT", ...lines, "END:VEVENT"];
const zone = (name: string, ...observances: string[]) => [
  "BEGIN:VTIMEZONE",
  `TZID:${name}`,
  ...observances,
  "END:VTIMEZONE",
];
const observance = (kind: string, from: string, to: string, ...lines: string[]) => [
  `BEGIN:${kind}`,
  `TZOFFSETFROM:${from}`,
  `TZOFFSETTO:${to}`,
  ...lines,
  `END:${kind}`,
];

test("a line with parameters without end is refused, and hides no other event", async () => {
  const many = `X-MANY${Array.from({ length: 300_000 }, (_, at) => `;P${at}=v`).join("")}:x`;
  const text = calendar(
    ...event("UID:bad", "DTSTART:20261101T100000Z", many),
    ...event("UID:good", "DTSTART:20261101T100000Z"),
  );
  const { series, problems } = await parseCalendar(text);
  expect(series.map(({ uid }) => uid)).toEqual(["good"]);
  expect(problems).toEqual(["a line has more than 1000 parameters"]);
});

test("an event is kept with the zones it uses and no others", async () => {
  const fixed = observance("STANDARD", "+0100", "+0100", "DTSTART:19700101T000000");
  const zones = ["One", "Two", "Three"].flatMap((name) => zone(name, ...fixed));
  const { series } = await parseCalendar(
    calendar(
      ...zones,
      ...event("UID:a", "DTSTART;TZID=Two:20261101T100000"),
      ...event("UID:b", "DTSTART:20261101T100000Z"),
    ),
  );
  expect(series.map(({ zones: own }) => own.length)).toEqual([1, 0]);
  const [first] = series;
  expect(first && (await writeCalendar([first]))).toContain("TZID:Two");
});

test("a zone that is nested without end or too long is left out, and its event stays", async () => {
  const deep = [...Array(60_000).fill("BEGIN:X"), ...Array(60_000).fill("END:X")];
  const long = Array(9_000).fill("RDATE:20260101T000000");
  for (const lines of [deep, long]) {
    const { series, problems } = await parseCalendar(
      calendar(...zone("Nowhere", ...lines), ...event("UID:a", "DTSTART;TZID=Nowhere:20261028T100000")),
    );
    expect(series.map(({ uid, zones }) => [uid, zones.length])).toEqual([["a", 0]]);
    expect(problems).toEqual(["the time zone Nowhere is too long and was left out"]);
  }
});

test("a zone that nobody knows ends its old rules where it says so", async () => {
  const old = observance(
    "DAYLIGHT",
    "-0500",
    "-0400",
    "DTSTART:19870405T020000",
    "RRULE:FREQ=YEARLY;BYMONTH=4;BYDAY=1SU;UNTIL=20060402T070000Z",
  );
  const fresh = observance(
    "DAYLIGHT",
    "-0500",
    "-0400",
    "DTSTART:20070311T020000",
    "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=2SU",
  );
  const oldEnd = observance(
    "STANDARD",
    "-0400",
    "-0500",
    "DTSTART:19671029T020000",
    "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU;UNTIL=20061029T060000Z",
  );
  const end = observance(
    "STANDARD",
    "-0400",
    "-0500",
    "DTSTART:20071104T020000",
    "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=1SU",
  );
  const lines = zone("Our East", ...old, ...fresh, ...oldEnd, ...end);
  // After the old end of summer time, before the new one.
  const { series } = await parseCalendar(
    calendar(...lines, ...event("UID:a", "DTSTART;TZID=Our East:20261028T100000")),
  );
  const [first] = series;
  expect(first && readSeriesEvent(first, reading)?.start).toMatchObject({ at: "2026-10-28T14:00:00.000Z" });
});

test("a zone with changes without end is not gone through for every occurrence", async () => {
  const dates = `RDATE:${Array.from({ length: 150 }, (_, at) => `${1971 + (at % 50)}0101T000000`).join(",")}`;
  const many = Array.from({ length: 25 }, () =>
    observance("STANDARD", "+0100", "+0100", "DTSTART:19700101T000000", dates),
  );
  const { series } = await parseCalendar(
    calendar(
      ...zone("Nowhere", ...many.flat()),
      ...event("UID:a", "DTSTART;TZID=Nowhere:20160101T100000", "RRULE:FREQ=DAILY;COUNT=3000"),
    ),
  );
  const [first] = series;
  const span = { from: Date.parse("2016-01-01T00:00:00Z"), to: Date.parse("2026-01-01T00:00:00Z") };
  expect(first && listOccurrences(first, span, reading).events).toHaveLength(3000);
});

test("a day that is excluded by its midnight is excluded", async () => {
  const { series } = await parseCalendar(
    calendar(
      ...event(
        "UID:a",
        "DTSTART;VALUE=DATE:20261102",
        "RRULE:FREQ=DAILY;COUNT=3",
        "EXDATE;TZID=Europe/Berlin:20261103T000000",
      ),
    ),
  );
  const [first] = series;
  const span = { from: Date.parse("2026-11-01T00:00:00Z"), to: Date.parse("2026-12-01T00:00:00Z") };
  const days = first && listOccurrences(first, span, reading).events.map(({ start }) => start);
  expect(days).toMatchObject([{ day: "2026-11-02" }, { day: "2026-11-04" }]);
});

test("an hour that the clocks leave out makes no occurrence twice", async () => {
  const { series } = await parseCalendar(
    calendar(...event("UID:a", "DTSTART;TZID=Europe/Berlin:20260329T010000", "RRULE:FREQ=HOURLY;COUNT=4")),
  );
  const [first] = series;
  const span = { from: Date.parse("2026-03-28T00:00:00Z"), to: Date.parse("2026-03-30T00:00:00Z") };
  const ids = first ? listOccurrences(first, span, reading).events.map(({ id }) => id) : [];
  expect(new Set(ids).size).toBe(ids.length);
});
