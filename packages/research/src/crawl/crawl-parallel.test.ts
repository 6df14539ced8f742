import { readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ToolContext } from "@retinue/core/tools/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { loadCrawled } from "./crawl-log.ts";
import { type CrawlOptions, createCrawlParallel } from "./crawl-parallel.ts";
import type { ReadPage, ReadWebPage } from "./web-host.ts";

let place: ToolPlace;
/** Addresses in the order they were asked for, and how many were open at once. */
let asked: string[];
let open: number;
let most: number;

beforeEach(() => {
  place = toolPlace();
  asked = [];
  open = 0;
  most = 0;
});
afterEach(() => place.remove());

const read = (url: string, more: Partial<Extract<ReadPage, { status: "read" }>["page"]> = {}): ReadPage => ({
  status: "read",
  url,
  page: { title: `Page ${url}`, markdown: `Text of ${url}.`, words: 3, ...more },
});
const failed = (kind: Extract<ReadPage, { status: "failed" }>["kind"], reason: string = kind): ReadPage => ({
  status: "failed",
  kind,
  reason,
});

/** The tool over a web that answers as `answer` says. */
function crawler(
  answer: (url: string, options: Parameters<ReadWebPage>[1]) => ReadPage | Promise<ReadPage> = (url) =>
    read(url),
  more: CrawlOptions = {},
) {
  const readPage: ReadWebPage = async (url, options) => {
    asked.push(url);
    most = Math.max(most, ++open);
    try {
      await new Promise(setImmediate);
      return await answer(url, options);
    } finally {
      open--;
    }
  };
  return createCrawlParallel({ readPage, ...more });
}

const urls = (count: number, from = 1) =>
  Array.from({ length: count }, (_, at) => `https://s${from + at}.example/page`);
const pageFiles = () =>
  readdirSync(join(place.workspaceDir, "search_results")).filter((name) => name.endsWith(".md"));

/** `success`, `failed 1214`, …, one for each address. */
const statuses = (text: string) =>
  text.split("\n").flatMap((line) => /^- ([a-z]+(?: \d+)?): https/.exec(line)?.[1] ?? []);

test("a run reads at most two batches of five, five at once, and says what is left", async () => {
  const { text } = await place.use(crawler(), { urls: urls(13) });
  expect(asked).toEqual(urls(10));
  expect(most).toBe(5);
  expect(statuses(text)).toEqual([...Array(10).fill("success"), ...Array(3).fill("skipped")]);
  expect(text).toContain("Successfully crawled 10/13 URLs");
  expect(text).toContain(`Not tried (3): ${urls(3, 11).join(" ")}`);
  expect(text).toContain("may crawl no more");
  expect(pageFiles()).toHaveLength(10);
});

test("the limits are those of the run, however its calls divide the addresses", async () => {
  const tool = crawler();
  await place.use(tool, { urls: urls(3) });
  await place.use(tool, { urls: urls(3, 4) });
  const { text } = await place.use(tool, { urls: urls(3, 7) });
  expect(asked).toEqual(urls(6));
  expect(statuses(text)).toEqual(["skipped", "skipped", "skipped"]);
  const other = await place.use(tool, { urls: urls(1, 7) }, { runId: "another" });
  expect(statuses(other.text)).toEqual(["success"]);
});

test("calls of one run at once share its batches and never have more than five pages open", async () => {
  const tool = crawler();
  await Promise.all([1, 6, 11].map((from) => place.use(tool, { urls: urls(5, from) })));
  expect(asked).toHaveLength(10);
  expect(most).toBe(5);
});

test("the limits hold after a restart", async () => {
  await place.use(crawler(), { urls: urls(10) });
  const { text } = await place.use(crawler(), { urls: [...urls(1), "https://new.example/"] });
  expect(asked).toEqual(urls(10));
  expect(text).toContain(`(duplicate of ${urls(1)[0]})`);
  expect(text).toContain("Not tried (1): https://new.example/");
});

test("a run stops at its number of pages even if a batch is left", async () => {
  const tool = crawler(undefined, { limits: { successes: 7 } });
  const { text } = await place.use(tool, { urls: urls(10) });
  expect(asked).toEqual(urls(7));
  expect(text).toContain("this run has read its 7 pages");
});

test("what was too slow is tried once more after the batches, two at a time, and nothing else is", async () => {
  const slow = urls(3);
  let mostAgain = 0;
  const tool = crawler(
    (url, { signal }) => {
      if (asked.length > 7) mostAgain = Math.max(mostAgain, open);
      if (url.startsWith("https://gone.")) return failed("not_found", "404");
      if (url.startsWith("https://broken.")) return failed("http_error", "500");
      if (!slow.includes(url) || asked.filter((each) => each === url).length > 1) return read(url);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(failed("aborted"))));
    },
    { limits: { batchMs: 1_000 } },
  );
  const rest = ["https://gone.example/", "https://broken.example/", ...urls(2, 4)];
  const { text } = await place.use(tool, { urls: [...slow, ...rest] });
  expect(asked).toEqual([...slow, ...rest, ...slow]);
  expect(mostAgain).toBe(2);
  expect(statuses(text)).toEqual([
    "success",
    "success",
    "success",
    "failed 1214",
    "failed",
    "success",
    "success",
  ]);
});

test("a page that never comes is a time-out after its second try, even if nobody listens to the signal", async () => {
  const tool = crawler((url) => (url.startsWith("https://s1.") ? new Promise<never>(() => {}) : read(url)), {
    limits: { batchMs: 500 },
  });
  const { text } = await place.use(tool, { urls: urls(2) });
  expect(asked).toEqual([...urls(2), ...urls(1)]);
  expect(statuses(text)).toEqual(["timeout 1234", "success"]);
  const again = await place.use(tool, { urls: urls(1) });
  expect(asked).toHaveLength(3);
  expect(again.text).toContain("tried before in this run");
});

test("the same page is kept once: by address, by what it says of itself, by redirect and by its text", async () => {
  const tool = crawler((url) => {
    if (url.includes("print")) return read(url, { canonical: "https://a.example/x" });
    if (url.includes("short")) return read("https://a.example/x");
    if (url.includes("mirror")) return read(url, { markdown: "Text of https://a.example/x." });
    if (url.includes("thief")) return read(url, { canonical: "https://later.example/" });
    return read(url);
  });
  const same = "(duplicate of https://a.example/x)";
  const { text } = await place.use(tool, {
    urls: [
      "https://a.example/x",
      "https://A.example:443/x/?utm_source=mail#top",
      "https://a.example/x?print=1",
      "https://short.example/1",
      "https://mirror.example/x",
      "https://thief.example/",
      "https://later.example/",
    ],
  });
  expect(statuses(text)).toEqual([
    "success",
    "skipped",
    "skipped",
    "skipped",
    "skipped",
    "success",
    "success",
  ]);
  expect(text.split(same)).toHaveLength(5);
  expect(asked).toHaveLength(6);
});

test("what cannot be read is told with its reason, and what is no page is skipped", async () => {
  const outcomes: Record<string, ReadPage> = {
    "https://a.example/": failed("unreadable", "no readable text"),
    "https://b.example/": failed("not_html", "this is application/pdf and not a page of text"),
    "https://c.example/": failed("robots", "robots.txt does not allow it"),
    "https://d.example/": failed("blocked", "10.0.0.1 is private"),
  };
  const tool = crawler((url) => outcomes[url] ?? read(url));
  const { text } = await place.use(tool, { urls: ["nonsense", ...Object.keys(outcomes)] });
  expect(text).toContain("- failed: nonsense (this is no address on the web)");
  expect(text).toContain("- failed: https://a.example/ (no readable text)");
  expect(text).toContain("- skipped: https://b.example/ (this is application/pdf");
  expect(text).toContain("- skipped: https://c.example/ (robots.txt");
  expect(text).toContain("- failed: https://d.example/ (10.0.0.1");
});

test("what is no address of the web is an error of its own, and the good ones are read", async () => {
  const bad = [
    "docs/a.md",
    "workspace:x",
    "mailto:a@b.example",
    "/etc/hosts",
    "file:///a",
    "",
    "x".repeat(9_000),
  ];
  const tool = crawler();
  const { text, isError } = await place.use(tool, { urls: [...bad, ...urls(2)] });
  expect(isError).toBe(false);
  expect(asked).toEqual(urls(2));
  expect(text.match(/\(this is no address on the web\)/g)).toHaveLength(bad.length);
  expect(text).toContain("of a file, give save_corpus its path as url and its text as content");
  expect(statuses(text)).toEqual(["success", "success"]);
  expect(await tool.requests?.({ urls: [...bad, ...urls(2)] }, place)).toEqual(urls(2));
});

test("each page that was read has the number by which a report cites it, whatever came late or failed", async () => {
  let tries = 0;
  const tool = crawler(
    (url, { signal }) => {
      if (url.startsWith("https://gone.")) return failed("not_found", "404");
      if (!url.startsWith("https://s1.") || ++tries > 1) return read(url);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(failed("aborted"))));
    },
    { limits: { batchMs: 500 } },
  );
  const { text } = await place.use(tool, { urls: ["https://gone.example/", ...urls(3)] });
  const numbers = [...text.matchAll(/^- success: (\S+) .*, cite as \[(\d+)\]$/gm)];
  expect(numbers.map(([, url, number]) => [url, number])).toEqual([
    [urls(1)[0], "3"],
    [urls(2)[1], "1"],
    [urls(3)[2], "2"],
  ]);
  expect(text).toContain(`## [3] Page ${urls(1)[0]} <`);
  const later = await place.use(tool, { urls: urls(1, 9) });
  expect(later.text).toContain("cite as [4]");
  expect(
    (await loadCrawled(place.workspaceDir)).flatMap(({ url, status }) => (status === "success" ? [url] : [])),
  ).toEqual([...urls(2, 2), ...urls(1), ...urls(1, 9)]);
});

test("a redirect does not lead around the rules", async () => {
  const tool = crawler(() => read("https://forbidden.example/x"));
  const maySee: ToolContext["maySee"] = (target) =>
    target.kind !== "host" || target.host !== "forbidden.example";
  const { text } = await place.use(tool, { urls: ["https://a.example/"] }, { maySee });
  expect(text).toContain("- failed: https://a.example/ (it led to forbidden.example");
});

test("three pages that are not there put a domain on the blacklist; time-outs do not", async () => {
  const dataDir = place.root;
  const said: string[] = [];
  const progress = (message: string) => void said.push(message);
  const answer = (url: string) => (url.includes("slow") ? failed("timeout") : failed("not_found"));
  const tool = crawler(answer, { dataDir });
  const of = (domain: string, count: number) =>
    Array.from({ length: count }, (_, at) => `https://${domain}.example/${at}`);
  await place.use(tool, { urls: [...of("slow", 3), ...of("gone", 2)] }, { progress });
  expect(said.filter((message) => message.startsWith("warning"))).toEqual([]);
  await place.use(tool, { urls: ["https://gone.example/3"] }, { runId: "second", progress });
  expect(said.join("\n")).toContain("warning: gone.example is blacklisted now");
  const third = await place.use(
    tool,
    { urls: ["https://gone.example/4", "https://slow.example/9"] },
    { runId: "third", progress },
  );
  expect(third.text).toMatch(/- skipped: https:\/\/gone\.example\/4 \(blacklisted: 3 pages of gone\.example/);
  expect(asked).not.toContain("https://gone.example/4");
  expect(asked).toContain("https://slow.example/9");
  expect(said.join("\n")).toContain("warning: https://gone.example/4 is skipped, blacklisted");
});

test("documents of this machine that are gone put nothing on the blacklist", async () => {
  const origin = "http://127.0.0.1:4123";
  const documents = {
    has: (url: string) => url.startsWith(origin),
    read: async () => undefined,
    findTarget: async () => undefined,
  };
  const gone = (url: string) => (url.includes("gone") ? failed("not_found") : read(url));
  const tool = crawler(gone, { documents, dataDir: place.workspaceDir });
  const addresses = ["gone1", "gone2", "gone3", "a", "b", "here"].map((name) => `${origin}/key/${name}.md`);
  const { text } = await place.use(tool, { urls: addresses });
  expect(text).toContain(`- success: ${origin}/key/here.md`);
});

test("every page is a file with frontmatter, reported as made, and comes back with its text", async () => {
  const made: string[] = [];
  const tool = crawler((url) => read(url, { author: "Ada", date: "2024-01-02" }));
  await place.use(tool, { urls: urls(1) }, { changed: (path) => void made.push(path) });
  const [name = ""] = pageFiles();
  expect(made).toEqual([join(place.workspaceDir, "search_results", name)]);
  expect(readFileSync(made[0] ?? "", "utf8")).toBe(
    `---\nurl: "https://s1.example/page"\ntitle: "Page https://s1.example/page"\nauthor: "Ada"\ndate: "2024-01-02"\nwords: 3\nstatus: "success"\n---\n\nText of https://s1.example/page.\n`,
  );
  expect(await loadCrawled(place.workspaceDir)).toEqual([
    {
      url: "https://s1.example/page",
      title: "Page https://s1.example/page",
      content: "Text of https://s1.example/page.",
      status: "success",
      author: "Ada",
      date: "2024-01-02",
      words: 3,
      file: `search_results/${name}`,
    },
  ]);
});

test("failures are remembered too, and a workspace without a crawl has nothing", async () => {
  expect(await loadCrawled(place.workspaceDir)).toEqual([]);
  await place.use(
    crawler(() => failed("not_found", "404")),
    { urls: urls(1) },
  );
  expect(await loadCrawled(place.workspaceDir)).toEqual([
    { url: urls(1)[0], title: "", content: "", status: "failed", error_code: "1214", reason: "404" },
  ]);
});

test("a link in place of the folder is not followed", async () => {
  const elsewhere = join(place.root, "elsewhere");
  rmSync(elsewhere, { recursive: true, force: true });
  symlinkSync(place.projectDir, join(place.workspaceDir, "search_results"));
  const { text } = await place.use(crawler(), { urls: urls(1) });
  expect(text).toContain("it could not be saved");
  expect(readdirSync(place.projectDir)).toEqual([]);
});

test("a stopped run stops asking", async () => {
  const stop = new AbortController();
  const tool = crawler(() => {
    stop.abort(new Error("stopped"));
    return new Promise<never>(() => {});
  });
  await expect(place.use(tool, { urls: urls(10) }, { signal: stop.signal })).rejects.toThrow("stopped");
  expect(asked).toEqual(urls(5));
});

test("the beginning of each page is in the result, and the whole stays within a result", async () => {
  const tool = crawler((url) => read(url, { markdown: `${url} ${"word ".repeat(20_000)}` }));
  const { text } = await place.use(tool, { urls: [...urls(10), ...urls(80, 11)] });
  expect(text.length).toBeLessThan(30_000);
  for (const url of urls(10)) expect(text).toContain(`<${url}>\n${url} word word`);
});

test("rights are asked about every host", async () => {
  const tool = crawler();
  const targets = await tool.access(
    { urls: ["https://A.example/1", "http://a.example/2", "http://0x7f.1/", "x"] },
    place,
  );
  expect(targets).toEqual([
    { kind: "host", host: "a.example" },
    { kind: "host", host: "127.0.0.1" },
  ]);
});
