import { setImmediate as pause } from "node:timers/promises";
import { pickDiverse } from "../../../text/rank-texts.ts";
import { likeness, termVectors } from "../../../text/term-vectors.ts";
import type { Article, Corpus } from "../corpus.ts";
import { countSources, type Quotation, type Report } from "../report/report.ts";
import { describeSource, unreadIn } from "../report/sources.ts";
import { findCharts } from "./find-charts.ts";
import { findContradictions } from "./find-contradictions.ts";
import { findQuotes } from "./find-quotes.ts";
import { findThemes } from "./find-themes.ts";
import { keyFigures } from "./key-figures.ts";
import { passageOf, type Ranked, rankSentences } from "./rank-sentences.ts";
import { readArticles, type Sentence } from "./read-articles.ts";
import { weaveTheme } from "./weave-theme.ts";

/** What a report is asked for. */
export type Asked = { title: string; request?: string };

const MOST_SUMMARY = 6;
const LEAST_SUMMARY = 3;
const MOST_QUOTES = 6;

/**
 * A report made of the corpus by rules: every sentence in it stands word for word in the source it cites. Sentences are
 * ranked by TextRank, grouped around shared phrases, and chosen so that none repeats another. Other work gets its turn
 * between the steps.
 */
export async function synthesise(corpus: Corpus, { title, request }: Asked): Promise<Report> {
  const articles = corpus.articles.filter(
    ({ status, content }) => status === "success" && content.trim() !== "",
  );
  const sources = articles.map(describeSource);
  const reading = await readArticles(articles);
  const { sentences, tables } = reading;
  await pause();
  const ranked = rankSentences(sentences, `${title} ${request ?? ""}`);
  const quotes = pickQuotes(findQuotes(articles), `${title} ${request ?? ""}`);
  const spoken = new Set([...sentences.keys()].filter((at) => isQuoted(sentences[at], quotes)));
  await pause();
  const clusters = findThemes(reading, ranked.vectors, title);
  const summary = summarise(ranked, clusters, spoken);
  const used = new Set([...spoken, ...summary]);
  const themes = clusters.flatMap((cluster) => weaveTheme(ranked, cluster, used) ?? []);
  await pause();
  const contradictions = findContradictions(ranked);
  return {
    title,
    ...(request && { request }),
    extractive: true,
    summary: summary.map((at) => [passageOf(ranked, at)]),
    figures: keyFigures(ranked, spoken),
    charts: findCharts(tables, contradictions, sources),
    themes,
    quotes,
    contradictions,
    sources,
    unread: unreadIn(corpus),
    method: methodOf(articles, sentences.length),
    extractedAt: corpus.extraction_timestamp,
  };
}

function isQuoted(sentence: Sentence | undefined, quotes: readonly Quotation[]): boolean {
  return sentence !== undefined && quotes.some(({ text }) => sentence.text.includes(text));
}

/** The best sentence of each theme, then the best of all, in the order of their weight. */
function summarise(
  { sentences, vectors, weights }: Ranked,
  clusters: readonly { members: readonly number[] }[],
  spoken: ReadonlySet<number>,
): number[] {
  const free = weights.map((weight, at) =>
    spoken.has(at) || sentences[at]?.dangling || sentences[at]?.ownVoice ? weight / 10 : weight,
  );
  const heads = clusters.map(({ members }) =>
    members.reduce((a, b) => ((free[b] ?? 0) > (free[a] ?? 0) ? b : a)),
  );
  const boosted = free.map((weight, at) => (heads.includes(at) ? weight * 1.6 : weight));
  const count = Math.max(LEAST_SUMMARY, Math.min(MOST_SUMMARY, clusters.length + 1));
  const perSource = new Map<number, number>();
  return pickDiverse(vectors, boosted, {
    count: Math.min(count, sentences.length),
    allowed: (at) => {
      const source = sentences[at]?.sources[0] ?? 0;
      const taken = perSource.get(source) ?? 0;
      perSource.set(source, taken + 1);
      return taken < 2;
    },
  });
}

function pickQuotes(quotes: readonly Quotation[], about: string): Quotation[] {
  const vectors = termVectors([...quotes.map(({ text }) => text), about]);
  const asked = vectors.pop() ?? new Map();
  const weights = vectors.map((vector) => 0.4 + likeness(vector, asked));
  return pickDiverse(vectors, weights, { count: MOST_QUOTES }).flatMap((at) => quotes[at] ?? []);
}

function methodOf(articles: readonly Article[], sentences: number): string[] {
  const words = articles.reduce(
    (sum, { content, words: counted }) => sum + (counted ?? content.match(/\S+/g)?.length ?? 0),
    0,
  );
  const { read, supplied } = countSources(articles);
  const joined = [read, supplied && `${supplied}, which the host did not read itself,`]
    .filter(Boolean)
    .join(" and ");
  return [
    `This report was made by rules, without a language model. It is extractive: each sentence in the summary, the themes and the figures stands word for word in the source it cites; only headings and notes were added.`,
    `${joined} with about ${words.toLocaleString("en")} words ${read ? "were read" : "were taken"}; ${sentences.toLocaleString("en")} sentences were compared with each other, ranked by how much of the others they share, and grouped around the phrases that several sources use.`,
    `Figures, quotations and differences between sources were found by patterns. What the patterns miss is missing here, and a sentence out of its context can mislead: follow the citations before relying on a point.`,
  ];
}
