import fc from "fast-check";
import { expect, test } from "vitest";
import type { EventTime, NewEvent } from "../calendar/calendar-provider.ts";
import { type EmbeddedStore, openEmbedded } from "./embedded-store.ts";
import { importCalendar } from "./import-files.ts";
import { createReport } from "./import-source.ts";

const NOW = Date.parse("2026-11-16T09:00:00Z");
const { signal } = new AbortController();
const OWNER = { name: "Alex Kim", address: "alex@retinue.example", zone: "Europe/Berlin" };
const HOUR = 3_600_000;

function openStore(): EmbeddedStore {
  return openEmbedded({ file: ":memory:", now: () => NOW, zone: "UTC", owner: OWNER });
}

const at = (iso: string, zone = "Europe/Berlin"): EventTime => ({
  kind: "instant",
  at: new Date(iso).toISOString(),
  zone,
});
const event = (more: Partial<NewEvent> = {}): NewEvent => ({
  id: "abc123",
  title: "Team sync",
  start: at("2026-10-19T08:00:00Z"),
  end: at("2026-10-19T08:30:00Z"),
  attendees: [],
  notify: false,
  ...more,
});
const span = (start: string, end: string, more: object = {}) => ({
  from: Date.parse(start),
  to: Date.parse(end),
  limit: 100,
  ...more,
});

async function importText(store: EmbeddedStore, text: string, file = "x.ics") {
  const report = createReport();
  await importCalendar({ database: store.database(), file, report }, text.replaceAll("\n", "\r\n"));
  return report;
}

test("a weekly event stays at its hour when the clocks change", async () => {
  const { calendar } = openStore();
  await calendar.create(event({ recurrence: "FREQ=WEEKLY;COUNT=3" }), signal);
  const { events } = await calendar.list(span("2026-10-01T00:00:00Z", "2026-12-01T00:00:00Z"), signal);
  expect(events.map(({ start }) => start.kind === "instant" && start.at)).toEqual([
    "2026-10-19T08:00:00.000Z",
    "2026-10-26T09:00:00.000Z",
    "2026-11-02T09:00:00.000Z",
  ]);
  expect(events[1]).toMatchObject({ id: "abc123_20261026T090000Z", seriesId: "abc123" });
});

test("one occurrence is changed and removed without the others", async () => {
  const { calendar } = openStore();
  await calendar.create(event({ recurrence: "FREQ=WEEKLY" }), signal);
  const id = "abc123_20261102T090000Z";
  const one = await calendar.get(id, signal);
  const change = { start: at("2026-11-02T13:00:00Z"), title: "Later", notify: false };
  const changed = await calendar.update(id, change, one.etag, signal);
  expect(changed).toMatchObject({ id, title: "Later", start: { at: "2026-11-02T13:00:00.000Z" } });
  const next = await calendar.get("abc123_20261109T090000Z", signal);
  await calendar.remove(next.id, { etag: next.etag, notify: false }, signal);
  const { events } = await calendar.list(span("2026-10-26T00:00:00Z", "2026-11-17T00:00:00Z"), signal);
  expect(events.map(({ title, start }) => `${title} ${start.kind === "instant" && start.at}`)).toEqual([
    "Team sync 2026-10-26T09:00:00.000Z",
    "Later 2026-11-02T13:00:00.000Z",
    "Team sync 2026-11-16T09:00:00.000Z",
  ]);
  await expect(calendar.get(next.id, signal)).rejects.toMatchObject({ type: "params" });
});

test("a whole series is changed and removed", async () => {
  const { calendar } = openStore();
  const made = await calendar.create(event({ recurrence: "FREQ=DAILY;COUNT=4" }), signal);
  const changed = await calendar.update("abc123", { title: "Stand-up", notify: false }, made.etag, signal);
  const { events } = await calendar.list(span("2026-10-01T00:00:00Z", "2026-12-01T00:00:00Z"), signal);
  expect(events.map(({ title }) => title)).toEqual(Array(4).fill("Stand-up"));
  await calendar.remove("abc123", { etag: changed.etag, notify: false }, signal);
  await expect(calendar.get("abc123", signal)).rejects.toMatchObject({ type: "params" });
});

test("a change made from an older state is refused", async () => {
  const { calendar } = openStore();
  const made = await calendar.create(event(), signal);
  const changed = await calendar.update("abc123", { title: "New", notify: false }, made.etag, signal);
  expect(changed.etag).not.toBe(made.etag);
  await expect(calendar.update("abc123", { title: "Old", notify: false }, made.etag, signal)).rejects.toThrow(
    "has changed",
  );
  await expect(calendar.remove("abc123", { etag: made.etag, notify: false }, signal)).rejects.toThrow(
    "has changed",
  );
  expect((await calendar.get("abc123", signal)).title).toBe("New");
});

test("an id is taken once", async () => {
  const { calendar } = openStore();
  await calendar.create(event(), signal);
  await expect(calendar.create(event({ title: "Other" }), signal)).rejects.toMatchObject({ type: "params" });
});

test("titles, attendees and their answers are listed and searched", async () => {
  const { calendar } = openStore();
  await calendar.create(event({ attendees: ["dana.ortiz@acme.example"], location: "Room Fjord" }), signal);
  const wide = ["2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z"] as const;
  const { events } = await calendar.list(span(...wide, { query: "dana fjord" }), signal);
  expect(events[0]?.attendees).toContainEqual(
    expect.objectContaining({ address: "dana.ortiz@acme.example", response: "needs_action" }),
  );
  expect(events[0]?.organizer).toEqual({ address: OWNER.address, self: true });
  expect((await calendar.list(span(...wide, { query: "nobody" }), signal)).total).toBe(0);
  await expect(calendar.list(span(wide[1], wide[0]), signal)).rejects.toMatchObject({ type: "params" });
});

test("busy time is merged for the owner and for imported calendars, and unknown for everybody else", async () => {
  const store = openStore();
  await store.calendar.create(event(), signal);
  await store.calendar.create(
    event({ id: "b", start: at("2026-10-19T08:15:00Z"), end: at("2026-10-19T09:00:00Z") }),
    signal,
  );
  const text = `BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:p1\nDTSTART:20261019T120000Z\nDTEND:20261019T130000Z\nSUMMARY:Private\nEND:VEVENT\nEND:VCALENDAR\n`;
  await importText(store, text, "calendar/priya@retinue.example.ics");
  const people = [OWNER.address.toUpperCase(), "priya@retinue.example", "dana@acme.example"];
  const busy = await store.calendar.busy(
    people,
    { from: Date.parse("2026-10-19T00:00:00Z"), to: Date.parse("2026-10-20T00:00:00Z") },
    signal,
  );
  expect(busy).toEqual([
    {
      address: people[0],
      busy: [{ from: Date.parse("2026-10-19T08:00:00.000Z"), to: Date.parse("2026-10-19T09:00:00.000Z") }],
    },
    {
      address: people[1],
      busy: [{ from: Date.parse("2026-10-19T12:00:00.000Z"), to: Date.parse("2026-10-19T13:00:00.000Z") }],
    },
    { address: people[2], busy: [], unknown: expect.stringContaining("no account") },
  ]);
  expect(
    (await store.calendar.list(span("2026-10-19T00:00:00Z", "2026-10-20T00:00:00Z"), signal)).total,
  ).toBe(2);
});

test("a rule without end is bounded, and one that is too fine is refused", async () => {
  const store = openStore();
  await store.calendar.create(event({ recurrence: "FREQ=HOURLY" }), signal);
  const { total } = await store.calendar.list(span("2026-10-19T00:00:00Z", "2027-10-19T00:00:00Z"), signal);
  expect(total).toBeGreaterThan(364 * 24);
  await expect(
    store.calendar.list(span("2026-10-19T00:00:00Z", "2999-01-01T00:00:00Z"), signal),
  ).rejects.toThrow("shorter span");
  await expect(
    store.calendar.create(event({ id: "x", recurrence: "FREQ=SECONDLY" }), signal),
  ).rejects.toMatchObject({ type: "params" });
  const never = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30";
  const hostile = `BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:never\nDTSTART:20260101T000000Z\nRRULE:${never}\nSUMMARY:Never\nEND:VEVENT\nEND:VCALENDAR\n`;
  const other = openStore();
  expect((await importText(other, hostile)).problems).toEqual([]);
  expect(
    (
      await other.calendar.list(
        span("2027-01-01T00:00:00Z", "2099-01-01T00:00:00Z", { query: "never" }),
        signal,
      )
    ).total,
  ).toBe(0);
});

test("an event that was imported again counts only if its organiser changed it", async () => {
  const store = openStore();
  const text = (sequence: number, title: string) =>
    `BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:u1\nSEQUENCE:${sequence}\nDTSTART;VALUE=DATE:20261120\nSUMMARY:${title}\nEND:VEVENT\nEND:VCALENDAR\n`;
  expect((await importText(store, text(1, "One"))).counts.events).toBe(1);
  expect(await importText(store, text(1, "Two"))).toMatchObject({ skipped: 1 });
  expect((await store.calendar.get("u1", signal)).title).toBe("One");
  expect((await importText(store, text(2, "Three"))).counts.events).toBe(1);
  expect(await store.calendar.get("u1", signal)).toMatchObject({
    title: "Three",
    start: { kind: "day", day: "2026-11-20" },
  });
});

test("a bad event hides no other", async () => {
  const store = openStore();
  const report = await importText(
    store,
    "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nSUMMARY:No UID\nEND:VEVENT\nBEGIN:VEVENT\nUID:bad\nDTSTART:yesterday\nEND:VEVENT\nBEGIN:VEVENT\nUID:good\nDTSTART:20261120T100000Z\nEND:VEVENT\nEND:VCALENDAR\n",
  );
  expect(report.counts.events).toBe(1);
  expect(report.problems.length).toBeGreaterThanOrEqual(2);
  expect((await importText(store, "not a calendar")).problems).toHaveLength(1);
});

test("an occurrence that came without its series is removed", async () => {
  const store = openStore();
  await importText(
    store,
    "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:s\nRECURRENCE-ID:20261120T100000Z\nDTSTART:20261120T120000Z\nSUMMARY:One\nEND:VEVENT\nEND:VCALENDAR\n",
  );
  const { events } = await store.calendar.list(span("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"), signal);
  expect(events.map(({ id }) => id)).toEqual(["s_20261120T100000Z"]);
  await store.calendar.remove("s_20261120T100000Z", { etag: events[0]?.etag ?? "", notify: false }, signal);
  expect(
    (await store.calendar.list(span("2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"), signal)).total,
  ).toBe(0);
});

test("a date that is listed before the first start is found", async () => {
  const store = openStore();
  await importText(
    store,
    "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:s\nDTSTART:20261120T120000Z\nRDATE:20260120T120000Z\nSUMMARY:One\nEND:VEVENT\nEND:VCALENDAR\n",
  );
  expect(
    (await store.calendar.list(span("2026-01-20T00:00:00Z", "2026-01-21T00:00:00Z"), signal)).total,
  ).toBe(1);
});

test("a list over many costly events can be cancelled", async () => {
  const store = openStore();
  const costly = (uid: number) =>
    `BEGIN:VEVENT\nUID:u${uid}\nDTSTART:19000101T000000Z\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30;COUNT=9\nEND:VEVENT\n`;
  const events = Array.from({ length: 60 }, (_, uid) => costly(uid)).join("");
  await importText(store, `BEGIN:VCALENDAR\nVERSION:2.0\n${events}END:VCALENDAR\n`);
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  const listing = store.calendar.list(
    span("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    controller.signal,
  );
  await expect(listing).rejects.toThrow("stopped");
});

/** Reads the local clock of a zone, by Intl alone. */
function wallClock(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return (ms) => format.format(ms);
}

test("occurrences are the same that a check of every hour of the year finds", async () => {
  const days = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"];
  const cases = fc.record({
    zone: fc.constantFrom("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC"),
    hour: fc.integer({ min: 4, max: 22 }),
    byDay: fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 4 }),
    gone: fc.integer({ min: 0, max: 20 }),
  });
  const begin = Date.UTC(2026, 1, 1);
  await fc.assert(
    fc.asyncProperty(cases, async ({ zone, hour, byDay, gone }) => {
      const clock = `${String(hour).padStart(2, "0")}:00:00`;
      const expected: number[] = [];
      const readWall = wallClock(zone);
      for (let ms = begin; ms < begin + 300 * 24 * HOUR; ms += HOUR / 2) {
        const [day = "", time] = readWall(ms).split(" ");
        if (time === clock && byDay.includes(new Date(`${day}T00:00:00Z`).getUTCDay())) expected.push(ms);
      }
      const { calendar } = openStore();
      const start = new Date(expected[0] ?? 0).toISOString();
      const rule = `FREQ=WEEKLY;BYDAY=${byDay.map((day) => days[day]).join(",")}`;
      await calendar.create(
        event({ start: at(start, zone), end: at(start, zone), recurrence: rule }),
        signal,
      );
      const wide = span(new Date(begin).toISOString(), new Date(begin + 300 * 24 * HOUR).toISOString(), {
        limit: 1000,
      });
      const removed = (await calendar.list(wide, signal)).events[gone + 1];
      if (removed) await calendar.remove(removed.id, { etag: removed.etag, notify: false }, signal);
      const { events } = await calendar.list(wide, signal);
      const found = events.map((each) => (each.start.kind === "instant" ? Date.parse(each.start.at) : 0));
      expect(found).toEqual(expected.filter((_, index) => index !== gone + 1));
    }),
    { numRuns: 8 },
  );
});

test("other people's calendars are brought up to date by a newer file", async () => {
  const store = openStore();
  const text = (sequence: number, day: number) =>
    `BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:p1\nSEQUENCE:${sequence}\nDTSTART:2026110${day}T100000Z\nDTEND:2026110${day}T110000Z\nEND:VEVENT\nEND:VCALENDAR\n`;
  await importText(store, text(0, 2), "priya@retinue.example.ics");
  await importText(store, text(1, 5), "priya@retinue.example.ics");
  const wide = { from: Date.parse("2026-11-01T00:00:00Z"), to: Date.parse("2026-12-01T00:00:00Z") };
  const [priya] = await store.calendar.busy(["priya@retinue.example"], wide, signal);
  expect(priya?.busy).toEqual([
    { from: Date.parse("2026-11-05T10:00:00.000Z"), to: Date.parse("2026-11-05T11:00:00.000Z") },
  ]);
});

test("an event that is in the hour the clocks show twice keeps its time and length", async () => {
  const { calendar } = openStore();
  const [before, after] = [at("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z")];
  const first = await calendar.create(event({ start: before, end: after }), signal);
  expect([first.start, first.end]).toMatchObject([
    { at: "2026-10-25T00:30:00.000Z" },
    { at: "2026-10-25T01:30:00.000Z" },
  ]);
  const later = { id: "later", start: after, end: at("2026-10-25T02:30:00Z") };
  const second = await calendar.create(event(later), signal);
  expect(second.start).toMatchObject({ at: "2026-10-25T01:30:00.000Z" });
});

test("a series that no longer recurs has no single occurrences, and one with a new rule only those that fit", async () => {
  const { calendar } = openStore();
  const wide = span("2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z");
  for (const [recurrence, expected] of [
    ["", ["Team sync"]],
    ["FREQ=DAILY;COUNT=9", [...Array(7).fill("Team sync"), "Later", "Team sync"]],
    ["FREQ=MONTHLY;COUNT=2", ["Team sync", "Team sync"]],
  ] as const) {
    const made = await calendar.create(event({ recurrence: "FREQ=WEEKLY;COUNT=2", id: "s1" }), signal);
    const one = await calendar.get(`${made.id}_20261026T090000Z`, signal);
    await calendar.update(one.id, { title: "Later", notify: false }, one.etag, signal);
    const { etag } = await calendar.get(made.id, signal);
    const changed = await calendar.update(made.id, { recurrence, notify: false }, etag, signal);
    expect((await calendar.list(wide, signal)).events.map(({ title }) => title)).toEqual(expected);
    await calendar.remove(made.id, { etag: changed.etag, notify: false }, signal);
  }
});

test("cancelled events are neither listed nor busy", async () => {
  const store = openStore();
  const lines = (id: string, more: string) =>
    `BEGIN:VEVENT\nUID:${id}\nDTSTART:20261102T100000Z\nDTEND:20261102T110000Z\n${more}\nEND:VEVENT\n`;
  const off =
    "BEGIN:VEVENT\nUID:b\nRECURRENCE-ID:20261103T100000Z\nDTSTART:20261103T100000Z\nSTATUS:CANCELLED\nEND:VEVENT\n";
  const events = `${lines("a", "STATUS:CANCELLED")}${lines("b", "RRULE:FREQ=DAILY;COUNT=3")}${off}`;
  await importText(store, `BEGIN:VCALENDAR\nVERSION:2.0\n${events}END:VCALENDAR\n`);
  const { events: found } = await store.calendar.list(
    span("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"),
    signal,
  );
  expect(found.map(({ id }) => id)).toEqual(["b_20261102T100000Z", "b_20261104T100000Z"]);
  expect(await store.calendar.get("b_20261103T100000Z", signal)).toMatchObject({ status: "cancelled" });
});
