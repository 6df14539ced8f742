import { readMarkdown } from "@retinue/core/text/read-markdown";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ARTICLES, CORPUS } from "../../../../test/fixtures/night-trains.ts";
import { type Article, type Corpus, createCorpus } from "../corpus.ts";
import type { Passage, ResearchReport } from "../report/report.ts";
import { synthesise } from "./synthesise.ts";

const ASKED = { title: "Night trains", request: "Create a comprehensive report on night trains" };

const textOf = ({ content }: Article) =>
  readMarkdown(content)
    .map((block) => (block.kind === "prose" ? block.text : block.rows.flat().join(" ")))
    .join(" ");

function passagesIn(report: ResearchReport): Passage[] {
  return [
    ...report.summary.flat(),
    ...report.themes.flatMap(({ paragraphs }) => paragraphs.flat()),
    ...report.figures.map(({ about }) => about),
    ...report.contradictions.flatMap(({ claims }) => claims),
    ...report.quotes,
  ];
}

/** Everything that a report says is in the source it cites. */
function expectHonest(report: ResearchReport, corpus: Corpus): void {
  const read = corpus.articles.filter(({ status, content }) => status === "success" && content.trim() !== "");
  for (const { text, cites } of passagesIn(report)) {
    expect(cites.length).toBeGreaterThan(0);
    for (const number of cites) {
      const source = read[number - 1];
      expect(source && textOf(source)).toContain(text);
    }
  }
  for (const { value, about } of report.figures) expect(about.text).toContain(value);
  for (const { bars, cites } of report.charts) {
    const held = cites.map((number) => textOf(read[number - 1] as Article)).join(" ");
    for (const { shown } of bars) expect(held).toContain(shown);
  }
  expect(report.sources.map(({ url }) => url)).toEqual(read.map(({ url }) => url));
}

test("every sentence, figure, bar and quotation is in the source it cites, whatever the sources", async () => {
  const noise = fc.array(
    fc.oneof(fc.lorem({ mode: "sentences", maxCount: 4 }), fc.string({ unit: "binary" })),
    {
      maxLength: 5,
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.subarray([...ARTICLES]), noise, fc.string(), async (some, texts, title) => {
      const more = texts.map(
        (content, at): Article => ({ url: `https://n.example/${at}`, title: "", content, status: "success" }),
      );
      const corpus = createCorpus([...some, ...more], new Date(0));
      expectHonest(await synthesise(corpus, { title }), corpus);
    }),
    { numRuns: 60 },
  );
});

test("the same corpus always gives the same report", async () => {
  expect(await synthesise(CORPUS, ASKED)).toEqual(await synthesise(CORPUS, ASKED));
});

test("themes are woven from several sources, none of their sentences twice, and named by what they share", async () => {
  const { themes, summary } = await synthesise(CORPUS, ASKED);
  expect(themes.length).toBeGreaterThanOrEqual(3);
  expect(themes.map(({ heading }) => heading).join("; ")).toMatch(/coach.*track access charges/is);
  const voices = themes.map(
    ({ paragraphs }) => new Set(paragraphs.flat().flatMap(({ cites }) => cites)).size,
  );
  expect(Math.min(...voices)).toBeGreaterThanOrEqual(2);
  const texts = [...summary.flat(), ...themes.flatMap(({ paragraphs }) => paragraphs.flat())].map(
    ({ text }) => text,
  );
  expect(new Set(texts).size).toBe(texts.length);
});

test("figures that differ are set side by side", async () => {
  const { contradictions } = await synthesise(CORPUS, ASKED);
  const pairs = contradictions.map(({ claims }) => claims.flatMap(({ cites }) => cites).sort());
  const topics = contradictions.map(({ topic }) => topic).join("\n");
  expect(topics).toContain("Track access charges: 31 % or 24 %");
  expect(topics).toContain("6.1 million passengers or 4.8 million passengers");
  expect(topics).toContain("$3.2 million or $2.6 million");
  expect(pairs).toContainEqual([2, 3]);
});

test("quotations have their speakers, tables become charts, and what could not be read is told", async () => {
  const { quotes, charts, unread, method, extractive } = await synthesise(CORPUS, ASKED);
  expect(quotes).toContainEqual({
    text: "The train wins by a wide margin, even half empty and on the dirtiest grid we looked at.",
    speaker: "Mara Lindqvist",
    role: "a climate researcher at Sund University",
    cites: [4],
  });
  expect(charts[0]).toEqual({
    title: "Share of revenue by type of place",
    bars: [
      { label: "Private compartment", value: 58, shown: "58 %" },
      { label: "Couchette", value: 29, shown: "29 %" },
      { label: "Seat", value: 13, shown: "13 %" },
    ],
    cites: [1],
  });
  expect(unread).toMatchObject([
    { url: "https://trains.example/gone", title: "https://trains.example/gone", reason: "HTTP 404 (1214)" },
    { url: "https://slow.example/", title: "Slow page", reason: "it took too long (1234)" },
  ]);
  expect(extractive).toBe(true);
  expect(method.join(" ")).toMatch(/extractive.*6 sources/is);
});

test("a corpus of excerpts still gives a report", async () => {
  const excerpts = [
    "… tape costs 4 dollars a terabyte and lasts …",
    "disks fail at 2.1 % a year in archives",
  ].map(
    (content, at): Article => ({
      url: `https://e.example/${at}`,
      title: `E${at}`,
      content,
      status: "success",
    }),
  );
  const corpus = createCorpus(excerpts, new Date(0));
  const report = await synthesise(corpus, { title: "Storage" });
  expectHonest(report, corpus);
  expect(report.summary).toHaveLength(2);
});
