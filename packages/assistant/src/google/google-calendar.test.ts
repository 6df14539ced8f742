import { expect, test } from "vitest";
import { createGoogleCalendar } from "./google-calendar.ts";
import { createGoogleContacts } from "./google-contacts.ts";

const { signal } = new AbortController();

/** A service of Google that answers by what is asked for, and remembers it. */
function fakeApi(answers: Record<string, unknown>) {
  const asked: string[] = [];
  return {
    asked,
    refresh: async () => undefined,
    during:
      () =>
      async <Data>(about: string): Promise<Data> => {
        asked.push(about);
        return answers[about] as Data;
      },
  };
}

const openCalendar = (answers: Record<string, unknown>) =>
  createGoogleCalendar(fakeApi(answers), {
    owner: async () => "alex@retinue.example",
    zone: "Europe/Berlin",
  });

test("an event of Google's is read with its rule, its guests and the zone that it names", async () => {
  const calendar = openCalendar({
    "event 'e1'": {
      id: "e1",
      etag: '"7"',
      summary: "Review",
      start: { dateTime: "2026-11-17T15:00:00+01:00" },
      end: { dateTime: "2026-11-17T10:00:00-05:00", timeZone: "America/New_York" },
      recurrence: ["EXDATE:20261118", "RRULE:FREQ=DAILY"],
      attendees: [
        { email: "dana@acme.example", displayName: "Dana", responseStatus: "accepted" },
        { email: "room@retinue.example", resource: true },
      ],
      organizer: { email: "alex@retinue.example", self: true },
      transparency: "transparent",
      visibility: "confidential",
    },
  });
  expect(await calendar.get("e1", signal)).toEqual({
    id: "e1",
    etag: '"7"',
    title: "Review",
    start: { kind: "instant", at: "2026-11-17T14:00:00.000Z", zone: "Europe/Berlin" },
    end: { kind: "instant", at: "2026-11-17T15:00:00.000Z", zone: "America/New_York" },
    recurrence: "FREQ=DAILY",
    attendees: [{ address: "dana@acme.example", name: "Dana", response: "accepted" }],
    organizer: { address: "alex@retinue.example", self: true },
    free: true,
    visibility: "private",
    status: "confirmed",
  });
});

test("busy times come in the order of the question, and a calendar that Google does not show says so", async () => {
  const calendar = openCalendar({
    "free and busy times": {
      calendars: {
        primary: { busy: [{ start: "2026-11-17T10:00:00Z", end: "2026-11-17T11:00:00Z" }] },
        "dana@acme.example": { errors: [{ reason: "notFound" }] },
      },
    },
  });
  const span = { from: Date.parse("2026-11-17T00:00:00Z"), to: Date.parse("2026-11-18T00:00:00Z") };
  expect(await calendar.busy(["dana@acme.example", "Alex@retinue.example"], span, signal)).toEqual([
    {
      address: "dana@acme.example",
      busy: [],
      unknown: "Google does not show their calendar to this account",
    },
    {
      address: "Alex@retinue.example",
      busy: [{ from: Date.parse("2026-11-17T10:00:00.000Z"), to: Date.parse("2026-11-17T11:00:00.000Z") }],
    },
  ]);
});

test("contacts have their primary values first, and lists the addresses of their members", async () => {
  const membership = { contactGroupMembership: { contactGroupResourceName: "contactGroups/team" } };
  const api = fakeApi({
    "the contacts": {
      connections: [
        {
          resourceName: "people/1",
          names: [{ displayName: "Dana Ortiz" }],
          emailAddresses: [
            { value: "d@home.example" },
            { value: "d@acme.example", metadata: { primary: true } },
          ],
          organizations: [{ name: "Acme", title: "CTO" }],
          memberships: [membership],
        },
        { resourceName: "people/2" },
      ],
    },
    "the contact lists": {
      contactGroups: [
        { resourceName: "contactGroups/team", groupType: "USER_CONTACT_GROUP", name: "team" },
        { resourceName: "contactGroups/all", groupType: "SYSTEM_CONTACT_GROUP", name: "all" },
      ],
    },
  });
  const contacts = createGoogleContacts(api);
  expect((await contacts.search({ limit: 9 }, signal)).contacts).toEqual([
    {
      ...{ id: "people/1", name: "Dana Ortiz", organization: "Acme", title: "CTO", phones: [] },
      emails: ["d@acme.example", "d@home.example"],
    },
    { id: "contactGroups/team", name: "team", emails: [], phones: [], members: ["d@acme.example"] },
  ]);
  await contacts.get("people/1", signal);
  expect(api.asked).toEqual(["the contacts", "the contact lists"]);
});
