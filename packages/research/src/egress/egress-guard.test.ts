import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HostileSite, startHostileSite } from "../../../../test/fixtures/hostile-site.ts";
import { createEgress, type Egress, type EgressOptions } from "./egress-guard.ts";

let site: HostileSite;
const open: Egress[] = [];
beforeEach(async () => {
  site = await startHostileSite();
});
afterEach(async () => {
  for (const egress of open.splice(0)) await egress.close();
  await site.close();
});

function egressWith(options: EgressOptions = {}): Egress {
  const egress = createEgress({ network: site.network, ...options });
  open.push(egress);
  return egress;
}

const blocked = { failure: "blocked", name: "EgressError" };

test("a public name is asked at the address it resolved to, under its own name", async () => {
  const reply = await egressWith().request(`${site.publicUrl}/ok`, { headers: { Host: "forged.example" } });
  expect(reply.status).toBe(200);
  expect(await text(reply.body)).toContain("A sound page");
  expect(site.seen).toMatchObject([{ host: new URL(site.publicUrl).host, path: "/ok" }]);
});

test("a private address is refused in every spelling, and nothing is sent", async () => {
  const egress = egressWith({ network: { ...site.network, resolve: async () => ["127.0.0.1"] } });
  const hosts = [
    ...[
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f000001",
      "017700000001",
      "127.0.0.1.",
      "１２７.０.０.１",
      "0",
      "[::1]",
    ],
    ...[
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[64:ff9b::127.0.0.1]",
      "[::127.0.0.1]",
      "[0:0:0:0:0:0:0:1]",
    ],
    ...["localhost", "LOCALHOST.", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "inside.example", "xn--inside-.example"],
  ];
  for (const host of hosts) {
    await expect(egress.request(`http://${host}:${site.privatePort}/`), host).rejects.toMatchObject(blocked);
  }
  expect(site.privateSeen).toEqual([]);
});

test("a name with one private address among public ones is refused", async () => {
  site.names.set("mixed.example", [["93.184.216.34", "10.0.0.1"]]);
  const url = site.publicUrl.replace("site.example", "mixed.example");
  await expect(egressWith().request(url)).rejects.toMatchObject({
    ...blocked,
    message: expect.stringContaining("10.0.0.1"),
  });
  expect(site.seen).toEqual([]);
});

test("a name is resolved once per connection, so that a second answer is never connected to", async () => {
  const answers = [["93.184.216.34"], ["127.0.0.1"]];
  let asked = 0;
  const resolve = async () => answers[asked++] ?? ["127.0.0.1"];
  const egress = egressWith({ network: { ...site.network, resolve } });
  await text((await egress.request(`${site.publicUrl}/ok`)).body);
  expect([asked, site.hits("/ok")]).toEqual([1, 1]);
  await expect(egress.request(`http://site.example:${site.privatePort}/`)).rejects.toMatchObject(blocked);
  expect(site.privateSeen).toEqual([]);
});

test("exactly the origins of the options are let through", async () => {
  await expect(egressWith().request(`${site.url}/ok`)).rejects.toMatchObject(blocked);
  const egress = egressWith({ allowOrigins: [site.url] });
  await text((await egress.request(`${site.url}/ok`)).body);
  const sameButNotExactly = [
    site.privateUrl,
    site.url.replace("http:", "https:"),
    site.url.replace("127.0.0.1", "127.0.0.2"),
  ];
  for (const url of sameButNotExactly) await expect(egress.request(url)).rejects.toMatchObject(blocked);
  expect([site.hits("/ok"), site.privateSeen.length]).toEqual([1, 0]);
});

test("hosts of the user's settings are let through, with a port only at that port", async () => {
  site.names.set("wiki.corp", [["127.0.0.1"]]);
  const { port } = new URL(site.url);
  const byName = egressWith({ allowHosts: ["Wiki.corp"] });
  await text((await byName.request(`http://wiki.corp:${port}/ok`)).body);
  const byPort = egressWith({ allowHosts: [`127.0.0.1:${port}`] });
  await text((await byPort.request(`${site.url}/ok`)).body);
  await expect(byPort.request(site.privateUrl)).rejects.toMatchObject(blocked);
  expect([site.hits("/ok"), site.privateSeen.length]).toEqual([2, 0]);
});

test.each(["ftp://site.example/", "http://me:pw@site.example/", "http://a\0.example/", ""])(
  "%j is no address",
  async (url) => {
    await expect(egressWith().request(url)).rejects.toMatchObject({ failure: "bad_url" });
  },
);

test("names without an address, closed ports and hangs are told apart", async () => {
  const egress = egressWith({ allowHosts: ["127.0.0.1"], connectTimeoutMs: 50 });
  const gone = await startHostileSite();
  await gone.close();
  await expect(egress.request("http://nobody.example/")).rejects.toMatchObject({ failure: "dns" });
  await expect(egress.request(gone.url)).rejects.toMatchObject({ failure: "refused" });
  await expect(egress.request(`${site.publicUrl}/reset-at-once`)).rejects.toMatchObject({ failure: "reset" });
  await expect(egress.request(`${site.publicUrl}/huge-headers`)).rejects.toMatchObject({
    failure: "too_large",
  });
  const silent = egressWith({ network: { resolve: () => new Promise(() => {}) }, connectTimeoutMs: 50 });
  await expect(silent.request("http://site.example/")).rejects.toMatchObject({ failure: "timeout" });
});

test("an abort ends the request at once, before and after the headers, and closes the connection", async () => {
  const egress = egressWith();
  for (const path of ["/hang", "/hang-body"]) {
    const controller = new AbortController();
    const asked = site.nextRequest(path);
    const requested = egress.request(`${site.publicUrl}${path}`, { signal: controller.signal });
    if (path === "/hang-body") {
      const { body } = await requested;
      controller.abort();
      await expect(text(body)).rejects.toThrow();
    } else {
      await asked;
      controller.abort();
      await expect(requested).rejects.toMatchObject({ failure: "aborted" });
    }
    await site.closed(path);
  }
  const silent = egressWith({ network: { resolve: () => new Promise(() => {}) } });
  const controller = new AbortController();
  const resolving = silent.request("http://site.example/", { signal: controller.signal });
  setImmediate(() => controller.abort());
  await expect(resolving).rejects.toMatchObject({ failure: "aborted" });
});

test("a reply that is dropped unread closes its connection and disturbs nobody", async () => {
  const { body } = await egressWith().request(`${site.publicUrl}/hang-body`);
  body.destroy();
  await site.closed("/hang-body");
  if (!body.closed) await once(body, "close");
});

test("requests with a body are sent, for bridges to other services", async () => {
  const reply = await egressWith().request(`${site.otherUrl}/put`, {
    method: "PUT",
    body: Buffer.from("bytes"),
  });
  await text(reply.body);
  expect(site.seen[0]).toMatchObject({ path: "/put", headers: { "content-length": "5" } });
});

test("a closed egress sends nothing", async () => {
  const egress = egressWith();
  await text((await egress.request(`${site.publicUrl}/ok`)).body);
  await egress.close();
  await expect(egress.request(`${site.publicUrl}/ok`)).rejects.toMatchObject({ failure: "closed" });
});
