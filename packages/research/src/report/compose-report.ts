import { showCount } from "@retinue/core/show/measures";
import type { ToolContext } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { type Article, type Corpus, hasText, loadCorpus } from "../corpus.ts";
import { synthesise } from "../synthesis/synthesise.ts";
import { checkReport } from "./check-report.ts";
import { renderHtml } from "./render-html.ts";
import { renderMarkdown } from "./render-markdown.ts";
import {
  countSources,
  describeSource,
  type GivenReport,
  listUnread,
  type Passage,
  type ResearchReport,
} from "./report.ts";

const MAX_FINDING = 300;
const MAX_FINDINGS = 6;
const MAX_WARNINGS = 20;

/** What a report is made of: what a model wrote, or, without that, the corpus alone. */
export type ReportRequest = { report?: GivenReport; title?: string; request?: string };

/** A report as the text of a file, with what is worth telling of it; or why there is none, which may quote sources. */
export async function composeReport(
  input: ReportRequest,
  path: string,
  { workspaceDir, runId }: Pick<ToolContext, "workspaceDir" | "runId">,
): Promise<{ content: string; notes: string[] } | { refused: string; quotes?: true }> {
  const corpus = await loadCorpus(workspaceDir, runId);
  if (typeof corpus === "string") return { refused: corpus };
  if (corpus.articles.every(({ status }) => status !== "success"))
    return {
      refused:
        "no page of the corpus could be read, so there is nothing to report on; call save_corpus again with url, title and content of what you have, such as search results",
    };
  const { report: given, title = "Report", request } = input;
  const made = given
    ? parseGivenReport(given, corpus)
    : { report: await synthesise(corpus, { title, ...(request && { request }) }), warnings: [] };
  if ("faults" in made)
    return {
      refused: `the report was not written:\n${listLines(made.faults)}\nCorrect these places and write it again.`,
      quotes: true,
    };
  const report = { ...made.report, ...(request && { request }) };
  const content = /\.md$/i.test(path) ? renderMarkdown(report) : renderHtml(report);
  return { content, notes: given ? describeWarnings(made.warnings) : describeExtract(report) };
}

function listLines(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** For those who wrote a report with numbers that its sources do not have. */
function describeWarnings(warnings: readonly string[]): string[] {
  if (warnings.length === 0) return [];
  const more = warnings.length - MAX_WARNINGS;
  return [
    "Warning: these numbers were not found in the sources cited for them, and the report's notes say so:",
    listLines(warnings.slice(0, MAX_WARNINGS)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

/** For those who asked for a report without reading the corpus themselves. */
function describeExtract({
  summary,
  sources,
  themes,
  figures,
  quotes,
  contradictions,
  unread,
}: ResearchReport): string[] {
  const findings = summary
    .slice(0, MAX_FINDINGS)
    .flat()
    .map(
      ({ text, cites }) => `- ${cutAt(text, MAX_FINDING)} ${cites.map((number) => `[${number}]`).join("")}`,
    );
  const cited = [
    ...new Set(summary.slice(0, MAX_FINDINGS).flatMap((point) => point.flatMap(({ cites }) => cites))),
  ].sort((a, b) => a - b);
  const { supplied } = countSources(sources);
  return [
    `Extractive report: ${showCount(sources.length, "source")}${supplied && ` (${supplied} among them)`}, ${showCount(themes.length, "theme")}, ${showCount(figures.length, "key figure")}, ${showCount(quotes.length, "quotation")}, ${showCount(contradictions.length, "contradiction")}; ${showCount(unread.length, "page")} could not be read.`,
    ...(findings.length > 0 ? ["Key findings:", ...findings] : []),
    ...cited.map((number) => `[${number}] ${sources[number - 1]?.title ?? ""}`),
    ...(unread.length > 0 ? ["Could not be read:"] : []),
    ...unread
      .slice(0, MAX_FINDINGS * 2)
      .map(({ url, reason }) => `- ${cutAt(url, 200)}: ${cutAt(reason, 200)}`),
  ];
}

/** Numbers in brackets: [3], [1, 4] or [2–5]. */
const MARKS = /\s*((?:\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]\s*)+)/g;
const MAX_NOTED = 30;

/** A report that holds against its corpus, with warnings for who wrote it; or what is wrong with it, a line each. */
type ParsedReport = { report: ResearchReport; warnings: string[] } | { faults: string[] };

/** Compares a report with its corpus. Wrong citations, quotations, figures and charts are faults; other numbers are noted. */
function parseGivenReport(given: GivenReport, corpus: Corpus): ParsedReport {
  const read = corpus.articles.filter(hasText);
  const found = given.sources?.map((url) => read.find((article) => article.url === url)) ?? read;
  const unknown = (given.sources ?? []).filter((_, at) => found[at] === undefined);
  const known = read.map(({ title, url }, at) => `[${at + 1}] ${title.trim() || url} <${url}>`);
  if (unknown.length > 0)
    return {
      faults: [
        ...unknown.map((url) => `source ${url} is not a page of the corpus that was read: take it out`),
        `accepted in sources are the addresses of these; without sources they have these numbers: ${known.join("; ")}`,
      ],
    };
  const articles = found.filter((article) => article !== undefined);
  const report = assembleReport(given, articles, corpus);
  const { faults, warnings } = checkReport(report, articles);
  if (faults.length > 0) return { faults };
  if (warnings.length === 0) return { report, warnings: [] };
  const noted = warnings.slice(0, MAX_NOTED).map(({ number, where }) => `“${number}” (${where})`);
  const rest = warnings.length > MAX_NOTED ? `, and ${warnings.length - MAX_NOTED} more` : "";
  const note = `Numbers that the host did not find as they are written in the sources cited for them, so that they are computed, rounded or wrong: ${noted.join(", ")}${rest}.`;
  return {
    report: { ...report, method: [...report.method, note] },
    warnings: warnings.map(({ text }) => text),
  };
}

function assembleReport(given: GivenReport, articles: readonly Article[], corpus: Corpus): ResearchReport {
  const cut = (text: string) => splitPassages(text, articles.length);
  const state = (text: string, sources: readonly number[]) => joinStatement(cut(text), sources);
  return {
    title: given.title,
    extractive: false,
    summary: given.summary.map(cut).filter((point) => point.length > 0),
    figures: (given.figures ?? []).map(({ value, about, sources }) => ({
      value,
      about: state(about, sources),
    })),
    charts: (given.charts ?? []).map(({ title, bars, sources }) => ({
      title,
      bars: bars.map(({ label, value, shown = String(value) }) => ({ label, value, shown })),
      cites: sources,
    })),
    themes: given.themes.map(({ heading, paragraphs }) => ({
      heading,
      paragraphs: paragraphs.map(cut),
    })),
    quotes: (given.quotes ?? []).map(({ source, role, ...quote }) => ({
      ...quote,
      ...(role !== undefined && { role }),
      cites: [source],
    })),
    contradictions: (given.contradictions ?? []).map(({ topic, note = "", claims }) => ({
      topic,
      note,
      claims: claims.map(({ text, sources }) => state(text, sources)),
    })),
    sources: articles.map(describeSource),
    unread: listUnread(corpus),
    method: [describeMethod(articles)],
    extractedAt: corpus.extraction_timestamp,
  };
}

function describeMethod(articles: readonly Article[]): string {
  const { supplied } = countSources(articles);
  const pages = articles.filter((article) => !article.supplied).length;
  const read = pages > 0 ? `${showCount(pages, "page")} that were read for it` : "";
  const given = supplied && `${supplied}, which the host did not read itself`;
  return `This report was written by a language model from ${[read, given].filter(Boolean).join(", and from ")}. The host checked that every citation leads to a source, that quotations stand there word for word, and that the numbers of key figures and charts stand there; it looked for the other numbers in the sources cited for them. It did not check what the model concludes.`;
}

/** A text in pieces that each end with their citations of `count` sources; a mark that follows a citation goes before it. */
export function splitPassages(text: string, count = 999): Passage[] {
  const passages: Passage[] = [];
  let from = 0;
  for (const match of text.matchAll(MARKS)) {
    const cites = [...match[0].matchAll(/\[([^\]]+)\]/g)].map(([, inner = ""]) =>
      readCitedNumbers(inner, count),
    );
    if (cites.includes(null)) continue;
    const end = match.index + match[0].length;
    const mark = /^[.,;:!?)”»]+/.exec(text.slice(end))?.[0] ?? "";
    const piece = text.slice(from, match.index).trim() + mark;
    passages.push({ text: piece, cites: cites.flatMap((each) => each ?? []) });
    from = end + mark.length;
  }
  const rest = text.slice(from).trim();
  return rest === "" ? passages : [...passages, { text: rest, cites: [] }];
}

/** The numbers between two brackets; null if they are a range that leads beyond the sources, so that it cites nothing. */
function readCitedNumbers(inner: string, count: number): number[] | null {
  const numbers: number[] = [];
  for (const part of inner.split(/[,;]/)) {
    const [first = 0, last = first] = [...part.matchAll(/\d+/g)].map(Number);
    if (last !== first && (last < first || last > count)) return null;
    for (let number = first; number <= last; number++) numbers.push(number);
  }
  return numbers;
}

/** A statement that names its sources: those in its text go with the others to its end. */
function joinStatement(passages: readonly Passage[], sources: readonly number[]): Passage {
  const text = passages.map((passage) => passage.text).join(" ");
  return { text, cites: [...new Set([...passages.flatMap(({ cites }) => cites), ...sources])] };
}
