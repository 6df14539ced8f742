import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { createDavFetch } from "@retinue/assistant/dav/dav-fetch";
import { openDav } from "@retinue/assistant/dav/open-dav";
import { afterEach, expect, test, vi } from "vitest";

const signal = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  for (const close of closing.splice(0)) await close();
});

const list = (inner: string) =>
  `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:a="urn:ietf:params:xml:ns:carddav">${inner}</d:multistatus>`;
const item = (href: string, properties: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;
const EVENT =
  "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:k\r\nDTSTART:20261117T100000Z\r\nDTEND:20261117T110000Z\r\nSUMMARY:Review\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
const WHOLE = list(
  item("work/k.ics", `<d:getetag>"1"</d:getetag><c:calendar-data>${EVENT}</c:calendar-data>`),
);

/** A server with one calendar and perhaps an address book, whose answers to searches are given. */
async function startDav(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  book = item("/books/own/", "<d:resourcetype><d:collection/><a:addressbook/></d:resourcetype>"),
) {
  const properties: [wanted: string, answer: string][] = [
    [
      "current-user-principal",
      item("/", "<d:current-user-principal><d:href>/me/</d:href></d:current-user-principal>"),
    ],
    [
      "calendar-home-set",
      item("/me/", "<c:calendar-home-set><d:href>/dates/</d:href></c:calendar-home-set>"),
    ],
    [
      "addressbook-home-set",
      item("/me/", "<a:addressbook-home-set><d:href>/books/</d:href></a:addressbook-home-set>"),
    ],
    [
      "supported-calendar-component-set",
      item("/dates/work/", "<d:resourcetype><d:collection/><c:calendar/></d:resourcetype>"),
    ],
  ];
  const server = createServer(async (request, response) => {
    const asked = await text(request);
    if (request.method !== "PROPFIND") return answer(request, response);
    if (request.url?.startsWith("/.well-known/")) return void response.writeHead(404).end();
    const found = properties.find(([wanted]) => asked.includes(wanted))?.[1] ?? book;
    response.writeHead(207, { "content-type": "application/xml" }).end(list(found));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  const at = server.address();
  const { calendar, contacts } = openDav({
    url: `http://127.0.0.1:${at !== null && typeof at === "object" ? at.port : 0}/`,
    ...{ user: "ada", password: "correct-horse", address: "ada@example.org", zone: "UTC" },
    kinds: ["calendar", "contacts"],
  });
  if (!calendar || !contacts) throw new Error("both were asked for");
  return { calendar, contacts };
}

const says = (status: number, type: string, body: string) => (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(status, { "content-type": type }).end(body);
const november = {
  from: Date.parse("2026-11-01T00:00:00Z"),
  to: Date.parse("2026-12-01T00:00:00Z"),
  limit: 50,
};

test.each([
  ["a page of a proxy", says(200, "text/html", "<html>Sign in</html>")],
  ["a page that is called a list", says(207, "application/xml", "<html>Sign in</html>")],
  ["nothing", says(207, "application/xml", "")],
  ["a list that was cut off", says(207, "application/xml", WHOLE.slice(0, -60))],
])("%s does not pass for free time or an empty address book", async (_, answer) => {
  const { calendar, contacts } = await startDav(answer);
  for (const call of [
    () => calendar.list(november, signal),
    () => calendar.busy(["ada@example.org"], november, signal),
    () => contacts.search({ limit: 1 }, signal),
  ])
    await expect(call()).rejects.toMatchObject({
      type: "tool_error",
      message: expect.stringContaining("something else than a list"),
    });
});

test("a whole list is read, with addresses that are relative, and an empty one is empty", async () => {
  const { calendar } = await startDav(says(207, "application/xml", WHOLE));
  expect((await calendar.list(november, signal)).events.map(({ title }) => title)).toEqual(["Review"]);
  const none = await startDav(says(207, "text/xml", '<?xml version="1.0"?>\n<multistatus xmlns="DAV:"/>\n'));
  expect(await none.calendar.list(november, signal)).toEqual({ events: [], total: 0 });
});

test("an account without any address book says so", async () => {
  const { contacts } = await startDav(says(207, "application/xml", list("")), "");
  await expect(contacts.search({ limit: 1 }, signal)).rejects.toThrow("there is no address book of ada");
});

test("an event whose state the server does not tell is neither changed nor removed", async () => {
  const writes: string[] = [];
  const { calendar } = await startDav((request, response) => {
    if (["PUT", "DELETE"].includes(request.method ?? "")) writes.push(request.method ?? "");
    const body = WHOLE.replace('<d:getetag>"1"</d:getetag>', "");
    says(207, "application/xml", body)(request, response);
  });
  const { etag } = await calendar.get("k", signal);
  await expect(calendar.update("k", { title: "Other", notify: false }, etag, signal)).rejects.toThrow(
    "state",
  );
  await expect(calendar.remove("k", { etag, notify: false }, signal)).rejects.toThrow("state");
  expect(writes).toEqual([]);
});

test.each([
  ["https://dav.example.org/", "https://p1-dav.example.org/", true],
  ["https://dav.example.org/", "https://example.net/", false],
  ["https://example.org/", "https://other.org/", false],
  ["https://example.co.uk/", "https://other.co.uk/", false],
])("from %s a redirect to %s gets the password: %s", async (url, location, isFollowed) => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (input: URL) => {
    asked.push(input.href);
    return input.href === location
      ? new Response("")
      : new Response(null, { status: 302, headers: { location } });
  });
  const call = createDavFetch({ url, user: "ada", password: "correct-horse" }, signal)(url);
  if (isFollowed) await call;
  else await expect(call).rejects.toMatchObject({ type: "tool_error" });
  expect(asked).toEqual(isFollowed ? [url, location] : [url]);
});
