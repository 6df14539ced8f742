import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ARTICLES, CORPUS } from "../../../../test/fixtures/night-trains.ts";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { saveLog } from "../crawl/crawl-log.ts";
import { formatPage } from "../crawl/page-file.ts";
import { CORPUS_SCHEMA } from "../saving/corpus-file.ts";
import { saveCorpus } from "../saving/save-corpus.ts";
import { externalLoads } from "./external-loads.ts";
import { passagesOf } from "./parse-report.ts";
import { placeOf } from "./report.ts";
import type { GivenReport } from "./report-schema.ts";
import { writeLocalFile } from "./write-local-file.ts";

let place: ToolPlace;
beforeEach(() => {
  place = toolPlace();
});
afterEach(() => place.remove());

const file = (path: string) => readFileSync(join(place.workspaceDir, path), "utf8");
const haveCorpus = () =>
  writeFileSync(join(place.workspaceDir, "expanded_corpus.json"), JSON.stringify(CORPUS));
const [first] = ARTICLES;

/** Pages as `crawl_parallel` leaves them. */
async function haveCrawled(): Promise<void> {
  mkdirSync(join(place.workspaceDir, "search_results"));
  const pages = ARTICLES.slice(0, 2).map((article, at) => ({
    ...article,
    file: `search_results/page-${at}.md`,
  }));
  for (const page of pages) writeFileSync(join(place.workspaceDir, page.file), formatPage(page));
  const gone = {
    url: "https://trains.example/gone",
    title: "",
    status: "failed",
    error_code: "1214",
  } as const;
  await saveLog(place.workspaceDir, "run", {
    batches: 1,
    pages: [...pages.map(({ content: _, ...page }) => page), gone].map((page) => ({
      ...page,
      canonical: page.url,
    })),
  });
}

describe("save_corpus", () => {
  test("writes the articles with their counts and answers with where", async () => {
    const articles = [{ url: "https://a.example/", title: "A", content: "Text.", status: "success" }];
    const { text } = await place.use(saveCorpus, { articles, workspace_path: place.workspaceDir });
    expect(JSON.parse(text)).toEqual({
      success: true,
      corpus_path: join(place.workspaceDir, "expanded_corpus.json"),
      articles_saved: 1,
      successful: 1,
    });
    const { extraction_timestamp, ...rest } = JSON.parse(file("expanded_corpus.json"));
    expect(extraction_timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(rest).toEqual({ total_articles: 1, successful: 1, failed: 0, articles });
  });

  test("takes what the host itself read in place of what is said of a page, and adds what was left out", async () => {
    await haveCrawled();
    const articles = [
      { url: `${first?.url}#top`, title: "Invented", content: "Invented.", status: "success" },
    ];
    const { text } = await place.use(saveCorpus, { articles });
    expect(JSON.parse(text)).toMatchObject({ articles_saved: 3, successful: 2 });
    const corpus = JSON.parse(file("expanded_corpus.json"));
    expect(corpus).toMatchObject({ total_articles: 3, successful: 2, failed: 1 });
    expect(corpus.articles[0]).toMatchObject({
      url: first?.url,
      title: first?.title,
      content: first?.content.trim(),
    });
    expect(corpus.articles[2]).toMatchObject({ status: "failed", error_code: "1214", content: "" });
  });

  test("does not count an article without text as read", async () => {
    await place.use(saveCorpus, { articles: [{ url: "https://a.example/", status: "success" }] });
    expect(JSON.parse(file("expanded_corpus.json"))).toMatchObject({
      successful: 0,
      failed: 1,
      articles: [{ status: "failed", reason: "it was not crawled, and no text was given" }],
    });
  });

  test("refuses another folder, an empty corpus, and a file that leads elsewhere", async () => {
    const articles = [{ url: "https://a.example/", content: "x" }];
    const elsewhere = await place.use(saveCorpus, { articles, workspace_path: place.projectDir });
    expect(elsewhere).toMatchObject({ isError: true, text: expect.stringContaining(place.workspaceDir) });
    expect(await place.use(saveCorpus, { articles: [] })).toMatchObject({ isError: true });
    symlinkSync(join(place.projectDir, "stolen.json"), join(place.workspaceDir, "expanded_corpus.json"));
    expect(await place.use(saveCorpus, { articles })).toMatchObject({ isError: true });
  });

  test("is held to the schema that the expert's contract demands", async () => {
    const { loadProject } = await import("../../../runtime/project/load-project.ts");
    const { registry } = await loadProject({ projectDir: place.projectDir, env: { HOME: place.root } });
    const expert = registry.list().find(({ name }) => name === "report-creation-expert");
    expect(expert?.deliverables[0]).toEqual({
      file: "expanded_corpus.json",
      schema: CORPUS_SCHEMA,
      before: ["write_local_file"],
    });
    expect(expert?.tools).toEqual([
      "crawl_parallel",
      "save_corpus",
      "write_local_file",
      "workbench_upload",
      "workbench_download",
    ]);
  });
});

describe("write_local_file", () => {
  test.each(["work_products/a.html", "a.html", "./work_products/a.html", "workspace:work_products/a.html"])(
    "%s is below the work products",
    async (path) => {
      const { text } = await place.use(writeLocalFile, { path, content: "<!DOCTYPE html><p>Hello</p>" });
      expect(text).toBe("Successfully wrote 27 chars to work_products/a.html");
      expect(file("work_products/a.html")).toBe("<!DOCTYPE html><p>Hello</p>");
    },
  );

  test("a whole path to the work products is understood", async () => {
    const path = join(place.workspaceDir, "work_products", "deep", "a.md");
    expect((await place.use(writeLocalFile, { path, content: "x" })).text).toContain(
      "work_products/deep/a.md",
    );
  });

  test.each([
    "../a.html",
    "work_products/../../a.html",
    "/tmp/a.html",
    "work_products/../expanded_corpus.json",
  ])("%s is refused", async (path) => {
    const { isError, text } = await place.use(writeLocalFile, { path, content: "x" });
    expect({ isError, text }).toEqual({
      isError: true,
      text: expect.stringContaining("not below work_products/"),
    });
  });

  test("one way to say what is written must be chosen, and a report's path must say its format", async () => {
    expect(await place.use(writeLocalFile, { path: "a.html" })).toMatchObject({ isError: true });
    const both = { path: "a.html", content: "x", from_corpus: true };
    expect(await place.use(writeLocalFile, both)).toMatchObject({ isError: true });
    expect(await place.use(writeLocalFile, { path: "a.pdf", from_corpus: true })).toMatchObject({
      isError: true,
    });
  });

  test("without a corpus there is no report", async () => {
    const { text, isError } = await place.use(writeLocalFile, { path: "a.html", from_corpus: true });
    expect({ text, isError }).toEqual({
      isError: true,
      text: expect.stringContaining("call save_corpus first"),
    });
  });

  test("from the corpus alone an extractive report is made, and its findings are told", async () => {
    haveCorpus();
    const { text } = await place.use(writeLocalFile, {
      path: "trains.html",
      from_corpus: true,
      title: "Night trains",
      request: "A comprehensive report on night trains",
    });
    expect(text).toMatch(
      /^Successfully wrote \d+ chars to work_products\/trains.html\nExtractive report: 6 sources/,
    );
    expect(text).toMatch(/Key findings:\n- .* \[\d\]/);
    expect(text).toContain("- https://trains.example/gone: HTTP 404 (1214)");
    expect(file("work_products/trains.html")).toContain("A comprehensive report on night trains");
    await place.use(writeLocalFile, { path: "trains.md", from_corpus: true, title: "Night trains" });
    expect(file("work_products/trains.md")).toMatch(/^# Night trains/);
  });

  const report: GivenReport = {
    title: "Night trains",
    summary: ["Demand grows faster than coaches can be built [1, 6]."],
    themes: [
      { heading: "Costs", paragraphs: ["Track access is the largest part [2], though not everywhere [3]."] },
    ],
    figures: [{ value: "31 %", about: "Track access", sources: [2] }],
    quotes: [
      { text: "Nobody should need four browser tabs to buy one bed", speaker: "Dana Whitlock", source: 5 },
    ],
    contradictions: [
      {
        topic: "Profit",
        claims: [
          { text: "It pays.", sources: [3] },
          { text: "It does not.", sources: [2] },
        ],
      },
    ],
  };

  test("a structured report is laid out with its sources, method and failures", async () => {
    haveCorpus();
    const { text, isError } = await place.use(writeLocalFile, { path: "trains.html", report });
    expect({ text, isError }).toEqual({ isError: false, text: expect.stringMatching(/^Successfully wrote/) });
    const html = file("work_products/trains.html");
    expect(html).toContain("Track access is the largest part,<span");
    expect(html).toContain("written by a language model from 6 pages");
    expect(html).toContain("HTTP 404 (1214)");
    expect(html).not.toContain("Extractive");
  });

  test.each<[string, Partial<GivenReport>, string]>([
    ["a citation without a source", { summary: ["So [9]."] }, "cites [9], but there are 6 sources"],
    [
      "a paragraph without a citation",
      { themes: [{ heading: "T", paragraphs: ["So."] }] },
      "cites no source",
    ],
    [
      "an invented quotation",
      { quotes: [{ text: "Trains are simply wonderful", speaker: "X Y", source: 1 }] },
      "does not stand word for word in source 1",
    ],
    [
      "an invented number",
      { figures: [{ value: "99 %", about: "x", sources: [2] }] },
      "“99 %” does not stand in source 2",
    ],
    ["a page that was not read", { sources: ["https://trains.example/gone"] }, "is not a page of the corpus"],
  ])("%s is refused by name", async (_, change, fault) => {
    haveCorpus();
    const { text, isError } = await place.use(writeLocalFile, {
      path: "t.html",
      report: { ...report, ...change },
    });
    expect({ text, isError }).toEqual({ isError: true, text: expect.stringContaining(fault) });
  });

  test("HTML that would load or run something is refused with the list", async () => {
    const content =
      '<!DOCTYPE html><img src="https://e.example/x.png"><script>1</script><p style="background:url(//e)">';
    const { text, isError } = await place.use(writeLocalFile, { path: "a.html", content });
    expect(isError).toBe(true);
    expect(text.split("\n").slice(1)).toEqual([
      '- <img src="https://e.example/x.png">',
      "- <script>",
      "- <p style>: url(//e)",
    ]);
  });
});

test.each([
  "<link rel=stylesheet href=x.css>",
  "<style>@import 'x'</style>",
  "<style>p{background:u\\72l(http://e)}</style>",
  "<svg><image href='http://e/x'/></svg>",
  "<svg><use xlink:href='x.svg#a'/></svg>",
  "<a href='java\tscript:x'>y</a>",
  "<p onclick=x>",
  "<video poster=x>",
  "<img srcset='x 2x'>",
  "<iframe srcdoc=x>",
  "<object data=x>",
  "<meta http-equiv=refresh content='0;url=x'>",
  "<base href=x>",
  "<form action=x>",
  "<template><img src=x></template>",
  "<noscript><img src=x></noscript>",
  "<body background=x>",
  "<p style='background:u\\rl(https://e)'>",
  "<style>@\\import 'x'</style>",
  "<style>p{content:'/*';background:url(https://e);quotes:'*/'}</style>",
  "<style>p{background:image-set(url(#a) 1x, 'https://e' 2x)}</style>",
  "<svg><a><set attributeName=href to='javascript:x'/></a></svg>",
  "<svg><rect mask='url(https://e/x.svg#a)'/></svg>",
])("%s is found to load or run something", async (html) => {
  expect(await externalLoads(html)).not.toEqual([]);
});

test.each([
  "<a href='https://e.example/'>x</a>",
  "<img src='data:image/png;base64,AA=='>",
  "<style>p{fill:url(#a)} /* plain */</style>",
  "<svg><rect fill='url(#a)'/></svg>",
  "<svg><use href='#a'/></svg>",
  "<p>url(http://e) and &lt;script&gt;</p>",
])("%s stands on its own", async (html) => {
  expect(await externalLoads(html)).toEqual([]);
});

test("a text is cut at its citations, which come after the mark that follows them", () => {
  expect(passagesOf("A is so [1]. B [2, 3][4] but C")).toEqual([
    { text: "A is so.", cites: [1] },
    { text: "B", cites: [2, 3, 4] },
    { text: "but C", cites: [] },
  ]);
});

test.each([
  ["https://www.a.example/x", "a.example"],
  ["https://user:word@a.example/x", "a.example"],
  ["http://127.0.0.1:4123/key/a%20b.md", "local document /key/a b.md"],
  ["javascript:x", "javascript:x"],
])("%s is found at %s", (url, place) => {
  expect(placeOf(url)).toBe(place);
});
