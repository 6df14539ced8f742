import { beforeEach, expect, test } from "vitest";
import type { CalendarProvider, NewEvent } from "./calendar-provider.ts";
import type { Series } from "./ical/series.ts";
import { createSeriesCalendar, refuseChangedEvent, type StoredSeries } from "./series-calendar.ts";

const { signal } = new AbortController();
const SPAN = { from: Date.parse("2026-11-01T00:00:00Z"), to: Date.parse("2026-12-01T00:00:00Z") };
const at = (iso: string) => ({ kind: "instant", at: iso, zone: "UTC" }) as const;
const event = (id: string, more: Partial<NewEvent> = {}): NewEvent => ({
  id,
  title: "Review",
  start: at("2026-11-17T10:00:00.000Z"),
  end: at("2026-11-17T11:00:00.000Z"),
  attendees: [],
  notify: false,
  ...more,
});

let kept: StoredSeries[] = [];
let calendar: CalendarProvider;
let state = 0;
const replace = (uid: string, series: Series | null) => {
  kept = kept.filter((each) => each.series.uid !== uid);
  if (series) kept.push({ series, etag: String(++state) });
};
beforeEach(() => {
  kept = [];
  calendar = createSeriesCalendar<StoredSeries>({
    kind: "embedded",
    owner: () => ({ address: "alex@retinue.example", zone: "UTC" }),
    now: () => 0,
    unseen: "nobody sees it",
    findNear: (_span, person) => (person === null ? list(kept) : null),
    findByUid: (uid) => list(kept.filter(({ series }) => series.uid === uid)),
    add: async (series) => replace(series.uid, series),
    replace: async (stored, etag, series) => {
      if (stored.etag !== etag) throw refuseChangedEvent();
      replace(stored.series.uid, series);
    },
  });
});

async function* list(stored: readonly StoredSeries[]) {
  yield* stored;
}

test("an event is made, found, changed from the state that is known, and removed", async () => {
  const made = await calendar.create(event("k1"), signal);
  expect((await calendar.list({ ...SPAN, limit: 5 }, signal)).events).toEqual([made]);
  const changed = await calendar.update("k1", { title: "Moved", notify: false }, made.etag, signal);
  expect(changed.title).toBe("Moved");
  const stale = calendar.update("k1", { title: "Mine", notify: false }, made.etag, signal);
  await expect(stale).rejects.toMatchObject({ type: "params", message: /has changed since it was read/ });
  await calendar.remove("k1", { etag: changed.etag, notify: false }, signal);
  await expect(calendar.get("k1", signal)).rejects.toMatchObject({ type: "params" });
});

test("removing one occurrence leaves the others, and removing the last removes the series", async () => {
  const rule = { recurrence: "FREQ=DAILY;COUNT=2" };
  const { etag } = await calendar.create(event("k2", rule), signal);
  await calendar.remove("k2_20261117T100000Z", { etag, notify: false }, signal);
  const { events } = await calendar.list({ ...SPAN, limit: 5 }, signal);
  expect(events.map(({ id }) => id)).toEqual(["k2_20261118T100000Z"]);
});

test("a UID that ends like the key of an occurrence is still found whole", async () => {
  const uid = "fair_20261117";
  expect((await calendar.create(event(uid), signal)).id).toBe(uid);
  expect((await calendar.get(uid, signal)).title).toBe("Review");
});

test("the owner's busy time is known, and that of others says why it is not", async () => {
  await calendar.create(event("k3"), signal);
  expect(await calendar.busy(["Alex@retinue.example", "dana@acme.example"], SPAN, signal)).toEqual([
    {
      address: "Alex@retinue.example",
      busy: [{ from: Date.parse("2026-11-17T10:00:00.000Z"), to: Date.parse("2026-11-17T11:00:00.000Z") }],
    },
    { address: "dana@acme.example", busy: [], unknown: "nobody sees it" },
  ]);
});

test("a span that ends before it starts, and a rule that cannot be listed whole, are refused", async () => {
  const backwards = calendar.list({ from: SPAN.to, to: SPAN.from, limit: 5 }, signal);
  await expect(backwards).rejects.toMatchObject({ type: "params" });
  const often = { recurrence: "FREQ=HOURLY;BYMINUTE=0,1,2,3,4,5,6,7,8,9;BYSECOND=0,1,2,3,4,5,6,7,8,9" };
  await calendar.create(event("k4", often), signal);
  const long = calendar.list(
    { from: Date.parse("2026-11-01T00:00:00Z"), to: Date.parse("2027-11-01T00:00:00Z"), limit: 5 },
    signal,
  );
  await expect(long).rejects.toThrow(/ask for a shorter span/);
});
