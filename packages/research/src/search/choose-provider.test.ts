import type { ServerResponse } from "node:http";
import type { SearchSettings } from "@retinue/core/schema/settings";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { afterEach, expect, test } from "vitest";
import {
  type SeenRequest,
  startRawServer,
  startServer,
  type TestServer,
} from "../../../../test/fixtures/model-server.ts";
import { chooseProvider } from "./choose-provider.ts";
import type { SearchProvider } from "./search-provider.ts";

const KEY = ["key", "4711", "abcdef"].join("-");
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function choose(
  search: Partial<SearchSettings>,
  env: HostPlaces["env"] = {},
  deadlineMs = 5_000,
): SearchProvider {
  const places = { env, homeDir: "/nowhere", dataDir: "/nowhere", configDir: "/nowhere" };
  const provider = chooseProvider({ folders: ["."], ...search }, places, deadlineMs);
  closers.push(() => provider.close?.());
  return provider;
}
async function serve(handler: (request: SeenRequest, response: ServerResponse) => void): Promise<TestServer> {
  const server = await startServer(handler);
  closers.push(() => server.close());
  return server;
}
const json = (value: unknown, status = 200, headers = {}) =>
  serve((_, response) => void response.writeHead(status, headers).end(JSON.stringify(value)));
function ask(provider: SearchProvider, signal = new AbortController().signal) {
  const run = { projectDir: "/nowhere", workspaceDir: "/nowhere", maySee: () => true, progress() {} };
  return provider.search("durable storage & logs", { limit: 5, signal, run });
}

test("the settings' word comes first, then an address, then a key, then local documents", () => {
  expect(choose({ provider: "exa" }, { BRAVE_API_KEY: KEY }).name).toBe("exa");
  expect(choose({ url: "http://127.0.0.1:1" }, { BRAVE_API_KEY: KEY }).name).toBe("searxng");
  expect(choose({}, { SEARXNG_URL: "http://127.0.0.1:1", BRAVE_API_KEY: KEY }).name).toBe("searxng");
  expect(choose({}, { BRAVE_API_KEY: " ", TAVILY_API_KEY: KEY }).name).toBe("tavily");
  expect(choose({ provider: "local" }, { TAVILY_API_KEY: KEY }).name).toBe("local documents");
  expect(choose({}).name).toBe("local documents");
});

test("what cannot be meant is an error of the configuration", () => {
  const wrong = (search: object) => () => choose(search as SearchSettings);
  expect(wrong({ provider: "gogle" })).toThrow(
    expect.objectContaining({
      code: "config",
      message: "there is no search provider 'gogle'",
      hint: expect.stringContaining("brave"),
    }),
  );
  expect(wrong({ key: KEY })).toThrow(/search\.key needs search\.provider/);
  expect(wrong({ keyEnv: "X" })).toThrow(/search\.keyEnv needs search\.provider/);
  expect(wrong({ provider: "searxng", url: "ftp://x" })).toThrow(/not an http or https address/);
  expect(wrong({ provider: "brave", url: "http://search.example.org", key: KEY })).toThrow(/in the clear/);
});

test("SearXNG is asked at its address, without a key", async () => {
  const server = await json({
    results: [{ title: "A", url: "https://a.example/", content: "about <b>A</b> &amp; B" }],
  });
  const provider = choose({ url: `${server.url}/sub/` });
  expect(provider.hosts).toEqual(["127.0.0.1"]);
  expect(await ask(provider)).toEqual([{ title: "A", url: "https://a.example/", snippet: "about A & B" }]);
  const [request] = server.seen;
  expect(request?.method).toBe("GET");
  expect(request?.path).toBe("/sub/search?q=durable+storage+%26+logs&format=json");
});

test("Brave is asked with its token", async () => {
  const results = [{ title: "A <strong>b</strong>", url: "https://a.example/", description: "d" }];
  const server = await json({ web: { results } });
  const hits = await ask(choose({ provider: "brave", url: server.url }, { BRAVE_API_KEY: KEY }));
  expect(hits).toEqual([{ title: "A b", url: "https://a.example/", snippet: "d" }]);
  expect(server.seen[0]).toMatchObject({
    method: "GET",
    path: "/web/search?q=durable+storage+%26+logs&count=5",
    headers: { "x-subscription-token": KEY },
  });
  const nothing = await json({ query: {}, type: "search" });
  expect(await ask(choose({ provider: "brave", url: nothing.url, key: KEY }))).toEqual([]);
});

test("Tavily is asked with a bearer token", async () => {
  const server = await json({
    results: [{ title: "A", url: "https://a.example/", content: "c", score: 0.9 }],
  });
  const hits = await ask(choose({ provider: "tavily", url: server.url, keyEnv: "MINE" }, { MINE: KEY }));
  expect(hits).toEqual([{ title: "A", url: "https://a.example/", snippet: "c" }]);
  expect(server.seen[0]).toMatchObject({
    method: "POST",
    path: "/search",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
  });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ query: "durable storage & logs", max_results: 5 });
});

test("Exa is asked with its key and gives highlights", async () => {
  const results = [
    { title: null, url: "https://a.example/", highlights: ["one", 2, "two"] },
    { title: "no address" },
  ];
  const server = await json({ results });
  const hits = await ask(choose({ provider: "exa", url: server.url, key: KEY }));
  expect(hits).toEqual([{ title: "", url: "https://a.example/", snippet: "one … two" }]);
  expect(server.seen[0]).toMatchObject({ method: "POST", path: "/search", headers: { "x-api-key": KEY } });
  expect(JSON.parse(server.seen[0]?.body ?? "")).toMatchObject({
    numResults: 5,
    contents: { highlights: true },
  });
});

test.each(["brave", "tavily", "exa"] as const)(
  "%s without a key says which variable to set",
  async (provider) => {
    const failing = ask(choose({ provider, url: "http://127.0.0.1:1" }, { OTHER: "x" }));
    await expect(failing).rejects.toThrow(/needs a key: set \w+_API_KEY/);
  },
);

test.each([
  [401, "refused the key or the access"],
  [403, "refused the key or the access"],
  [429, "allows no more searches for now"],
  [432, "allows no more searches for now"],
  [400, "refused the search"],
  [500, "is out of order"],
  [503, "is out of order"],
] as const)(
  "status %i of every engine is told as: it %s, and no key is in the message",
  async (status, told) => {
    const server = await json({ error: KEY }, status);
    for (const provider of ["searxng", "brave", "tavily", "exa"] as const) {
      const failed = await ask(choose({ provider, url: server.url, key: KEY })).catch((thrown) => thrown);
      expect(failed.message).toContain(`${provider} ${told} (HTTP ${status})`);
      expect(JSON.stringify([failed.message, failed])).not.toContain(KEY);
    }
  },
);

test("the time that an engine asks to wait is kept", async () => {
  const server = await json({}, 429, { "retry-after": "7" });
  const failing = ask(choose({ provider: "exa", url: server.url, key: KEY }));
  await expect(failing).rejects.toThrow("try again in 7 s");
});

test("an answer that is not what it should be is a bad reply", async () => {
  const bodies = ["", "<html>", "[]", "null", '{"results": 5}', '{"web": 5}', '{"results": [', '"text"'];
  for (const body of bodies)
    for (const provider of ["searxng", "brave", "tavily", "exa"] as const) {
      const server = await serve((_, response) => void response.end(body));
      const told = await ask(choose({ provider, url: server.url, key: KEY })).then(
        (hits) => (hits.length === 0 && provider === "brave" ? "brave answered" : hits),
        (thrown) => thrown.message,
      );
      expect({ body, told }).toEqual({ body, told: expect.stringContaining(`${provider} answered`) });
    }
});

test("a server that is not there, goes away, sends elsewhere or never ends is told apart", async () => {
  const catchFault = async (url: string, deadlineMs?: number) =>
    (await ask(choose({ url }, {}, deadlineMs)).catch((thrown) => thrown)).message;
  const gone = await startServer(() => {});
  await gone.close();
  expect(await catchFault(gone.url)).toMatch(/could not be asked: .*cannot be reached/);
  const cut = await startRawServer((socket) => {
    socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{");
  });
  closers.push(() => cut.close());
  expect(await catchFault(cut.url)).toMatch(/could not be asked: .*closed the connection/);
  const elsewhere = await serve((_, response) => void response.writeHead(302, { location: gone.url }).end());
  expect(await catchFault(elsewhere.url)).toContain("redirects are not followed");
  const silent = await serve(() => {});
  expect(await catchFault(silent.url, 100)).toContain("did not answer within 100 ms");
  const trickle = await serve((_, response) => void response.writeHead(200).write("{"));
  expect(await catchFault(trickle.url, 100)).toContain("did not answer within 100 ms");
  const endless = await serve((_, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(65_536, 32)));
      response.once("drain", more);
    };
    more();
  });
  expect(await catchFault(endless.url)).toContain("its answer has more than");
});

test("a cancelled search ends at once", async () => {
  const stop = new AbortController();
  const silent = await serve(() => stop.abort());
  await expect(ask(choose({ url: silent.url }), stop.signal)).rejects.toThrow("the search was cancelled");
});
