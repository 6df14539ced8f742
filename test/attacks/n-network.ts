import { callTool, callTools, say } from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { createCrawlParallel } from "@retinue/research/crawl/crawl-parallel";
import type { ReadWebPage } from "@retinue/research/crawl/web-host";
import { createEgress, type EgressOptions, loadAddressGuard } from "@retinue/research/egress/egress-guard";
import { type FetchOptions, type FetchOutcome, fetchPage } from "@retinue/research/egress/guarded-fetch";
import { createWebFetch } from "@retinue/research/web-tools";
import { expect } from "vitest";
import { type HostileSite, type HostileSiteOptions, startHostileSite } from "../fixtures/hostile-site.ts";
import { type Attack, type Outcome, resultsSeen, type World } from "./attack.ts";

/** Why no guard of a run can be switched off to let these attacks through. */
const ADDRESSES = "the connection itself is made only to public addresses, below every guard of a run";
const BOUNDS = "size and time of a body are bounded where it is read";

const done = say("done");
const MAX_BYTES = 1_000_000;
const MANY = { lead: { limits: { toolCalls: 500 } } };
const sites = new WeakMap<World, HostileSite>();

async function openSite(world: World, options?: HostileSiteOptions): Promise<HostileSite> {
  const site = await startHostileSite(options);
  sites.set(world, site);
  world.atEnd(() => site.close());
  return site;
}

function siteOf(world: World): HostileSite {
  const site = sites.get(world);
  if (!site) throw new Error("the case has no site");
  return site;
}

/** The way out, which in a broken world checks no address. */
function egressOf(world: World, options: EgressOptions = {}) {
  const { network } = siteOf(world);
  const egress = createEgress({ network, ...(world.broken && { isBlocked: () => null }), ...options });
  world.atEnd(() => egress.close());
  return egress;
}

type Get = (url: string, options: { signal: AbortSignal }) => Promise<FetchOutcome>;

/** `web_fetch` over a way to get pages; the model sees how many characters came. */
function webFetch(get: Get): readonly AnyTool[] {
  const readPage: ReadWebPage = async (url, options) => {
    const got = await get(url, options);
    if (got.status === "failed") return got;
    const page = { title: "a page", markdown: `${got.text.length} characters`, words: 2 };
    return { status: "read", url: got.url, page };
  };
  return [createWebFetch({ readPage })];
}

function guardedFetch(world: World, options: Partial<FetchOptions> = {}, egress = egressOf(world)) {
  const bounds = { maxBytes: MAX_BYTES, deadlineMs: 5_000 };
  return webFetch((url, { signal }) => fetchPage(url, { egress, signal, ...bounds, ...options }));
}

const visit = (...urls: readonly string[]) =>
  callTools(urls.map((url) => ({ tool: "web_fetch", input: { url } })));

/** Every call was answered with an error. */
function expectAllRefused({ t }: Outcome): void {
  const results = resultsSeen(t, "lead");
  expect(results.length).toBeGreaterThan(0);
  expect(results.filter((result) => !result.isError)).toEqual([]);
}

/** The server that nobody may reach was not reached. */
function expectUnreached(outcome: Outcome): void {
  expect(siteOf(outcome.world).privateSeen).toEqual([]);
  expectAllRefused(outcome);
}

const PRIVATE_HOSTS = [
  "127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.0.0.1 017700000001 0177.0.0.1 0 127.0.0.1.",
  "１２７.０.０.１ 127。0。0。1 ①②⑦.⓪.⓪.① %31%32%37.0.0.1 localhost LOCALHOST. ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
  "[::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [64:ff9b::7f00:1]",
  "[64:ff9b:1::a9fe:a9fe] [2002:7f00:1::] [2001:0:4136:e378:8000:63bf:80ff:fffe] [fe80::1] [fd00:ec2::254]",
  "169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 [::ffff:a9fe:a9fe] 100.100.100.200 168.63.129.16",
  "192.0.0.192 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 224.0.0.1 255.255.255.255",
  "[fe80::1%25eth0] [::1%2525lo] inside.example meta.example six.example some.example",
].flatMap((line) => line.split(" "));

/** Names that lead inside, one of them only among others. */
const INSIDE: readonly (readonly [string, readonly string[]])[] = [
  ["localhost", ["127.0.0.1", "::1"]],
  ["inside.example", ["10.1.2.3"]],
  ["meta.example", ["169.254.169.254"]],
  ["six.example", ["fe80::1%eth0"]],
  ["some.example", ["93.184.216.34", "192.168.0.1"]],
];

/** Hosts that are the denied one to a connection, though not to every reader. */
const EVIL = (port: number) => [
  `http://evil.example:${port}/`,
  `http://EVIL.Example:${port}/`,
  `http://evil.example.:${port}/`,
  `http://evil。example:${port}/`,
  `http://ｅｖｉｌ.example:${port}/`,
  `http://evil%2eexample:${port}/`,
  `http://ev\til.example:${port}/`,
  `http://ok.example@evil.example:${port}/`,
  `http://ok.example:${port}@evil.example:${port}/`,
  `http://ok.example%40evil.example:${port}/`,
  `http://evil.example\0.ok.example:${port}/`,
  `http://evil.example%00.ok.example:${port}/`,
  `http://evil.example:${port}\\.ok.example/`,
  `http://evil.example:${port}#@ok.example/`,
  `http:evil.example:${port}/`,
  `http:\\\\evil.example:${port}/`,
];

/** Reads the host as a careless program would, and connects as a real one does. */
function carelessFetch(world: World): AnyTool {
  const egress = egressOf(world);
  return defineTool<{ url: string }>({
    name: "web_fetch",
    description: "Gets a page.",
    input: { type: "object" },
    access: ({ url }) => [
      { kind: "host", host: /([a-z.]+\.example)[^a-z]*$/.exec(url)?.[1] ?? "ok.example" },
    ],
    execute: async ({ url }) => {
      const parsed = new URL(url);
      parsed.username = parsed.password = "";
      const { body } = await egress.request(parsed.href.replaceAll(/\.(?=[:/])/g, ""));
      body.destroy();
      return "got";
    },
  });
}

/** Looks a name up, checks the answer, and then connects by a second look. */
async function checkedTooEarly(world: World): Promise<readonly AnyTool[]> {
  const isBlocked = await loadAddressGuard();
  const egress = egressOf(world);
  return webFetch(async (url, { signal }) => {
    const addresses = await siteOf(world).network.resolve(new URL(url).hostname);
    if (addresses.some((address) => isBlocked(address))) throw new Error("blocked");
    return fetchPage(url, { egress, signal, robots: false });
  });
}

const SECRETS = { authorization: "Bearer n8-canary", cookie: "session=n8-canary", "x-api-key": "n8-canary" };

/** Follows a redirect with everything it was given. */
function generousFetch(world: World): readonly AnyTool[] {
  const egress = egressOf(world);
  return webFetch(async (url, { signal }) => {
    const { headers, body } = await egress.request(url, { headers: SECRETS, signal });
    body.destroy();
    return fetchPage(String(headers.location), { egress, signal, headers: SECRETS });
  });
}

/** Attacks on what goes out to the network, and on what comes in from it. */
export const N_CASES: readonly Attack[] = [
  {
    id: "N1",
    title: "no spelling of a private or metadata address is connected to",
    noGuard: ADDRESSES,
    setup: async (world) => {
      const site = await openSite(world);
      for (const [name, addresses] of INSIDE) site.names.set(name, [addresses]);
      // Whatever is let through reaches the private server, so that nothing goes unnoticed.
      const network = { ...site.network, route: () => "127.0.0.1" };
      return { tools: guardedFetch(world, {}, egressOf(world, { network })), agents: MANY };
    },
    turns: (world) => ({
      lead: [
        visit(...PRIVATE_HOSTS.map((host) => `http://${host}:${siteOf(world).privatePort}/latest/meta-data`)),
        done,
      ],
    }),
    oracle: expectUnreached,
  },
  {
    id: "N2",
    title: "a name that answers differently the second time is not followed inside",
    noGuard: ADDRESSES,
    setup: async (world) => {
      const site = await openSite(world);
      site.names.set("rebind.example", [["93.184.216.34"], ["127.0.0.1"]]);
      const route = (address: string) => {
        world.seen.push(address);
        return "127.0.0.1";
      };
      Object.assign(site.network, { route });
      return { tools: world.broken ? await checkedTooEarly(world) : guardedFetch(world) };
    },
    turns: (world) => {
      const url = siteOf(world).publicUrl.replace("site.example", "rebind.example");
      return { lead: [visit(`${url}/ok`), visit(`${url}/ok?2`), visit(`${url}/ok?3`), done] };
    },
    oracle: ({ world }) => {
      expect(world.seen.filter((address) => address !== "93.184.216.34")).toEqual([]);
      expect(world.seen).not.toEqual([]);
    },
  },
  {
    id: "N3",
    title: "a redirect to a private address, by number or by name, is not followed",
    noGuard: ADDRESSES,
    setup: async (world) => {
      const site = await openSite(world);
      site.names.set("inside.example", [["127.0.0.1"]]);
      return { tools: guardedFetch(world) };
    },
    turns: (world) => {
      const url = siteOf(world).publicUrl;
      return {
        lead: [
          visit(`${url}/to-private`, `${url}/to-private-name`, `${url}/to-file`, `${url}/to-login`),
          done,
        ],
      };
    },
    oracle: (outcome) => {
      expect(siteOf(outcome.world).hits("/to-private")).toBe(1);
      expectUnreached(outcome);
    },
  },
  {
    id: "N4",
    title: "the host that rules judge is the host that is asked, however the address is written",
    noGuard:
      "the tool names the host that it will ask itself; a rule that is not looked at would prove nothing of that",
    setup: async (world) => {
      const site = await openSite(world);
      for (const name of ["evil.example", "ok.example"]) site.names.set(name, [["93.184.216.34"]]);
      return {
        tools: world.broken ? [carelessFetch(world)] : guardedFetch(world),
        agents: {
          lead: {
            tools: ["web_fetch"],
            disallowedTools: ["web_fetch(evil.example)"],
            limits: { toolCalls: 500 },
          },
        },
      };
    },
    turns: (world) => {
      const port = Number(new URL(siteOf(world).url).port);
      return { lead: [visit(`http://ok.example:${port}/ok`, ...EVIL(port)), done] };
    },
    oracle: ({ world }) => {
      const hosts = siteOf(world).seen.map(({ host }) => host.toLowerCase());
      expect(hosts.filter((host) => !host.startsWith("ok.example:"))).toEqual([]);
      expect(hosts).not.toEqual([]);
    },
  },
  {
    id: "N5",
    slow: true,
    title: "bodies that unpack to far more than they are do not",
    noGuard: BOUNDS,
    setup: async (world) => {
      await openSite(world);
      return { tools: guardedFetch(world, world.broken ? { maxBytes: 1e9, deadlineMs: 60_000 } : {}) };
    },
    turns: (world) => {
      const url = siteOf(world).publicUrl;
      const paths = [
        "/gzip-bomb",
        "/br-bomb",
        "/nested-bomb",
        "/large",
        "/large-chunked",
        "/huge-headers",
        "/many-encodings",
      ];
      return { lead: [visit(...paths.map((path) => url + path)), done] };
    },
    oracle: (outcome) => {
      expect(siteOf(outcome.world).hits("/nested-bomb")).toBe(1);
      expectAllRefused(outcome);
    },
  },
  {
    id: "N6",
    slow: true,
    title:
      "bodies without an end, of a byte a second, or that never begin are given up and their connections closed",
    noGuard: BOUNDS,
    setup: async (world) => {
      await openSite(world, world.broken ? { trickleMs: 5, trickleBytes: 20 } : { trickleMs: 1_000 });
      const pace = { bytes: world.broken ? 0 : 100, everyMs: 100 };
      const bounds = world.broken ? { maxBytes: 1e9, deadlineMs: 60_000 } : { deadlineMs: 2_000 };
      return { tools: guardedFetch(world, { pace, ...bounds }) };
    },
    turns: (world) => {
      const url = siteOf(world).publicUrl;
      const paths = ["/endless", "/trickle", ...(world.broken ? [] : ["/hang", "/hang-body"])];
      return { lead: [visit(...paths.map((path) => url + path)), done] };
    },
    oracle: async (outcome) => {
      const site = siteOf(outcome.world);
      expectAllRefused(outcome);
      for (const path of ["/endless", "/trickle", "/hang", "/hang-body"]) await site.closed(path);
      expect(site.sent("/endless")).toBeLessThan(50 * MAX_BYTES);
    },
  },
  {
    id: "N7",
    slow: true,
    title:
      "a site whose links never end is left after ten pages, and one that redirects without end after five",
    noGuard: "the bounds on pages and redirects are the tools' own",
    setup: async (world) => {
      await openSite(world);
      const limits = world.broken ? { successes: 1_000, batches: 1_000 } : {};
      const crawl = createCrawlParallel({ egress: egressOf(world), limits });
      return { tools: [...guardedFetch(world), crawl] };
    },
    turns: (world) => {
      const url = siteOf(world).publicUrl;
      const crawls = Array.from({ length: 5 }, (_, turn) =>
        callTool("crawl_parallel", {
          urls: Array.from({ length: 6 }, (_, at) => `${url}/trap/${turn * 6 + at}`),
        }),
      );
      return { lead: [visit(`${url}/grow`), ...crawls, done] };
    },
    oracle: ({ world }) => {
      const paths = siteOf(world).seen.map(({ path }) => path);
      const trapped = paths.filter((path) => path.startsWith("/trap/"));
      expect(trapped.length).toBeGreaterThan(0);
      expect(trapped.length).toBeLessThanOrEqual(10);
      expect(paths.filter((path) => path.startsWith("/grow")).length).toBeLessThanOrEqual(6);
    },
  },
  {
    id: "N8",
    title: "what was given for one host is not carried to another, and cookies are carried nowhere",
    noGuard: "each request of the tool is given its own headers",
    setup: async (world) => {
      await openSite(world);
      return { tools: world.broken ? generousFetch(world) : guardedFetch(world, { headers: SECRETS }) };
    },
    turns: (world) => ({ lead: [visit(`${siteOf(world).publicUrl}/to-other`), done] }),
    oracle: ({ world }) => {
      const { seen } = siteOf(world);
      const told = (host: string) => JSON.stringify(seen.filter((entry) => entry.host.startsWith(host)));
      expect(told("site.example")).toContain("n8-canary");
      expect(told("other.example")).toContain("/landed");
      expect(told("other.example")).not.toContain("n8-canary");
    },
  },
];
