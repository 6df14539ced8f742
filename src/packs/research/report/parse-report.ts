import { inlineText, readMarkdown } from "../../../text/read-markdown.ts";
import type { Article, Corpus } from "../corpus.ts";
import type { Passage, Report } from "./report.ts";
import type { GivenReport } from "./report-schema.ts";
import { sourceOf, unreadIn } from "./sources.ts";

const MARKS = /\s*((?:\[\d{1,3}(?:\s*,\s*\d{1,3})*\]\s*)+)/g;

/** A report held against its corpus: the report, or what is wrong with it, a line each. */
export function parseReport(given: GivenReport, corpus: Corpus): Report | { faults: string[] } {
  const read = corpus.articles.filter(({ status, content }) => status === "success" && content.trim() !== "");
  const found = given.sources?.map((url) => read.find((article) => article.url === url)) ?? read;
  const unknown = (given.sources ?? []).filter((_, at) => found[at] === undefined);
  if (unknown.length > 0)
    return { faults: unknown.map((url) => `source ${url} is not a page of the corpus that was read`) };
  const articles = found.filter((article) => article !== undefined);
  const report = assemble(given, articles, corpus);
  const faults = [
    ...faultsOfCitations(report),
    ...faultsOfQuotes(given, articles),
    ...faultsOfFigures(given, articles),
  ];
  return faults.length > 0 ? { faults } : report;
}

function assemble(given: GivenReport, articles: readonly Article[], corpus: Corpus): Report {
  return {
    title: given.title,
    extractive: false,
    summary: given.summary.flatMap((text) => whole(passagesOf(text))),
    figures: (given.figures ?? []).map(({ value, about, sources }) => ({
      value,
      about: { text: about, cites: sources },
    })),
    charts: (given.charts ?? []).map(({ title, bars, sources }) => ({
      title,
      bars: bars.map(({ label, value, shown = String(value) }) => ({ label, value, shown })),
      cites: sources,
    })),
    themes: given.themes.map(({ heading, paragraphs }) => ({
      heading,
      paragraphs: paragraphs.map(passagesOf),
    })),
    quotes: (given.quotes ?? []).map(({ source, ...quote }) => ({ ...quote, cites: [source] })),
    contradictions: (given.contradictions ?? []).map(({ topic, note = "", claims }) => ({
      topic,
      note,
      claims: claims.map(({ text, sources }) => ({ text, cites: sources })),
    })),
    sources: articles.map(sourceOf),
    unread: unreadIn(corpus),
    method: [
      `This report was written by a language model from ${articles.length} ${articles.length === 1 ? "page" : "pages"} that were read for it. The host checked that every citation leads to a page that was read, that quotations stand there word for word, and that the numbers of the key figures stand there; it did not check what the model concludes.`,
    ],
    extractedAt: corpus.extraction_timestamp,
  };
}

/** A text in pieces that each end with their citations; a mark that follows a citation goes before it. */
export function passagesOf(text: string): Passage[] {
  const passages: Passage[] = [];
  let from = 0;
  for (const match of text.matchAll(MARKS)) {
    const end = match.index + match[0].length;
    const mark = /^[.,;:!?]+/.exec(text.slice(end))?.[0] ?? "";
    const piece = text.slice(from, match.index).trim() + mark;
    const cites = [...match[0].matchAll(/\d+/g)].map(([number]) => Number(number));
    passages.push({ text: piece, cites });
    from = end + mark.length;
  }
  const rest = text.slice(from).trim();
  return rest === "" ? passages : [...passages, { text: rest, cites: [] }];
}

/** A point of the summary stays one point: its pieces are put together, its citations at the end. */
function whole(passages: readonly Passage[]): Passage[] {
  const text = passages
    .map((passage) => passage.text)
    .join(" ")
    .trim();
  return text === "" ? [] : [{ text, cites: [...new Set(passages.flatMap(({ cites }) => cites))] }];
}

function faultsOfCitations({ sources, ...report }: Report): string[] {
  const faults: string[] = [];
  const check = (cites: readonly number[], where: string) => {
    for (const number of cites)
      if (number < 1 || number > sources.length)
        faults.push(`${where} cites [${number}], but there are ${sources.length} sources`);
  };
  for (const [at, { cites }] of report.summary.entries()) check(cites, `point ${at + 1} of the summary`);
  for (const { heading, paragraphs } of report.themes) {
    for (const [at, paragraph] of paragraphs.entries()) {
      const cites = paragraph.flatMap((passage) => passage.cites);
      const where = `paragraph ${at + 1} of “${heading}”`;
      check(cites, where);
      if (cites.length === 0) faults.push(`${where} cites no source`);
    }
  }
  for (const { value, about } of report.figures) check(about.cites, `the figure “${value}”`);
  for (const { title, cites } of report.charts) check(cites, `the chart “${title}”`);
  for (const { speaker, cites } of report.quotes) check(cites, `the quotation of ${speaker}`);
  for (const { topic, claims } of report.contradictions)
    for (const { cites } of claims) check(cites, `the contradiction “${topic}”`);
  return faults;
}

function faultsOfQuotes({ quotes = [] }: GivenReport, articles: readonly Article[]): string[] {
  return quotes.flatMap(({ text, source }) => {
    const article = articles[source - 1];
    if (!article || plain(article).includes(bare(text))) return [];
    return [`the quotation “${text.slice(0, 60)}” does not stand word for word in source ${source}`];
  });
}

function faultsOfFigures({ figures = [] }: GivenReport, articles: readonly Article[]): string[] {
  return figures.flatMap(({ value, sources }) => {
    const [number] = value.replaceAll(/(?<=\d)[,\u00a0\u202f](?=\d{3})/g, "").match(/\d+(?:\.\d+)?/) ?? [];
    const held = sources.map((source) => articles[source - 1]).filter((article) => article !== undefined);
    if (number === undefined || held.length === 0) return [];
    const pattern = new RegExp(`(?<![\\d.])${number.replace(".", "\\.")}(?!\\d)`);
    const stands = held.some(({ content }) =>
      pattern.test(content.replaceAll(/(?<=\d)[,\u00a0\u202f](?=\d{3})/g, "")),
    );
    return stands ? [] : [`the figure “${value}” does not stand in source ${sources.join(", ")}`];
  });
}

function plain({ content }: Article): string {
  const blocks = readMarkdown(content).map((block) =>
    block.kind === "prose" ? block.text : block.rows.flat().join(" "),
  );
  return bare(blocks.join(" "));
}

/** Without differences that do not change the words: kinds of quotation marks, dashes and spaces, and the last mark. */
function bare(text: string): string {
  return inlineText(text)
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/[–—]/g, "-")
    .replace(/[.,;]?"?$/, "")
    .toLowerCase();
}
