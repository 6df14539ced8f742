import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ARTICLES, CORPUS } from "../../../../test/fixtures/night-trains.ts";
import { type ToolPlace, toolPlace } from "../../../../test/fixtures/use-tool.ts";
import { CORPUS_SCHEMA } from "../corpus.ts";
import { formatPage, saveLog } from "../crawl/crawl-log.ts";
import { saveCorpus } from "../save-corpus.ts";
import { splitPassages } from "./compose-report.ts";
import { describeAddress, type GivenReport } from "./report.ts";
import { findExternalLoads, writeLocalFile } from "./write-local-file.ts";

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
    const saved = articles.map((article) => ({ ...article, supplied: true }));
    expect(rest).toEqual({ total_articles: 1, successful: 1, failed: 0, articles: saved });
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

  test("pages that the run read come first in the order of their numbers, and only what was given is marked as such", async () => {
    await haveCrawled();
    const [, second] = ARTICLES;
    const own = { url: "https://own.example/", content: "An excerpt.", words: 900 };
    await place.use(saveCorpus, { articles: [own, { url: second?.url }, { url: first?.url }] });
    const { articles }: { articles: Record<string, unknown>[] } = JSON.parse(file("expanded_corpus.json"));
    expect(articles.map(({ url, supplied }) => [url, supplied])).toEqual([
      [first?.url, undefined],
      [second?.url, undefined],
      ["https://trains.example/gone", undefined],
      ["https://own.example/", true],
    ]);
    expect(articles.at(-1)).not.toHaveProperty("words");
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
    const { loadProject } = await import("@retinue/builtin/load-project");
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

  /** The answer to a report in which something differs, and its page if there is one. */
  const writeReport = async (change: Partial<GivenReport>, path = "t.html") => {
    const { text, isError } = await place.use(writeLocalFile, { path, report: { ...report, ...change } });
    return { text, isError, page: isError ? "" : file(`work_products/${path}`) };
  };

  test("citations of the summary stay where they are, as those of the themes do", async () => {
    haveCorpus();
    const text = "Demand grows [1], costs do too [2–3], and nobody (as one says [5]) knows why [6].";
    const { page } = await writeReport({ summary: [text], themes: [{ heading: "T", paragraphs: [text] }] });
    const bare = page.replace(/<[^>]+>/g, "");
    expect(
      bare.split("Demand grows,[1] costs do too,[2][3] and nobody (as one says)[5] knows why.[6]"),
    ).toHaveLength(3);
    const { page: markdown } = await writeReport({ summary: [text] }, "t.md");
    expect(markdown).toContain("- Demand grows, [[1]](#source-1) costs do too, [[2]](#source-2)[[3]]");
  });

  test("citations in the texts of figures and claims are checked and linked once", async () => {
    haveCorpus();
    const figures = [{ value: "31 %", about: "Track access [2]", sources: [2] }];
    expect((await writeReport({ figures })).page).not.toMatch(/Track access\s*\[2\]/);
    const wrong = await writeReport({
      figures: [{ value: "31 %", about: "Track access [9]", sources: [2] }],
    });
    expect(wrong.text).toContain("the figure “31 %” cites [9], but there are 6 sources");
  });

  test("a number of the text that its source does not have is a warning, and the page's notes name it", async () => {
    haveCorpus();
    const { text, isError, page } = await writeReport({
      summary: ["Passengers rose to 7.3 million in 2024 [1]. They were 6.1 million."],
      themes: [
        {
          heading: "Costs",
          paragraphs: ["1. Track access is 31 % [2], on 12 March as well, and staff 28 % [2]."],
        },
      ],
      contradictions: [{ topic: "Aid", claims: [{ text: "It was €211 million.", sources: [2] }] }],
    });
    expect(isError).toBe(false);
    expect(text.match(/^- .*$/gm)).toEqual([
      expect.stringMatching(
        /“7.3 million” in point 1 of the summary does not stand in source 1: .*nearest there: “Night trains carried 6.1 million/,
      ),
      expect.stringMatching(/“28 %” in paragraph 1 of “Costs” does not stand in source 2/),
      expect.stringMatching(/“211 million” in the contradiction “Aid” does not stand in source 2/),
    ]);
    expect(page).toContain(
      "“7.3 million” (point 1 of the summary), “28 %” (paragraph 1 of “Costs”), “211 million” (the contradiction “Aid”)",
    );
  });

  test("numbers of a chart must be in its sources, however they are written", async () => {
    haveCorpus();
    const chart = (bars: { label: string; value: number; shown?: string }[]) => [
      { title: "Cost", bars, sources: [2] },
    ];
    const good = [
      { label: "Track access", value: 31 },
      { label: "Trips", value: 4, shown: "4" },
      { label: "Aid", value: 210_000_000, shown: "€210m" },
      { label: "Nobody", value: 0 },
    ];
    expect(await writeReport({ charts: chart(good) })).toMatchObject({
      isError: false,
      text: expect.not.stringContaining("Warning"),
    });
    const { text } = await writeReport({ charts: chart([{ label: "Energy", value: 13 }]) });
    expect(text).toContain("“13” for “Energy” in the chart “Cost” does not stand in source 2");
    const drawn = await writeReport({ charts: chart([{ label: "Energy", value: 99, shown: "12 %" }]) });
    expect(drawn.text).toContain("is drawn as 99, but says “12 %”");
  });

  test.each<[string, Partial<GivenReport>, RegExp]>([
    ["a citation", { summary: ["So [9]."] }, /cite one of \[1\] to \[6\], or take the claim out/],
    [
      "a paragraph",
      { themes: [{ heading: "T", paragraphs: ["So."] }] },
      /put the number of its source in brackets.*or take the paragraph out/,
    ],
    [
      "a quotation of another source",
      { quotes: [{ text: "Nobody should need four browser tabs", speaker: "X", source: 1 }] },
      /it stands in \[5\], cite that/,
    ],
    [
      "a quotation in other words",
      { quotes: [{ text: "A bed is sold one time a night, the arithmetic is so", speaker: "X", source: 2 }] },
      /quote the words as they are there \(the nearest there: ““A bed sells once a night.*” \[2\]\), or say it in your own words with \[2\]/,
    ],
    [
      "a number of another source",
      { figures: [{ value: "31 %", about: "Track access", sources: [1] }] },
      /31 % stands in \[2\], cite that, or take the number out/,
    ],
    [
      "a number of no source",
      { figures: [{ value: "33 %", about: "Track access charges", sources: [2] }] },
      /write the number as the source has it \(the nearest there: “Track access.*” \[2\]\), or take it out/,
    ],
    [
      "a second number of a figure",
      { figures: [{ value: "31 % of 77 coaches", about: "Track access", sources: [2] }] },
      /“31 % of 77 coaches” does not stand in source 2/,
    ],
    [
      "a source",
      { sources: ["https://trains.example/gone"] },
      /accepted in sources are the addresses of these.*\[1\] The return of the night train <https:/,
    ],
  ])("the refusal of %s says what would be accepted", async (_, change, remedy) => {
    haveCorpus();
    const { text, isError } = await writeReport(change);
    expect({ text, isError }).toEqual({ isError: true, text: expect.stringMatching(remedy) });
  });

  test("what the agent gave itself is not counted as read, in the page and in the answer", async () => {
    await haveCrawled();
    const given = ARTICLES.slice(2, 4).map(({ url, title, content }) => ({ url, title, content }));
    await place.use(saveCorpus, { articles: given });
    const { page } = await writeReport({ figures: [], quotes: [], contradictions: [], summary: ["So [4]."] });
    expect(page).toContain("from 2 pages that were read for it, and from 2 excerpts given by the agent");
    expect(page).toContain(
      "<strong>2</strong> sources</li><li><strong>2</strong> excerpts given by the agent",
    );
    expect(page).toMatch(/<li id="source-3">.*excerpt given by the agent/);
    expect(page).not.toMatch(/<li id="source-2">.*excerpt given by the agent/);
    const { text } = await place.use(writeLocalFile, { path: "e.md", from_corpus: true });
    expect(text).toContain("4 sources (2 excerpts given by the agent among them)");
    expect(file("work_products/e.md")).toMatch(/2 sources, read on .*, and 2 excerpts given by the agent/);
  });

  test("files of the project and the workspace are named by their paths there", async () => {
    const inside = { title: "", content: "A text of some words." };
    const articles = [
      { url: join(place.workspaceDir, "search_results", "a.md"), ...inside },
      { url: "workspace:notes/b.md", ...inside },
      { url: `file://${place.projectDir}/docs/c.md`, ...inside },
      { url: "project:docs/d.md", ...inside },
      { url: "/elsewhere/deep/e.md", ...inside },
    ];
    await place.use(saveCorpus, { articles });
    await place.use(writeLocalFile, { path: "f.html", from_corpus: true });
    const page = file("work_products/f.html");
    for (const name of ["search_results/a.md", "notes/b.md", "docs/c.md", "docs/d.md", "e.md"])
      expect(page).toContain(`local document ${name} ·`);
    expect(page).not.toContain(place.root);
    expect(page).not.toMatch(/workspace:|project:|\/elsewhere/);
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
  expect(await findExternalLoads(html)).not.toEqual([]);
});

test.each([
  "<a href='https://e.example/'>x</a>",
  "<img src='data:image/png;base64,AA=='>",
  "<style>p{fill:url(#a)} /* plain */</style>",
  "<svg><rect fill='url(#a)'/></svg>",
  "<svg><use href='#a'/></svg>",
  "<p>url(http://e) and &lt;script&gt;</p>",
])("%s needs nothing else", async (html) => {
  expect(await findExternalLoads(html)).toEqual([]);
});

test("a text is cut at its citations, which come after the mark that follows them", () => {
  expect(splitPassages("A is so [1]. B [2, 3][4] but C")).toEqual([
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
  expect(describeAddress(url)).toBe(place);
});
