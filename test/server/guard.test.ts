import { serverGuards } from "@retinue/server/guard/create-guard";
import { describe, expect, test } from "vitest";
import { ORIGIN, openSite, PORT } from "./site.ts";
import { SERVER_GUARDS_OFF, WEB_ATTACKS } from "./web-attacks.ts";

describe("attacks on the server", () => {
  test.each(WEB_ATTACKS)("$id: $title", async (attack) => {
    await using site = await openSite();
    await attack.play(site);
  });

  test.each(WEB_ATTACKS.flatMap((attack) => attack.guards.map((name) => ({ ...attack, name }))))(
    "$id is noticed without $name",
    async ({ play, name }) => {
      await using site = await openSite({ guards: { [name]: SERVER_GUARDS_OFF[name] } });
      const verdict = await play(site).then(
        () => "nothing was noticed",
        (thrown: Error) => thrown.name,
      );
      expect(verdict).toBe("AssertionError");
    },
  );

  test("every guard is named by an attack", () => {
    const named = new Set<string>(WEB_ATTACKS.flatMap(({ guards }) => guards));
    expect(Object.keys(serverGuards).filter((name) => !named.has(name))).toEqual([]);
  });
});

const stranger = { authorization: null };

test("a link becomes a cookie of one browser, and the address loses the token", async () => {
  await using site = await openSite();
  const { search } = new URL(site.guard.link());
  const response = await site.ask(`/${search}`, { headers: { ...stranger, "sec-fetch-site": "none" } });
  expect([response.status, response.headers.get("location")]).toEqual([303, "/"]);
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  const cookie = response.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(
    new RegExp(`^retinue_${PORT}=\\S+; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict$`),
  );
  const own = { ...stranger, cookie: cookie.split(";")[0] ?? "", "sec-fetch-site": "same-origin" };
  expect((await site.ask("/", { headers: own })).status).toBe(200);
  expect((await site.ask("/api/things/x", { headers: own })).status).toBe(200);
  const again = await site.ask(`/${search}`, { headers: own });
  expect([again.status, again.headers.get("set-cookie")]).toEqual([303, null]);
  site.clock.nowMs += 31 * 86_400_000;
  expect((await site.ask("/", { headers: own })).status).toBe(401);
});

test("a link that is followed from another page goes on by a page of ours, which the cookie is sent from", async () => {
  await using site = await openSite();
  const from = {
    ...stranger,
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  const { search } = new URL(site.guard.link());
  const response = await site.ask(`/${search}`, { headers: from });
  expect(response.status).toBe(200);
  expect(response.headers.get("set-cookie")).toContain("SameSite=Strict");
  expect(await response.text()).toContain('<meta http-equiv="refresh" content="0;url=/">');
  const inFrame = { ...from, "sec-fetch-dest": "iframe" };
  expect((await site.ask(`/${new URL(site.guard.link()).search}`, { headers: inFrame })).status).toBe(403);
});

test("a cookie is good after a restart at the same port, and nowhere else", async () => {
  await using first = await openSite();
  const { search } = new URL(first.guard.link());
  const entered = await first.ask(`/${search}`, { headers: stranger });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  await using second = await openSite();
  expect((await second.ask("/", { headers: { ...stranger, cookie } })).status).toBe(200);
  const answer = await second.send([
    "GET / HTTP/1.1",
    "Host: 127.0.0.1:PORT",
    `Cookie: ${cookie.replace(`${PORT}`, "PORT")}`,
  ]);
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  expect(
    (await second.ask("/api/things/x", { headers: { authorization: `Bearer ${first.guard.bearer}` } }))
      .status,
  ).toBe(401);
});

test("a cookie that another port has set before ours keeps nobody out", async () => {
  await using site = await openSite();
  const { search } = new URL(site.guard.link());
  const entered = await site.ask(`/${search}`, { headers: stranger });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  const both = { ...stranger, cookie: `retinue_${PORT}=x.y.z; other=1; ${cookie}` };
  expect((await site.ask("/", { headers: both })).status).toBe(200);
});

test("a known browser can make a link for another one; a stranger cannot", async () => {
  await using site = await openSite();
  expect(
    (await site.ask("/api/links", { method: "POST", headers: { ...stranger, origin: ORIGIN } })).status,
  ).toBe(401);
  const made = await site.ask("/api/links", { method: "POST" });
  const url = /"url":"([^"]+)"/.exec(await made.text())?.[1] ?? "";
  expect(url).toMatch(new RegExp(`^${ORIGIN}/\\?token=[\\w-]{43}$`));
  expect((await site.ask(`/${new URL(url).search}`, { headers: stranger })).status).toBe(303);
});

test("a stranger is told how to get in: in words by the API, on a page otherwise", async () => {
  await using site = await openSite();
  const json = await site.ask("/api/things/x", { headers: stranger });
  expect(await json.json()).toMatchObject({
    error: { code: "auth", hint: expect.stringContaining("retinue serve") },
  });
  const page = await site.ask("/runs", { headers: stranger });
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(page.headers.get("www-authenticate")).toBe('Bearer realm="retinue"');
  const text = await page.text();
  expect(text).toContain("<code>retinue serve</code>");
  expect(text).not.toMatch(/src=|https?:/);
});

test("a sandboxed document may be framed by our own page; one that only says so, or may run scripts, may not", async () => {
  const policies = ["sandbox; default-src 'none'", "sandbox allow-scripts", "default-src *", "x-sandbox"];
  const routes = policies.map((policy, index) => ({
    method: "get" as const,
    path: `/api/report${index}`,
    summary: "A report.",
    answers: "text/html",
    handle: () =>
      new Response("<p>", { headers: { "content-security-policy": policy, "content-type": "text/html" } }),
  }));
  await using site = await openSite({ routes });
  const framing = async (index: number) => {
    const { headers } = await site.ask(`/api/report${index}`);
    return [
      headers.get("x-frame-options"),
      headers.get("content-security-policy")?.match(/frame-ancestors '\w+'/)?.[0],
    ];
  };
  expect(await framing(0)).toEqual(["SAMEORIGIN", "frame-ancestors 'self'"]);
  for (const index of [1, 2, 3]) expect(await framing(index)).toEqual(["DENY", "frame-ancestors 'none'"]);
});

test("a write that says not where it comes from must bring the key itself, not just any credentials", async () => {
  await using site = await openSite();
  const entered = await site.ask(`/${new URL(site.guard.link()).search}`, { headers: stranger });
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  for (const authorization of [null, "Basic eA==", "Bearer", "Bearer not a key"]) {
    const init = { method: "POST", body: '{"word":"x"}', headers: { authorization, cookie } };
    expect((await site.ask("/api/things", init)).status).toBe(403);
  }
  expect(site.written).toBe(0);
});
