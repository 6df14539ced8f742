import type { NewEvent } from "@retinue/assistant/calendar/calendar-provider";
import type { Google } from "@retinue/assistant/google/open-google";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmulatedGoogle, OWNER, startGoogle } from "./google-emulators.ts";

const signal = new AbortController().signal;
const DANA = "dana.ortiz@acme.example";

let emulated: EmulatedGoogle;
let google: Google;
beforeAll(async () => {
  const priya = [{ start: "2026-11-17T09:00:00Z", end: "2026-11-17T10:00:00Z" }];
  emulated = await startGoogle({
    calendar: { others: { "priya@retinue.example": priya } },
    people: { page: 2 },
  });
  google = emulated.open();
});
afterAll(() => emulated.close());

describe("Google Calendar", () => {
  const at = (day: number, hour: number) => ({
    kind: "instant" as const,
    at: `2026-11-${day}T${String(hour).padStart(2, "0")}:00:00.000Z`,
    zone: "Europe/Berlin",
  });
  const buildEvent = (id: string, more: Partial<NewEvent> = {}): NewEvent => ({
    id,
    title: `Event ${id}`,
    start: at(17, 13),
    end: at(17, 14),
    attendees: [],
    notify: false,
    ...more,
  });
  const told = () => emulated.calendar.snapshot().state.told;

  test("tells owner and zone", async () => {
    await expect(google.calendar.self(signal)).resolves.toEqual({ address: OWNER, zone: "Europe/Berlin" });
  });

  test("makes an event under its given id, once", async () => {
    const event = buildEvent("a0001", {
      attendees: [DANA],
      notify: true,
      location: "Room 1",
      visibility: "private",
    });
    const made = await google.calendar.create(event, signal);
    expect(made).toMatchObject({
      id: "a0001",
      title: "Event a0001",
      start: at(17, 13),
      end: at(17, 14),
      attendees: [{ address: DANA, response: "needs_action" }],
      location: "Room 1",
      visibility: "private",
      organizer: { address: OWNER, self: true },
      status: "confirmed",
      free: false,
    });
    expect(told().at(-1)).toBe("all");
    await expect(google.calendar.create(event, signal)).rejects.toMatchObject({
      type: "params",
      message: expect.stringContaining("event 'a0001' exists already"),
    });
    await expect(google.calendar.get("a0001", signal)).resolves.toEqual(made);
  });

  test("changes an event only from the state that was read, and guests keep their answers", async () => {
    const { calendar } = google;
    await calendar.create(buildEvent("a0002", { attendees: [DANA] }), signal);
    await emulated.answer("a0002", { email: DANA, displayName: "Dana", responseStatus: "accepted" });
    const made = await calendar.get("a0002", signal);
    const change = {
      title: "Moved",
      start: at(18, 8),
      end: at(18, 9),
      attendees: [DANA, OWNER],
      notify: false,
    };
    const changed = await calendar.update("a0002", change, made.etag, signal);
    expect(changed).toMatchObject({
      title: "Moved",
      start: at(18, 8),
      attendees: [
        { address: DANA, name: "Dana", response: "accepted" },
        { address: OWNER, response: "needs_action" },
      ],
    });
    expect(told().at(-1)).toBe("none");
    await expect(
      calendar.update("a0002", { title: "Late", notify: false }, made.etag, signal),
    ).rejects.toMatchObject({
      type: "params",
      message: expect.stringContaining("has changed"),
    });
    await expect(calendar.remove("a0002", { etag: made.etag, notify: false }, signal)).rejects.toMatchObject({
      type: "params",
    });
    await calendar.remove("a0002", { etag: changed.etag, notify: true }, signal);
    expect(told().at(-1)).toBe("all");
    await expect(calendar.get("a0002", signal)).resolves.toMatchObject({ status: "cancelled" });
    await expect(
      calendar.remove("a0002", { etag: changed.etag, notify: true }, signal),
    ).rejects.toMatchObject({
      type: "params",
      message: expect.stringContaining("has been deleted"),
    });
  });

  test("turns a timed event into one of whole days", async () => {
    const made = await google.calendar.create(buildEvent("a0003"), signal);
    const day = {
      start: { kind: "day", day: "2026-12-24" },
      end: { kind: "day", day: "2026-12-25" },
    } as const;
    const changed = await google.calendar.update("a0003", { ...day, notify: false }, made.etag, signal);
    expect(changed).toMatchObject(day);
  });

  test("lists occurrences of a series in order, and one of them is removed alone", async () => {
    const { calendar } = google;
    const series = { start: at(23, 9), end: at(23, 10), recurrence: "FREQ=WEEKLY;COUNT=3" };
    await calendar.create(buildEvent("b0001", series), signal);
    const span = { from: Date.parse("2026-11-23T00:00:00Z"), to: Date.parse("2026-12-20T00:00:00Z") };
    const { events, total } = await calendar.list({ ...span, query: "b0001", limit: 2 }, signal);
    expect(total).toBe(3);
    expect(events.map(({ id }) => id)).toEqual(["b0001_20261123T090000Z", "b0001_20261130T090000Z"]);
    const [first] = events;
    expect(first).toMatchObject({ seriesId: "b0001", start: at(23, 9) });
    await calendar.remove(first?.id ?? "", { etag: first?.etag ?? "", notify: false }, signal);
    const left = await calendar.list({ ...span, query: "b0001", limit: 10 }, signal);
    expect(left.events.map(({ id }) => id)).toEqual(["b0001_20261130T090000Z", "b0001_20261207T090000Z"]);
    await expect(calendar.get("b0001", signal)).resolves.toMatchObject({ recurrence: "FREQ=WEEKLY;COUNT=3" });
  });

  test("tells busy times of the owner and of those who share theirs; of others that they are unknown", async () => {
    const span = { from: Date.parse("2026-11-17T00:00:00Z"), to: Date.parse("2026-11-18T00:00:00Z") };
    const people = [OWNER.toUpperCase(), "priya@retinue.example", DANA];
    const [own, priya, dana] = await google.calendar.busy(people, span, signal);
    expect(own?.busy).toContainEqual({ from: Date.parse(at(17, 13).at), to: Date.parse(at(17, 14).at) });
    expect(priya).toEqual({
      address: "priya@retinue.example",
      busy: [{ from: Date.parse("2026-11-17T09:00:00.000Z"), to: Date.parse("2026-11-17T10:00:00.000Z") }],
    });
    expect(dana).toMatchObject({
      address: DANA,
      busy: [],
      unknown: expect.stringContaining("does not show"),
    });
  });

  test("names the event that does not exist", async () => {
    await expect(google.calendar.get("nothing", signal)).rejects.toMatchObject({
      type: "params",
      message: expect.stringContaining("event 'nothing'"),
    });
    await expect(google.calendar.get("../x", signal)).rejects.toMatchObject({ type: "params" });
  });
});

test("the calendar of the emulator in common use is read and changed as well", async () => {
  const times = { start_date_time: "2026-11-17T09:00:00.000Z", end_date_time: "2026-11-17T10:00:00.000Z" };
  const other = await startGoogle({
    events: [{ id: "evt1", summary: "Kickoff", user_email: OWNER, ...times }],
  });
  try {
    const { calendar } = other.open();
    const span = { from: Date.parse("2026-11-17T00:00:00Z"), to: Date.parse("2026-11-18T00:00:00Z") };
    const { events } = await calendar.list({ ...span, limit: 5 }, signal);
    expect(events.map(({ id, title }) => [id, title])).toEqual([["evt1", "Kickoff"]]);
    const [own, dana] = await calendar.busy([OWNER, DANA], span, signal);
    expect(own?.busy).toEqual([
      { from: Date.parse(times.start_date_time), to: Date.parse(times.end_date_time) },
    ]);
    expect(dana?.unknown).toContain("does not show");
    await calendar.remove("evt1", { etag: events[0]?.etag ?? "", notify: false }, signal);
    expect((await calendar.list({ ...span, limit: 5 }, signal)).total).toBe(0);
  } finally {
    await other.close();
  }
});

describe("Google Contacts", () => {
  test("finds people across pages by any part, without regard to case and accents", async () => {
    const names = async (query: object) =>
      (await google.contacts.search({ limit: 10, ...query }, signal)).contacts.map(({ name }) => name);
    expect(await names({})).toEqual(["Priya Nair", "Jonas Weber", "Dana Ortiz", "Zoë Müller", "team"]);
    expect(await names({ text: "acme cto" })).toEqual(["Dana Ortiz"]);
    expect(await names({ name: "zoe muller" })).toEqual(["Zoë Müller"]);
    expect(await names({ organization: "Acme" })).toEqual(["Dana Ortiz", "Zoë Müller"]);
    expect(await names({ email: "JONAS@retinue.example" })).toEqual(["Jonas Weber"]);
    expect((await google.contacts.search({ limit: 1, organization: "acme" }, signal)).total).toBe(2);
  });

  test("reads a person, preferred address first, and a list with its members' addresses", async () => {
    expect(await google.contacts.get("people/c3", signal)).toEqual({
      id: "people/c3",
      name: "Dana Ortiz",
      emails: [DANA, `old-${DANA}`],
      phones: ["+49 30 1234567"],
      organization: "Acme Corp",
      title: "CTO",
    });
    expect(await google.contacts.get("contactGroups/team", signal)).toMatchObject({
      name: "team",
      members: ["priya@retinue.example", "jonas@retinue.example"],
    });
    await expect(google.contacts.get("people/c99", signal)).rejects.toMatchObject({ type: "params" });
    await expect(google.contacts.get("people/../x", signal)).rejects.toMatchObject({ type: "params" });
  });

  test("counts people by organization, however it is written", async () => {
    expect(await google.contacts.organizations(signal)).toEqual([
      { name: "Acme Corp", contacts: 2 },
      { name: "Retinue", contacts: 2 },
    ]);
  });
});
