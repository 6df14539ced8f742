import { afterAll, beforeAll, expect, test } from "vitest";
import { article, type HostileSite, startHostileSite } from "../../../../test/fixtures/hostile-site.ts";
import { createEgress, type Egress } from "./egress-guard.ts";
import { type FetchOptions, type FetchOutcome, fetchPage } from "./guarded-fetch.ts";

let site: HostileSite;
let egress: Egress;
beforeAll(async () => {
  site = await startHostileSite({ trickleMs: 20 });
  egress = createEgress({ network: site.network });
});
afterAll(async () => {
  await egress.close();
  await site.close();
});

const MAX_BYTES = 1_000_000;
const get = (path: string, options: Partial<FetchOptions> = {}): Promise<FetchOutcome> =>
  fetchPage(path.startsWith("http") ? path : site.publicUrl + path, {
    egress,
    maxBytes: MAX_BYTES,
    pace: { bytes: 100, everyMs: 100 },
    ...options,
  });

test.each([
  ["/missing", { kind: "not_found", reason: expect.stringContaining("answered 404") }],
  ["/gone", { kind: "not_found", reason: expect.stringContaining("answered 410") }],
  ["/busy", { kind: "rate_limited", reason: expect.stringContaining("answered 429") }],
  ["/down", { kind: "http_error", reason: expect.stringContaining("answered 503") }],
  ["/broken", { kind: "http_error", reason: expect.stringContaining("answered 500") }],
  ["/denied", { kind: "http_error", reason: expect.stringContaining("answered 403") }],
  ["/hang-body", { kind: "timeout", reason: expect.stringContaining("slower than 100 bytes") }],
  ["/trickle", { kind: "timeout", reason: expect.stringContaining("slower than 100 bytes") }],
  ["/reset", { kind: "reset" }],
  ["/reset-at-once", { kind: "reset" }],
  ["/cut", { kind: "reset" }],
  ["/loop", { kind: "redirect_loop" }],
  ["/grow", { kind: "redirect_loop" }],
  ["/to-private", { kind: "blocked" }],
  ["/to-file", { kind: "bad_url" }],
  ["/to-login", { kind: "bad_url" }],
  ["/to-nowhere", { kind: "http_error", reason: expect.stringContaining("answered 302") }],
  ["/gzip-bomb", { kind: "too_large" }],
  ["/br-bomb", { kind: "too_large" }],
  ["/nested-bomb", { kind: "too_large" }],
  ["/endless", { kind: "too_large" }],
  ["/large", { kind: "too_large", reason: expect.stringContaining("20000000 bytes") }],
  ["/large-chunked", { kind: "too_large" }],
  ["/huge-headers", { kind: "too_large" }],
  ["/many-encodings", { kind: "bad_encoding" }],
  ["/bad-gzip", { kind: "bad_encoding" }],
  ["/strange-encoding", { kind: "bad_encoding" }],
  ["/pdf", { kind: "not_html", reason: "this is application/pdf and not a page of text" }],
  ["/pdf-as-html", { kind: "not_html", reason: "this is application/pdf and not a page of text" }],
  ["/image", { kind: "not_html", reason: "this is image/png and not a page of text" }],
  ["/forbidden/page", { kind: "robots" }],
])("%s fails as it must", async (path, expected) => {
  expect(await get(path)).toMatchObject({ status: "failed", ...expected });
});

test.each([
  ["/ok", { charset: "utf-8", contentType: "text/html", text: article("A sound page") }],
  ["/gzip", { text: article("A packed page") }],
  ["/br", { text: article("A packed page") }],
  ["/deflate", { text: article("A packed page") }],
  ["/twice", { text: article("A packed page") }],
  ["/latin1-as-utf8", { charset: "windows-1252", text: expect.stringContaining("déjà vu à la française") }],
  ["/meta-charset", { charset: "windows-1251", text: expect.stringContaining("Привет") }],
  ["/utf-16", { charset: "utf-16le", text: article("Grüße") }],
  ["/markdown", { contentType: "text/markdown" }],
  ["/untyped", { contentType: "text/html" }],
  ["/js-only", { contentType: "text/html" }],
])("%s is got as it is meant", async (path, expected) => {
  expect(await get(path)).toMatchObject({ status: "ok", url: site.publicUrl + path, ...expected });
});

test("a page that never answers fails at the deadline, and its connection is closed", async () => {
  expect(await get("/hang", { deadlineMs: 200 })).toMatchObject({
    kind: "timeout",
    reason: expect.stringContaining("200 ms"),
  });
  await site.closed("/hang");
});

test("the deadline is for the whole page, however steadily it comes", async () => {
  const pace = { bytes: 0, everyMs: 100 };
  expect(await get("/trickle", { deadlineMs: 200, pace })).toMatchObject({ kind: "timeout" });
  await site.closed("/trickle");
});

test("an abort ends the fetch and its connection", async () => {
  const controller = new AbortController();
  const asked = site.nextRequest("/hang");
  const fetching = get("/hang", { signal: controller.signal });
  await asked;
  controller.abort();
  expect(await fetching).toMatchObject({ status: "failed", kind: "aborted" });
  expect(await get("/ok", { signal: AbortSignal.abort() })).toMatchObject({ kind: "aborted" });
});

test("an endless body is not read much further than its limit", async () => {
  await get("/endless");
  await site.closed("/endless");
  expect(site.sent("/endless")).toBeLessThan(50 * MAX_BYTES);
});

test("five redirects are followed and the sixth is not", async () => {
  await get("/grow");
  expect(new Set(site.seen.filter(({ path }) => path.startsWith("/grow")).map(({ path }) => path)).size).toBe(
    6,
  );
});

test("a page is reported where it was in the end", async () => {
  expect(await get("/moved")).toMatchObject({ status: "ok", url: `${site.publicUrl}/ok` });
  expect(await get("/to-private")).toMatchObject({ reason: expect.stringContaining("127.0.0.1") });
});

test("a redirect by name to a private address is refused as well", async () => {
  site.names.set("inside.example", [["127.0.0.1"]]);
  expect(await get("/to-private-name")).toMatchObject({ kind: "blocked" });
  expect(site.privateSeen).toEqual([]);
});

test("a run's own rules are asked at every hop", async () => {
  const mayVisit = (url: URL) => url.hostname !== "other.example";
  expect(await get("/to-other", { mayVisit })).toMatchObject({
    kind: "blocked",
    reason: expect.stringContaining("other.example"),
  });
  expect(site.hits("/landed")).toBe(0);
});

test("no public page leads to what is let through only for the user, but the user's own pages do", async () => {
  const own = createEgress({ network: site.network, allowOrigins: [site.privateUrl, site.url] });
  try {
    expect(await get("/to-private", { egress: own })).toMatchObject({ kind: "blocked" });
    expect(site.privateSeen).toEqual([]);
    expect(await get(`${site.url}/to-private`, { egress: own })).toMatchObject({ status: "ok" });
  } finally {
    await own.close();
  }
});

test("credentials stay at the origin they were given for, and cookies are never kept", async () => {
  const headers = { Authorization: "Bearer secret", cookie: "a=b", "x-api-key": "secret" };
  const seenAt = (path: string) => site.seen.findLast((entry) => entry.path === path)?.headers;
  await get("/moved", { headers });
  expect(seenAt("/ok")).toMatchObject({ authorization: "Bearer secret" });
  await get("/to-other", { headers });
  expect(seenAt("/landed")).not.toMatchObject({ authorization: expect.anything() });
  expect(Object.keys(seenAt("/landed") ?? {})).toEqual(
    expect.not.arrayContaining(["authorization", "cookie", "x-api-key", "referer"]),
  );
  await get("/cookie");
  await get("/ok");
  expect(seenAt("/ok")).not.toHaveProperty("cookie");
});

test("robots.txt is asked for once by each egress, and can be left out", async () => {
  const own = createEgress({ network: site.network });
  const asked = () => site.hits("/robots.txt");
  const before = asked();
  await get("/forbidden/page", { egress: own, robots: false });
  expect(asked()).toBe(before);
  for (const path of ["/ok", "/gone", "/forbidden/page"]) await get(path, { egress: own });
  expect(asked()).toBe(before + 1);
  await own.close();
});

test.each([
  "",
  "nonsense",
  "ftp://site.example/",
  "http://ok.com@site.example/",
  "http://evil\0.site.example/",
])("%j is no address of a page", async (address) => {
  expect(await fetchPage(address, { egress })).toMatchObject({
    status: "failed",
    kind: "bad_url",
  });
});

test("pages are asked for by the name that the settings give", async () => {
  expect(await get("/ok", { userAgent: "mine/1" })).toMatchObject({ status: "ok" });
  expect(site.seen.at(-1)?.headers).toMatchObject({ "user-agent": "mine/1", "accept-encoding": "gzip, br" });
});
