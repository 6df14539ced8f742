import type { ServerGuards } from "@retinue/server/guard/create-guard";
import { expect } from "vitest";
import { ORIGIN, PAGE, PORT, SECRET, type Site } from "./site.ts";

/** One attack on the server as data. With its guards switched off it must fail. */
export type WebAttack = {
  id: string;
  title: string;
  guards: readonly (keyof ServerGuards)[];
  play(site: Site): Promise<void>;
};

/** Every guard as it would be if it were not there. */
export const SERVER_GUARDS_OFF: ServerGuards = {
  isOwnHost: () => true,
  isOwnOrigin: () => true,
  isPlainPath: () => true,
  identify: () => "anybody",
  takeToken: () => true,
  protect: () => {},
  writes: { burst: Number.POSITIVE_INFINITY, perSecond: 1 },
  failures: { burst: Number.POSITIVE_INFINITY, perSecond: 1 },
  maxBodyBytes: Number.POSITIVE_INFINITY,
  maxStreams: Number.POSITIVE_INFINITY,
};

const BODY = JSON.stringify({ word: "hello" });
const COOKIE = "set-cookie";

/** Headers of which some are left out. */
type Sent = Readonly<Record<string, string | null>>;

const OTHER_PAGES: readonly Sent[] = [
  { origin: "https://evil.example" },
  { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
  { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" },
];

/** Enters with a link and gives the cookie. */
async function enter(site: Site): Promise<string> {
  const { search } = new URL(site.guard.link());
  const response = await site.ask(`/${search}`, { headers: { authorization: null } });
  return (response.headers.get(COOKIE) ?? "").split(";")[0] ?? "";
}

export const WEB_ATTACKS: readonly WebAttack[] = [
  {
    id: "W1",
    title: "nothing is answered without a cookie or the key",
    guards: ["identify"],
    async play(site) {
      const tries: Sent[] = [
        {},
        { authorization: "Bearer wrong" },
        { cookie: `retinue_${PORT}=a.9999999999999.b` },
      ];
      for (const path of ["/", "/api/things/x", "/api/events", "/assets/index-B4kT9x_2.js", "/api/none"])
        for (const headers of tries) {
          const response = await site.ask(path, { headers: { authorization: null, ...headers } });
          expect([path, response.status]).toEqual([path, 401]);
          expect(await response.text()).not.toContain(PAGE);
        }
    },
  },
  {
    id: "W2",
    title: "a page whose name was made to point here gets nothing",
    guards: ["isOwnHost"],
    async play(site) {
      const hosts = [
        "evil.example",
        `evil.example:${PORT}`,
        "127.0.0.1",
        "127.0.0.1:80",
        `127.0.0.2:${PORT}`,
      ];
      for (const host of [...hosts, `localhost.evil.example:${PORT}`, `0.0.0.0:${PORT}`, null]) {
        expect([host, (await site.ask("/api/things/x", { headers: { host } })).status]).toEqual([host, 403]);
        expect([host, (await site.ask("/", { headers: { host } })).status]).toEqual([host, 403]);
      }
    },
  },
  {
    id: "W3",
    title: "another page can change nothing, not even one from another port of this machine",
    guards: ["isOwnOrigin"],
    async play(site) {
      const cookie = await enter(site);
      const from: Sent[] = [
        { origin: "https://evil.example" },
        { origin: "null" },
        { origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" },
        { origin: `https://127.0.0.1:${PORT}` },
        { origin: `http://localhost:${PORT}` },
        { "sec-fetch-site": "same-site" },
        { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
        {},
      ];
      for (const headers of from) {
        const init = { method: "POST", body: BODY, headers: { authorization: null, cookie, ...headers } };
        expect([headers, (await site.ask("/api/things", init)).status]).toEqual([headers, 403]);
      }
      expect(site.written).toBe(0);
    },
  },
  {
    id: "W4",
    title: "another page can follow no stream and open no page",
    guards: ["isOwnOrigin"],
    async play(site) {
      const cookie = await enter(site);
      for (const path of ["/api/events", "/api/things/x", "/", "/runs", "/icon.svg"])
        for (const from of OTHER_PAGES) {
          const stop = new AbortController();
          const headers = { authorization: null, cookie, ...from };
          const response = await site.ask(path, { headers, signal: stop.signal });
          stop.abort();
          expect([path, from, response.status]).toEqual([path, from, 403]);
        }
    },
  },
  {
    id: "W5",
    title: "no path leads out of the served folder",
    guards: ["isPlainPath"],
    async play(site) {
      for (const target of TRAVERSALS) {
        const lines = [`GET ${target} HTTP/1.1`, "Host: 127.0.0.1:PORT", "Authorization: Bearer KEY"];
        const answer = await site.send(lines);
        expect(answer, target).toMatch(/^HTTP\/1\.1 40[04] /);
        expect(answer, target).not.toContain(SECRET);
        expect(answer, target).not.toContain(PAGE);
      }
    },
  },
  {
    id: "W8",
    title: "nobody can put the page into a frame, or have it run or load what is not ours",
    guards: ["protect"],
    async play(site) {
      for (const path of ["/", "/runs", "/icon.svg", "/api/things/x", "/api/none", "/../x"]) {
        const senders: Sent[] = [{}, { authorization: null }, { host: "evil.example" }];
        for (const headers of senders) {
          const response = await site.ask(path, { headers });
          const policy = response.headers.get("content-security-policy") ?? "";
          expect(policy.split("; "), path).toEqual(
            expect.arrayContaining(["frame-ancestors 'none'", "script-src 'self'"]),
          );
          expect(policy).not.toMatch(/unsafe|https?:|\*/);
          expect(response.headers.get("x-frame-options")).toBe("DENY");
          expect(response.headers.get("x-content-type-options")).toBe("nosniff");
          expect(response.headers.get("referrer-policy")).toBe("no-referrer");
          expect(response.headers.get("cross-origin-opener-policy")).toBe("same-origin");
          expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
        }
      }
    },
  },
  {
    id: "W9",
    title: "a link lets one browser in, once and soon",
    guards: ["takeToken"],
    async play(site) {
      const open = (link: string) =>
        site.ask(`/${new URL(link).search}`, { headers: { authorization: null } });
      const link = site.guard.link();
      const first = await open(link);
      expect([first.status, first.headers.get("location")]).toEqual([303, "/"]);
      expect((await open(link)).status).toBe(401);
      expect((await open(`${ORIGIN}/?token=guessed`)).status).toBe(401);
      const late = site.guard.link();
      site.clock.nowMs += 10 * 60_000;
      expect((await open(late)).status).toBe(401);
    },
  },
  {
    id: "W11",
    title: "keys cannot be guessed at speed",
    guards: ["failures"],
    async play(site) {
      const guess = () => site.ask("/api/things/x", { headers: { authorization: "Bearer guess" } });
      const statuses: number[] = [];
      for (let tries = 0; tries < 40; tries++) statuses.push((await guess()).status);
      expect(statuses.filter((status) => status === 401)).toHaveLength(30);
      expect((await guess()).headers.get("retry-after")).toBe("1");
      expect((await site.ask("/api/things/x")).status).toBe(200);
      site.clock.nowMs += 2_000;
      expect((await guess()).status).toBe(401);
    },
  },
  {
    id: "W12",
    title: "a page gone wild is slowed down",
    guards: ["writes"],
    async play(site) {
      const write = () => site.ask("/api/things", { method: "POST", body: BODY });
      const statuses: number[] = [];
      for (let tries = 0; tries < 70; tries++) statuses.push((await write()).status);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
      expect(site.written).toBe(60);
      site.clock.nowMs += 100;
      expect([(await write()).status, (await write()).status, (await write()).status]).toEqual([
        200, 200, 429,
      ]);
    },
  },
  {
    id: "W13",
    title: "a body without end is not read to its end",
    guards: ["maxBodyBytes"],
    async play(site) {
      const body = JSON.stringify({ word: "x".repeat(1024 * 1024) });
      const told = await site.ask("/api/things", {
        method: "POST",
        body,
        headers: { "content-length": "1048600" },
      });
      const untold = await site.ask("/api/things", { method: "POST", body: new Blob([body]).stream() });
      for (const response of [told, untold]) {
        expect(response.status).toBe(413);
        expect(await response.json()).toMatchObject({ error: { code: "too_large" } });
      }
    },
  },
  {
    id: "W14",
    title: "no client can open streams without end",
    guards: ["maxStreams"],
    async play(site) {
      const stops: AbortController[] = [];
      const open = () => {
        const stop = new AbortController();
        stops.push(stop);
        return site.ask("/api/events", { signal: stop.signal });
      };
      try {
        for (let streams = 0; streams < 30; streams++) expect((await open()).status).toBe(200);
        expect((await open()).status).toBe(429);
        stops[0]?.abort();
        expect((await open()).status).toBe(200);
      } finally {
        for (const stop of stops) stop.abort();
      }
    },
  },
];

const TRAVERSALS = [
  "/../secret",
  "/../secret.txt",
  "/assets/../../secret.txt",
  "/..%2fsecret.txt",
  "/%2e%2e/secret.txt",
  "/%2e%2e%2fsecret.txt",
  "/.%2e/secret",
  "/%252e%252e%252fsecret.txt",
  "/..%5csecret.txt",
  "/..\\secret.txt",
  "/assets/..%c0%afsecret.txt",
  "/secret.txt%00.js",
  "/%00",
  "/linked.txt",
  "/api/../../secret.txt",
  "/api/things/..%2f..%2fsecret.txt",
  "/api/things/%2e%2e",
  "//secret.txt",
  "/./secret.txt",
  "/file:///secret.txt",
];
