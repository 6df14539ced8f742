import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callTool, callTools, say, testRuntime } from "@retinue/core/testing";
import { loadCrawled } from "@retinue/research/crawl/crawl-log";
import type { CrawlLimits } from "@retinue/research/crawl/crawl-pages";
import { createCrawlParallel } from "@retinue/research/crawl/crawl-parallel";
import { createWebHost, type ReadWebPage } from "@retinue/research/crawl/web-host";
import { createEgress, type Egress } from "@retinue/research/egress/egress-guard";
import { saveCorpus } from "@retinue/research/save-corpus";
import { createWebFetch, webFetch, webSearch } from "@retinue/research/web-tools";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type HostileSite, startHostileSite } from "../fixtures/hostile-site.ts";

let site: HostileSite;
let egress: Egress;
let dataDir: string;

beforeEach(async () => {
  site = await startHostileSite({ trickleMs: 50 });
  egress = createEgress({ network: site.network });
  dataDir = mkdtempSync(join(tmpdir(), "retinue-crawl-"));
});
afterEach(async () => {
  await egress.close();
  await site.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** A run that crawls once or more; what its model was told, and where its files are. */
async function crawl(calls: readonly (readonly string[])[], limits: Partial<CrawlLimits> = {}) {
  const told: string[] = [];
  await using t = testRuntime(
    {
      scout: [
        ...calls.map((urls, at) => (request: { last: string }) => {
          if (at > 0) told.push(request.last);
          return callTool("crawl_parallel", { urls });
        }),
        (request) => {
          told.push(request.last);
          return say("done");
        },
      ],
    },
    { tools: [createCrawlParallel({ egress, limits })], dataDir },
  );
  const result = await t.runtime.run({ agent: "scout", task: "crawl" });
  const [workspace = ""] = t.events.flatMap((event) =>
    event.type === "session.started" ? [event.sessionId] : [],
  );
  const workspaceDir = join(dataDir, "sessions", workspace);
  return { told, result, events: [...t.events], workspaceDir };
}

/** Status and code of each address, by its path. */
function statuses(text: string): Record<string, string> {
  const lines = text.matchAll(/^- ([a-z]+(?: \d+)?): http:\/\/[^/\s]+(\/\S+)/gm);
  return Object.fromEntries([...lines].map(([, status = "", path = ""]) => [path, status]));
}

test("every trick of a hostile site ends in the status it deserves", async () => {
  const expected = {
    "/ok": "success",
    "/gzip": "success",
    "/latin1-as-utf8": "success",
    "/utf-16": "success",
    "/untyped": "success",
    "/moved": "skipped",
    "/missing": "failed 1214",
    "/gone": "failed 1214",
    "/busy": "failed",
    "/broken": "failed",
    "/reset": "failed",
    "/loop": "failed",
    "/grow": "failed",
    "/to-private": "failed",
    "/gzip-bomb": "failed",
    "/br-bomb": "failed",
    "/large": "failed",
    "/js-only": "failed",
    "/pdf": "skipped",
    "/forbidden/page": "skipped",
    "/hang": "timeout 1234",
    "/hang-body": "timeout 1234",
    "/trickle": "timeout 1234",
  };
  const urls = Object.keys(expected).map((path) => `${site.publicUrl}${path}`);
  const { told } = await crawl([urls], { batches: 5, batchMs: 2_500, successes: 50 });
  const seen = statuses(told[0] ?? "");
  // The same page under two addresses is taken once; which of them answers in time is chance.
  if (seen["/moved"] === "success") Object.assign(seen, { "/moved": seen["/ok"], "/ok": "success" });
  expect(seen).toEqual(expected);
  expect(site.privateSeen).toEqual([]);
  for (const path of ["/hang", "/hang-body", "/trickle"]) expect(site.hits(path)).toBe(2);
  for (const path of ["/missing", "/gone", "/busy", "/broken", "/reset"]) expect(site.hits(path)).toBe(1);
  expect(site.hits("/forbidden/page")).toBe(0);
});

test("a run stops after two batches of five, over all its calls, and its text is untrusted", async () => {
  const trap = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => `${site.publicUrl}/trap/${from + at}`);
  const { told, result, events, workspaceDir } = await crawl([trap(0, 7), trap(7, 7)]);
  expect(told[0]).toContain(
    "Successfully crawled 7/7 URLs (this run: 7 of at most 10 pages, 2 of 2 batches)",
  );
  expect(told[1]).toContain("Successfully crawled 0/7 URLs");
  expect(site.seen.filter(({ path }) => path.startsWith("/trap/"))).toHaveLength(7);
  expect(events.some((event) => event.type === "run.tainted" && event.tool === "crawl_parallel")).toBe(true);
  expect(result.files_created).toHaveLength(7);
  const files = readdirSync(join(workspaceDir, "search_results"));
  expect(files.filter((name) => name.endsWith(".md"))).toHaveLength(7);
  expect((await loadCrawled(workspaceDir)).map(({ status }) => status)).toEqual(Array(7).fill("success"));
});

test("three permanent failures blacklist a domain for the next session, which says so", async () => {
  const missing = [1, 2, 3].map((at) => `${site.publicUrl}/nothing-${at}`);
  const first = await crawl([missing]);
  const warnings = (events: typeof first.events) =>
    events.flatMap((event) =>
      event.type === "call.progressed" && /^warning/.test(event.message) ? [event.message] : [],
    );
  expect(warnings(first.events).join("\n")).toMatch(/warning: site\.example:\d+ is blacklisted now/);
  const second = await crawl([[`${site.publicUrl}/ok`]]);
  expect(second.told[0]).toMatch(
    /- skipped: \S+\/ok \(blacklisted: 3 pages of site\.example:\d+ were not there\)/,
  );
  expect(warnings(second.events).join("\n")).toContain("is skipped, blacklisted");
  expect(site.hits("/ok")).toBe(0);
  expect(existsSync(join(dataDir, "blacklist.db"))).toBe(true);
});

test("time-outs never blacklist a domain", async () => {
  const urls = [1, 2, 3, 4].map((at) => `${site.publicUrl}/hang?${at}`);
  const first = await crawl([urls], { batchMs: 200, retriesAtOnce: 4 });
  expect(Object.values(statuses(first.told[0] ?? ""))).toEqual(Array(4).fill("timeout 1234"));
  const second = await crawl([[`${site.publicUrl}/ok`]]);
  expect(second.told[0]).toContain("Successfully crawled 1/1 URLs");
});

test("documents of this machine are crawled like pages of the web", async () => {
  const documents = mkdtempSync(join(tmpdir(), "retinue-documents-"));
  try {
    const text = `<title>Night watch</title><article><p>${"The night watch keeps the harbour lamps burning until dawn. ".repeat(10)}</p></article>`;
    writeFileSync(join(documents, "watch.html"), text);
    await using t = testRuntime(
      {
        scout: [
          callTool("web_search", { query: "harbour lamps" }),
          (request) => {
            const url = /https?:\/\/\S+/.exec(request.last)?.[0] ?? "";
            return callTool("crawl_parallel", { urls: [url] });
          },
          (request) => say(request.last),
        ],
      },
      { tools: [webSearch, createCrawlParallel()], dataDir, projectDir: documents },
    );
    const result = await t.runtime.run({ agent: "scout", task: "crawl" });
    expect(`${result.summary}${result.details}`).toMatch(
      /- success: http:\/\/127\.0\.0\.1:\d+\S*watch\.html → search_results\//,
    );
  } finally {
    rmSync(documents, { recursive: true, force: true });
  }
});

test("one page is got through the same pipeline, and an address of this machine is refused", async () => {
  const { readPage } = createWebHost({ web: { allowHosts: [], maxPageMb: 1 }, egress });
  const { signal } = new AbortController();
  expect(await readPage(`${site.publicUrl}/moved`, { signal })).toMatchObject({
    url: `${site.publicUrl}/ok`,
    page: { title: "A sound page" },
  });
  expect(await readPage(`${site.publicUrl}/missing`, { signal })).toMatchObject({
    status: "failed",
    reason: expect.stringContaining("404"),
  });
  await using t = testRuntime(
    { scout: [callTool("web_fetch", { url: `${site.privateUrl}/secret` }), (request) => say(request.last)] },
    { tools: [webFetch], dataDir },
  );
  const result = await t.runtime.run({ agent: "scout", task: "fetch" });
  expect(result.summary).toMatch(/127\.0\.0\.1/);
  expect(site.privateSeen).toEqual([]);
});

test("a redirect leads neither one page nor a crawl around the rules, and the host it points to is never asked", async () => {
  const web = { allowHosts: [], maxPageMb: 1 };
  const { readPage } = createWebHost({ web, egress });
  const { signal } = new AbortController();
  expect(await readPage(`${site.publicUrl}/to-other`, { signal })).toMatchObject({
    url: `${site.otherUrl}/landed`,
  });
  const askedOther = () => site.seen.filter(({ path }) => path === "/landed").length;
  expect(askedOther()).toBe(1);
  const url = `${site.publicUrl}/to-other`;
  const told: string[] = [];
  await using t = testRuntime(
    {
      scout: [
        callTool("web_fetch", { url }),
        (request) => {
          told.push(request.last);
          return callTool("crawl_parallel", { urls: [url] });
        },
        (request) => {
          told.push(request.last);
          return say("done");
        },
      ],
    },
    {
      tools: [createWebFetch({ readPage }), createCrawlParallel({ egress })],
      dataDir,
      settings: {
        permissions: { ask: [], deny: ["web_fetch(other.example)", "crawl_parallel(other.example)"] },
      },
    },
  );
  await t.runtime.run({ agent: "scout", task: "fetch" });
  expect(told).toEqual(Array(2).fill(expect.stringContaining("do not let it visit other.example")));
  expect(askedOther()).toBe(1);
});

test("secrets of the environment are hidden in pages and in the corpus", async () => {
  const documents = mkdtempSync(join(tmpdir(), "retinue-documents-"));
  const secret = ["tok", "Zx81", "qqWWee99"].join("_");
  try {
    const lamps = "The night watch keeps the harbour lamps burning until dawn. ".repeat(10);
    writeFileSync(
      join(documents, "watch.md"),
      `# Harbour lamps ${secret}\n\n${lamps}\n\nThe key is ${secret}.\n`,
    );
    await using t = testRuntime(
      {
        scout: [
          callTool("web_search", { query: "harbour lamps" }),
          (request) => callTool("crawl_parallel", { urls: [/https?:\/\/\S+/.exec(request.last)?.[0] ?? ""] }),
          callTool("save_corpus", { articles: [] }),
          say("done"),
        ],
      },
      {
        tools: [webSearch, createCrawlParallel(), saveCorpus],
        dataDir,
        projectDir: documents,
        env: { MAIL_TOKEN: secret },
      },
    );
    const { session_id: sessionId } = await t.runtime.run({ agent: "scout", task: "crawl" });
    const workspace = join(dataDir, "sessions", sessionId);
    const pages = readdirSync(join(workspace, "search_results")).map((name) => `search_results/${name}`);
    const texts = [...pages, "expanded_corpus.json"].map((name) =>
      readFileSync(join(workspace, name), "utf8"),
    );
    expect(texts.filter((text) => text.includes("harbour lamps")).length).toBeGreaterThanOrEqual(2);
    expect(texts.filter((text) => text.includes(secret))).toEqual([]);
  } finally {
    rmSync(documents, { recursive: true, force: true });
  }
});

test("five calls of one turn with one address each are one batch of five, read at the same time", async () => {
  const told: string[] = [];
  let asked = 0;
  let allAsked = Promise.withResolvers<void>();
  const readPage: ReadWebPage = async (url) => {
    if (++asked % 5 === 0) allAsked.resolve();
    // Comes back only once all five of a turn have been asked for.
    await allAsked.promise;
    return { status: "read", url, page: { title: url, markdown: `Text of ${url}.`, words: 3 } };
  };
  const fiveFrom = (from: number) => {
    allAsked = Promise.withResolvers<void>();
    const pages = Array.from({ length: 5 }, (_, at) => `https://s${from + at}.example/page`);
    return callTools(pages.map((url) => ({ tool: "crawl_parallel", input: { urls: [url] } })));
  };
  await using t = testRuntime(
    { scout: [() => fiveFrom(1), () => fiveFrom(6), () => fiveFrom(11), say("done")] },
    { tools: [createCrawlParallel({ readPage })], dataDir },
  );
  t.runtime.events((event) => {
    if (event.type === "call.ended") told.push(event.summary);
  });
  await t.runtime.run({ agent: "scout", task: "crawl" });
  expect(asked).toBe(10);
  expect(told.filter((text) => text.startsWith("Successfully crawled 1/1"))).toHaveLength(10);
  expect(told[4]).toContain("1 of 2 batches");
  expect(told[9]).toContain("this run: 10 of at most 10 pages, 2 of 2 batches");
  expect(told.slice(10).every((text) => text.startsWith("Successfully crawled 0/1"))).toBe(true);
});

test("calls of one turn fill a batch together, and an address that two of them name is asked for once", async () => {
  const asked: string[] = [];
  const readPage: ReadWebPage = async (url) => {
    asked.push(url);
    return { status: "read", url, page: { title: url, markdown: `Text of ${url}.`, words: 3 } };
  };
  const page = (at: number) => `https://s${at}.example/page`;
  const urls = [
    [1, 2, 3],
    [3, 4],
    [5, 6, 7, 8],
    [9, 10, 11],
  ].map((all) => all.map(page));
  await using t = testRuntime(
    {
      scout: [callTools(urls.map((all) => ({ tool: "crawl_parallel", input: { urls: all } }))), say("done")],
    },
    { tools: [createCrawlParallel({ readPage })], dataDir },
  );
  await t.runtime.run({ agent: "scout", task: "crawl" });
  expect(asked).toHaveLength(10);
  expect(new Set(asked).size).toBe(10);
});
