import { createServer } from "node:http";
import type { CalendarProvider, EventTime, NewEvent } from "@retinue/assistant/calendar/calendar-provider";
import type { ContactsProvider } from "@retinue/assistant/contacts/contacts-provider";
import { openDav } from "@retinue/assistant/dav/open-dav";
import { ToolFault } from "@retinue/assistant/service-tools/tool-fault";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { freePort, hasProgram } from "../fixtures/local-service.ts";
import { DAV_USER, startRadicale } from "../fixtures/start-radicale.ts";

const signal = new AbortController().signal;
const ZONE = "Europe/Berlin";
const at = (iso: string, zone = ZONE): EventTime => ({ kind: "instant", at: iso, zone });
const day = (name: string): EventTime => ({ kind: "day", day: name });

function event(id: string, more: Partial<NewEvent> = {}): NewEvent {
  return {
    id,
    title: "Review",
    start: at("2026-11-19T13:00:00.000Z"),
    end: at("2026-11-19T14:00:00.000Z"),
    attendees: [],
    notify: false,
    ...more,
  };
}

async function fault(call: Promise<unknown>): Promise<ToolFault> {
  const error = await call.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ToolFault) return error;
  throw error;
}

describe.skipIf(!hasProgram("radicale", "--version"))("an account on radicale", () => {
  let radicale: Awaited<ReturnType<typeof startRadicale>>;
  let calendar: CalendarProvider;
  let contacts: ContactsProvider;
  const basic = `Basic ${Buffer.from(`${DAV_USER.user}:${DAV_USER.password}`).toString("base64")}`;

  beforeAll(async () => {
    radicale = await startRadicale();
  });
  afterAll(() => radicale?.stop());
  beforeEach(async () => {
    for (const name of ["work", "people", "tasks"]) await call("DELETE", `alex/${name}/`);
    await call(
      "MKCALENDAR",
      "alex/tasks/",
      '<mkcalendar xmlns="urn:ietf:params:xml:ns:caldav" xmlns:d="DAV:"><d:set><d:prop><supported-calendar-component-set><comp name="VTODO"/></supported-calendar-component-set></d:prop></d:set></mkcalendar>',
    );
    await call(
      "MKCALENDAR",
      "alex/work/",
      '<mkcalendar xmlns="urn:ietf:params:xml:ns:caldav" xmlns:d="DAV:"><d:set><d:prop><supported-calendar-component-set><comp name="VEVENT"/></supported-calendar-component-set></d:prop></d:set></mkcalendar>',
    );
    await call(
      "MKCOL",
      "alex/people/",
      '<d:mkcol xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:carddav"><d:set><d:prop><d:resourcetype><d:collection/><c:addressbook/></d:resourcetype></d:prop></d:set></d:mkcol>',
    );
    ({ calendar, contacts } = opened());
  });

  async function call(method: string, path: string, body?: string, type = "text/xml"): Promise<Response> {
    return fetch(`${radicale.url}${path}`, {
      method,
      headers: { authorization: basic, "content-type": type },
      ...(body !== undefined && { body }),
    });
  }

  function opened(password: string = DAV_USER.password, url = radicale.url) {
    const { calendar, contacts } = openDav({
      url,
      user: DAV_USER.user,
      password,
      address: "alex@retinue.example",
      zone: ZONE,
      kinds: ["calendar", "contacts"],
      now: () => Date.UTC(2026, 10, 16),
    });
    if (!calendar || !contacts) throw new Error("both were asked for");
    return { calendar, contacts };
  }

  const november = {
    from: Date.parse("2026-11-01T00:00:00.000Z"),
    to: Date.parse("2026-12-01T00:00:00.000Z"),
    limit: 50,
  };

  test("an event is made, found, listed, changed and removed", async () => {
    const made = await calendar.create(
      event("k1", {
        title: 'Review & <plan>, ünïcode; \\ "quoted"\nsecond line',
        attendees: ["dana.ortiz@acme.example"],
        location: "Room 1",
        visibility: "private",
      }),
      signal,
    );
    expect(made).toMatchObject({
      id: "k1",
      title: 'Review & <plan>, ünïcode; \\ "quoted"\nsecond line',
      start: at("2026-11-19T13:00:00.000Z"),
      end: at("2026-11-19T14:00:00.000Z"),
      location: "Room 1",
      visibility: "private",
      organizer: { address: "alex@retinue.example", self: true },
      attendees: [{ address: "dana.ortiz@acme.example", response: "needs_action" }],
    });
    expect(await calendar.get("k1", signal)).toEqual(made);
    expect((await calendar.list(november, signal)).events).toEqual([made]);
    expect((await calendar.list({ ...november, query: "room review" }, signal)).total).toBe(1);
    expect((await calendar.list({ ...november, query: "dentist" }, signal)).total).toBe(0);
    const moved = await calendar.update(
      "k1",
      { start: at("2026-11-20T08:30:00.000Z"), title: "Moved", notify: false },
      made.etag,
      signal,
    );
    expect(moved).toMatchObject({ title: "Moved", end: at("2026-11-20T09:30:00.000Z"), location: "Room 1" });
    await calendar.remove("k1", { etag: moved.etag, notify: false }, signal);
    expect((await fault(calendar.get("k1", signal))).type).toBe("params");
  });

  test("an event of the same id is refused, so that none is made twice", async () => {
    await calendar.create(event("k2"), signal);
    const again = await fault(calendar.create(event("k2", { title: "Other" }), signal));
    expect([again.type, again.message]).toEqual(["params", "there is an event 'k2' already"]);
    expect((await calendar.get("k2", signal)).title).toBe("Review");
  });

  test("a change or removal from a stale state is refused and changes nothing", async () => {
    const made = await calendar.create(event("k3"), signal);
    await calendar.update("k3", { title: "By somebody else", notify: false }, made.etag, signal);
    const update = await fault(calendar.update("k3", { title: "Mine", notify: false }, made.etag, signal));
    expect([update.type, update.message]).toEqual(["params", expect.stringContaining("has changed")]);
    const remove = await fault(calendar.remove("k3", { etag: made.etag, notify: false }, signal));
    expect([remove.type, remove.message]).toEqual(["params", expect.stringContaining("has changed")]);
    expect((await calendar.get("k3", signal)).title).toBe("By somebody else");
  });

  test("a series keeps its hour when the clocks change, and single occurrences are changed and removed", async () => {
    await calendar.create(
      event("k4", {
        title: "Team sync",
        start: at("2026-10-12T08:00:00.000Z"),
        end: at("2026-10-12T08:30:00.000Z"),
        recurrence: "FREQ=WEEKLY;BYDAY=MO",
      }),
      signal,
    );
    const span = {
      from: Date.parse("2026-10-12T00:00:00.000Z"),
      to: Date.parse("2026-11-10T00:00:00.000Z"),
      limit: 50,
    };
    const first = await calendar.list(span, signal);
    expect(first.events.map(({ start }) => start.kind === "instant" && start.at)).toEqual([
      "2026-10-12T08:00:00.000Z",
      "2026-10-19T08:00:00.000Z",
      "2026-10-26T09:00:00.000Z",
      "2026-11-02T09:00:00.000Z",
      "2026-11-09T09:00:00.000Z",
    ]);
    const [, second, third] = first.events;
    expect(second).toMatchObject({
      id: "k4_20261019T080000Z",
      seriesId: "k4",
      recurrence: "FREQ=WEEKLY;BYDAY=MO",
    });
    await calendar.update(
      "k4_20261019T080000Z",
      { title: "Sync, later", start: at("2026-10-19T12:00:00.000Z"), notify: false },
      second?.etag ?? "",
      signal,
    );
    const { etag } = await calendar.get("k4", signal);
    await calendar.remove(third?.id ?? "", { etag, notify: false }, signal);
    expect(
      (await calendar.list(span, signal)).events.map(({ id, title, start }) => [id, title, start]),
    ).toEqual([
      ["k4_20261012T080000Z", "Team sync", at("2026-10-12T08:00:00.000Z")],
      ["k4_20261019T080000Z", "Sync, later", at("2026-10-19T12:00:00.000Z")],
      ["k4_20261102T090000Z", "Team sync", at("2026-11-02T09:00:00.000Z")],
      ["k4_20261109T090000Z", "Team sync", at("2026-11-09T09:00:00.000Z")],
    ]);
    expect((await calendar.get("k4_20261019T080000Z", signal)).title).toBe("Sync, later");
    expect((await fault(calendar.get("k4_20261026T090000Z", signal))).type).toBe("params");
    expect((await calendar.get("k4", signal)).recurrence).toBe("FREQ=WEEKLY;BYDAY=MO");
  });

  test("whole days and events that another program wrote are read", async () => {
    await calendar.create(
      event("k5", { title: "Fair", start: day("2026-11-18"), end: day("2026-11-20") }),
      signal,
    );
    const foreign = [
      "BEGIN:VCALENDAR",
      "VERSION:2.0",
      "PRODID:other",
      "BEGIN:VTIMEZONE",
      "TZID:Customized Time Zone",
      "BEGIN:STANDARD",
      "DTSTART:16010101T000000",
      "TZOFFSETFROM:+0500",
      "TZOFFSETTO:+0500",
      "END:STANDARD",
      "END:VTIMEZONE",
      "BEGIN:VEVENT",
      "UID:odd/uid & more_20260101",
      "DTSTAMP:20260101T000000Z",
      "DTSTART;TZID=Customized Time Zone:20261117T100000",
      "DURATION:PT90M",
      "SUMMARY:Call",
      "X-OTHER:kept",
      "END:VEVENT",
      "END:VCALENDAR",
      "",
    ].join("\r\n");
    expect((await call("PUT", "alex/work/other.ics", foreign, "text/calendar")).status).toBe(201);
    const { events } = await calendar.list(november, signal);
    expect(events.map(({ title, start, end }) => [title, start, end])).toEqual([
      ["Call", at("2026-11-17T05:00:00.000Z", "UTC"), at("2026-11-17T06:30:00.000Z", "UTC")],
      ["Fair", day("2026-11-18"), day("2026-11-20")],
    ]);
    const odd = await calendar.get("odd/uid & more_20260101", signal);
    await calendar.update(odd.id, { title: "Call them", notify: false }, odd.etag, signal);
    const text = await (await call("GET", "alex/work/other.ics")).text();
    expect(text).toContain("X-OTHER:kept");
    expect(text).toContain("DTSTART;TZID=Customized Time Zone:20261117T100000");
    expect(text).toContain("SUMMARY:Call them");
  });

  test("the owner's busy time is known, other people's is not", async () => {
    await calendar.create(event("k6"), signal);
    await calendar.create(
      event("k7", { start: at("2026-11-19T13:30:00.000Z"), end: at("2026-11-19T15:00:00.000Z") }),
      signal,
    );
    const busy = await calendar.busy(["Alex@retinue.example", "dana.ortiz@acme.example"], november, signal);
    expect(busy).toEqual([
      {
        address: "Alex@retinue.example",
        busy: [{ from: Date.parse("2026-11-19T13:00:00.000Z"), to: Date.parse("2026-11-19T15:00:00.000Z") }],
      },
      { address: "dana.ortiz@acme.example", busy: [], unknown: expect.stringContaining("owner's own") },
    ]);
  });

  test("contacts are searched, and lists name their members' addresses", async () => {
    const card = (uid: string, lines: string) =>
      call(
        "PUT",
        `alex/people/${uid}.vcf`,
        `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:${uid}\r\n${lines}\r\nEND:VCARD\r\n`,
        "text/vcard",
      );
    await card(
      "c1",
      "FN:Dana Ortíz & Sons\r\nN:Ortiz;Dana;;;\r\nEMAIL;TYPE=work:d@acme.example\r\nEMAIL;TYPE=pref:dana.ortiz@acme.example\r\nORG:Acme Corp;Board\r\nTITLE:CTO\r\nTEL:+1 555",
    );
    await card(
      "c2",
      "FN:Sam Whitfield\r\nN:Whitfield;Sam;;;\r\nEMAIL:sam.whitfield@acme.example\r\nORG:Acme Corp",
    );
    await card(
      "c3",
      "FN:team\r\nN:team;;;;\r\nX-ADDRESSBOOKSERVER-KIND:group\r\nX-ADDRESSBOOKSERVER-MEMBER:urn:uuid:c1\r\nX-ADDRESSBOOKSERVER-MEMBER:urn:uuid:c2",
    );
    const { contacts: found, total } = await contacts.search({ organization: "acme", limit: 1 }, signal);
    expect([found.map(({ name }) => name), total]).toEqual([["Dana Ortíz & Sons"], 2]);
    expect((await contacts.search({ name: "ortiz", limit: 5 }, signal)).contacts).toEqual([
      {
        id: "c1",
        name: "Dana Ortíz & Sons",
        emails: ["dana.ortiz@acme.example", "d@acme.example"],
        phones: ["+1 555"],
        organization: "Acme Corp",
        title: "CTO",
      },
    ]);
    expect((await contacts.get("c3", signal)).members).toEqual([
      "dana.ortiz@acme.example",
      "sam.whitfield@acme.example",
    ]);
    expect(await contacts.organizations(signal)).toEqual([{ name: "Acme Corp", contacts: 2 }]);
    expect((await fault(contacts.get("c9", signal))).type).toBe("params");
  });

  test("a refused password, a server that is gone and a stopped call are told apart", async () => {
    expect((await fault(opened("wrong").calendar.list(november, signal))).type).toBe("auth");
    expect((await fault(opened("wrong").contacts.search({ limit: 1 }, signal))).type).toBe("auth");
    const gone = opened(undefined, `http://127.0.0.1:${await freePort()}/`);
    expect((await fault(gone.calendar.list(november, signal))).type).toBe("network");
    expect((await fault(calendar.list(november, AbortSignal.abort()))).type).toBe("network");
  });
});

test("a password goes neither over plain http to another machine nor to a host the server points to", async () => {
  const heard: (string | undefined)[] = [];
  const thief = createServer((request, response) => {
    heard.push(request.headers.authorization);
    response.end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => thief.once("listening", resolve));
  const address = thief.address();
  const port = typeof address === "object" ? address?.port : 0;
  const server = createServer((_request, response) => {
    response.writeHead(301, { location: `http://127.0.0.1:${port}/` }).end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const own = server.address();
  const account = {
    user: "a",
    password: "b",
    address: "a@b.example",
    zone: ZONE,
    kinds: ["calendar"] as const,
  };
  const url = `http://127.0.0.1:${typeof own === "object" ? own?.port : 0}/`;
  const span = { from: Date.parse("2026-11-01T00:00:00Z"), to: Date.parse("2026-12-01T00:00:00Z"), limit: 1 };
  const pointed = openDav({ ...account, url }).calendar;
  const plain = openDav({ ...account, url: "http://dav.example.org/" }).calendar;
  expect((await fault(pointed?.list(span, signal) ?? Promise.resolve())).type).toBe("tool_error");
  expect(await fault(plain?.list(span, signal) ?? Promise.resolve())).toMatchObject({
    type: "params",
    message: expect.stringContaining("only over https"),
  });
  expect(heard).toEqual([]);
  thief.close();
  server.close();
});
