import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { startServer, type TestServer } from "../../../../test/fixtures/model-server.ts";
import { createEgress, type Egress } from "./egress-guard.ts";
import { createRobots, findDecidingRule, parseRobots, type Robots } from "./robots.ts";

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

type Place = {
  server: TestServer;
  robots: Robots;
  verdict(path: string, deadlineMs?: number): Promise<string>;
};

async function placeWith(
  answer: (response: ServerResponse, path: string) => unknown,
  now?: () => number,
): Promise<Place> {
  const server = await startServer((request, response) => void answer(response, request.path));
  const egress: Egress = createEgress({ allowOrigins: [server.url] });
  cleanUps.push(server.close, () => egress.close());
  const robots = createRobots(egress, now);
  return {
    server,
    robots,
    verdict: (path, deadlineMs = 5_000) =>
      robots
        .check(new URL(path, server.url), {
          signal: new AbortController().signal,
          userAgent: "retinue/0.1",
          deadlineMs,
        })
        .then(
          () => "allowed",
          (problem: { failure: string }) => problem.failure,
        ),
  };
}

test("what it forbids is refused by name, and it is asked for once for many pages at once", async () => {
  const { server, verdict } = await placeWith((response) =>
    response.end("User-agent: retinue\nDisallow: /a\n"),
  );
  expect(await Promise.all(["/a", "/b", "/a/c", "/robots.txt"].map((path) => verdict(path)))).toEqual([
    "robots",
    "allowed",
    "robots",
    "allowed",
  ]);
  expect(server.seen.map(({ path }) => path)).toEqual(["/robots.txt"]);
});

test.each([400, 401, 403, 404, 410, 429])("an answer %d forbids nothing", async (status) => {
  const { verdict } = await placeWith((response) =>
    response.writeHead(status).end("User-agent: *\nDisallow: /"),
  );
  expect(await verdict("/a")).toBe("allowed");
});

test("a redirect is followed, and an endless one forbids nothing", async () => {
  const moved = await placeWith((response, path) =>
    path === "/robots.txt"
      ? response.writeHead(301, { location: "/real.txt" }).end()
      : response.end("User-agent: *\nDisallow: /a"),
  );
  expect(await moved.verdict("/a")).toBe("robots");
  const endless = await placeWith((response) => response.writeHead(302, { location: "/robots.txt" }).end());
  expect(await endless.verdict("/a")).toBe("allowed");
});

test("a server that fails forbids everything, is asked once more, and then left alone for an hour", async () => {
  let now = 0;
  const { server, verdict } = await placeWith(
    (response) => response.writeHead(500).end(),
    () => now,
  );
  expect([await verdict("/a"), await verdict("/b"), await verdict("/c")]).toEqual([
    "robots",
    "robots",
    "robots",
  ]);
  expect(server.seen).toHaveLength(2);
  now += 3_600_001;
  await verdict("/a");
  expect(server.seen).toHaveLength(3);
});

test("a server that recovers is believed again", async () => {
  let fails = true;
  const { verdict } = await placeWith((response) => response.writeHead(fails ? 503 : 200).end());
  expect(await verdict("/a")).toBe("robots");
  fails = false;
  expect(await verdict("/a")).toBe("allowed");
});

test("a server that hangs is a time-out, and what was read is forgotten after a day", async () => {
  const hanging = await placeWith(() => {});
  expect(await hanging.verdict("/a", 100)).toBe("timeout");
  let now = 0;
  const { server, verdict } = await placeWith(
    (response) => response.end(""),
    () => now,
  );
  await verdict("/a");
  now += 24 * 3_600_000 + 1;
  await verdict("/a");
  expect(server.seen).toHaveLength(2);
});

test("one page that is given up does not end the question for the others", async () => {
  const asked = Promise.withResolvers<ServerResponse>();
  const { server, robots, verdict } = await placeWith((response) => asked.resolve(response));
  const controller = new AbortController();
  const url = new URL("/a", server.url);
  const givenUp = robots.check(url, { signal: controller.signal, userAgent: "x", deadlineMs: 5_000 });
  const other = verdict("/b");
  const response = await asked.promise;
  controller.abort(new Error("given up"));
  await expect(givenUp).rejects.toThrow("given up");
  response.end("User-agent: *\nDisallow: /a");
  expect(await other).toBe("allowed");
});

test("only the first half megabyte of it counts", async () => {
  const filler = `# ${"x".repeat(97)}\n`;
  const { verdict } = await placeWith((response) =>
    response.end(`User-agent: *\nDisallow: /a\n${filler.repeat(20_000)}Disallow: /b\n`),
  );
  expect([await verdict("/a"), await verdict("/b")]).toEqual(["robots", "allowed"]);
});

function allows(robots: string, path: string): boolean {
  return findDecidingRule(parseRobots(robots, "retinue"), new URL(path, "http://h"))?.allow ?? true;
}

test("the groups that name us count together, and then those for everybody do not", () => {
  const robots = [
    "User-agent: *\nDisallow: /",
    "user-agent: other\nuser-agent: Retinue/2.0 # us\nDisallow: /a",
    "User-Agent: RETINUE\nDisallow: /b",
  ].join("\n\n");
  expect(["/a", "/b", "/c"].map((path) => allows(robots, path))).toEqual([false, false, true]);
});

test("without a group for us the one for everybody counts, and without any nothing is forbidden", () => {
  expect(allows("User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /x", "/x/y")).toBe(false);
  expect(allows("User-agent: other\nDisallow: /", "/x")).toBe(true);
  expect(allows("User-agent: retinues\nDisallow: /", "/x")).toBe(true);
  expect(allows("Disallow: /\n", "/x")).toBe(true);
  expect(allows("", "/x")).toBe(true);
});

test.each([
  ["Disallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["Allow: /a/b\nDisallow: /a/b/c", "/a/b/c", false],
  ["Disallow: /page\nAllow: /page", "/page", true],
  ["Allow: /page\nDisallow: /page", "/page", true],
  ["Disallow:", "/page", true],
  ["Disallow: /*.pdf$", "/a/b.pdf", false],
  ["Disallow: /*.pdf$", "/a/b.pdf?x", true],
  ["Disallow: /a*b*c", "/a-b-c-d", false],
  ["Disallow: /a*b*c", "/a-c-b", true],
  ["Disallow: /*a$", "/aba", false],
  ["Disallow: /ab*ab$", "/ab", true],
  ["Disallow: /x$", "/xy", true],
  ["Disallow: /*?q=", "/find?q=1", false],
  ["Disallow: /%7Ejoe", "/~joe/x", false],
  ["Disallow: /~joe", "/%7ejoe/x", false],
  ["Disallow: /a%2fb", "/a/b", true],
  ["Disallow: /a%2fb", "/a%2Fb", false],
  ["Disallow: /grün", "/gr%C3%BCn", false],
  ["Disallow: /a # not for robots", "/a", false],
  ["disallow:/a\r\nCrawl-delay: 100", "/a", false],
])("%j lets %s through: %s", (rules, path, expected) => {
  expect(allows(`User-agent: *\n${rules}\n`, path)).toBe(expected);
});

test("no text makes the reading throw, and no pattern is followed back and forth", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      (text) => void allows(`User-agent: *\nDisallow: ${text}`, "/"),
    ),
  );
  expect(allows(`User-agent: *\nDisallow: /${"*a".repeat(20_000)}b`, `/${"a".repeat(4_000)}`)).toBe(true);
});
