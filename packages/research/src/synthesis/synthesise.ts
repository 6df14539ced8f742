import { setImmediate as pause } from "node:timers/promises";
import { showNumber } from "@retinue/core/show/measures";
import { likeness, pickDiverse, termVectors } from "@retinue/core/text/rank-texts";
import { inlineText, readMarkdown } from "@retinue/core/text/read-markdown";
import { type Article, type Corpus, hasText } from "../corpus.ts";
import {
  countSources,
  describeSource,
  listUnread,
  type Quotation,
  type ResearchReport,
} from "../report/report.ts";
import { findCharts, pickKeyFigures } from "./figures.ts";
import { findContradictions } from "./find-contradictions.ts";
import { findThemes, type ThemeCluster, weaveTheme } from "./find-themes.ts";
import {
  citeSentence,
  pickSentences,
  type RankedSentence,
  rankSentences,
  readArticles,
} from "./rank-sentences.ts";

/** What a report is asked for. */
type SynthesisRequest = { title: string; request?: string };

const MOST_SUMMARY = 6;
const LEAST_SUMMARY = 3;
const SUMMARY_PER_SOURCE = 2;
const MOST_QUOTES = 6;

/**
 * A report made of the corpus by rules: every sentence in it is word for word in the source it cites. Sentences are
 * ranked by TextRank, grouped around shared phrases, and chosen so that none repeats another. Other work gets its turn
 * between the steps.
 */
export async function synthesise(
  corpus: Corpus,
  { title, request }: SynthesisRequest,
): Promise<ResearchReport> {
  const articles = corpus.articles.filter(hasText);
  const sources = articles.map(describeSource);
  const reading = await readArticles(articles);
  await pause();
  const ranked = rankSentences(reading.sentences, `${title} ${request ?? ""}`);
  const quotes = pickQuotes(findQuotes(articles), `${title} ${request ?? ""}`);
  const spoken = new Set(
    ranked.filter((sentence) => quotes.some(({ text }) => sentence.text.includes(text))),
  );
  await pause();
  const clusters = findThemes(ranked, reading.headings, title);
  const summary = pickSummary(ranked, clusters, spoken);
  const used = new Set([...spoken, ...summary]);
  const themes = clusters.flatMap((cluster) => weaveTheme(cluster, ranked, used) ?? []);
  await pause();
  const contradictions = findContradictions(ranked);
  return {
    title,
    ...(request && { request }),
    extractive: true,
    summary: summary.map((sentence) => [citeSentence(sentence, ranked)]),
    figures: pickKeyFigures(ranked, spoken),
    charts: findCharts(reading.tables, contradictions, sources),
    themes,
    quotes,
    contradictions,
    sources,
    unread: listUnread(corpus),
    method: describeMethod(articles, ranked.length),
    extractedAt: corpus.extraction_timestamp,
  };
}

/** The best sentence of each theme, then the best of all, in the order of their weight. */
function pickSummary(
  sentences: readonly RankedSentence[],
  clusters: readonly ThemeCluster[],
  spoken: ReadonlySet<RankedSentence>,
): RankedSentence[] {
  const weigh = (sentence: RankedSentence) =>
    spoken.has(sentence) || sentence.dangling || sentence.ownVoice ? sentence.weight / 10 : sentence.weight;
  const heads = new Set(
    clusters.map(({ members }) => members.reduce((a, b) => (weigh(b) > weigh(a) ? b : a))),
  );
  const candidates = sentences.map((sentence) => ({
    sentence,
    worth: weigh(sentence) * (heads.has(sentence) ? 1.6 : 1),
  }));
  const count = Math.max(LEAST_SUMMARY, Math.min(MOST_SUMMARY, clusters.length + 1));
  const picked = pickSentences(candidates, { count, perSource: SUMMARY_PER_SOURCE });
  return picked.map(({ sentence }) => sentence);
}

function pickQuotes(quotes: readonly Quotation[], about: string): Quotation[] {
  const vectors = termVectors([...quotes.map(({ text }) => text), about]);
  const asked = vectors.pop() ?? new Map();
  const weights = vectors.map((vector) => 0.4 + likeness(vector, asked));
  return pickDiverse(vectors, weights, { count: MOST_QUOTES }).flatMap((at) => quotes[at] ?? []);
}

function describeMethod(articles: readonly Article[], sentences: number): string[] {
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
    `${joined} with about ${showNumber(words)} words ${read ? "were read" : "were taken"}; ${showNumber(sentences)} sentences were compared with each other, ranked by how much of the others they share, and grouped around the phrases that several sources use.`,
    `Figures, quotations and differences between sources were found by patterns. What the patterns miss is missing here, and a sentence out of its context can mislead: follow the citations before relying on a point.`,
  ];
}

const WORD = "\\p{Lu}[\\p{L}'’-]{0,30}";
const TITLE = "(?:(?:Dr|Prof|Professor|Mr|Mrs|Ms|Sir|Dame)\\.?\\s)?";
/** A name of two to four words, so that a sentence's first word is not taken for one. */
const NAME = `${TITLE}(?<name>${WORD}(?:\\s(?:van|von|de|del|der|da|di|du|la|le|bin|al|den|\\p{Lu}\\.|${WORD})){1,3})`;
const SAID =
  "(?:said|says|told|wrote|writes|explained|explains|argued|argues|warned|warns|noted|notes|added|adds|recalled|recalls|observed|observes|admitted|admits|insisted|insists|concluded|concludes|stressed|stresses|put it|puts it|remarked|remarks|cautioned|cautions|recommended|recommends|replied|replies)";
const ROLE = '(?:,\\s(?<role>[^,.;:“”"]{3,90}))?';
const QUOTED = '[“"](?<text>[^“”"]{25,420})[”"]';

/** The ways in which a quotation and its speaker stand together. */
const FORMS = [
  `${QUOTED},?\\s${SAID}\\s${NAME}${ROLE}`,
  `${QUOTED},?\\s${NAME}${ROLE},?\\s${SAID}\\b`,
  `${NAME}${ROLE},?\\s${SAID}(?:\\s(?:that|us|in|at|to)\\b[^.“"]{0,60})?[,:]\\s?${QUOTED}`,
  `${QUOTED},?\\saccording to\\s${NAME}${ROLE}`,
].map((form) => new RegExp(form, "gu"));
const MAX_CHARS = 200_000;
const MAX_PER_SOURCE = 2;
const LEAST_WORDS = 5;

/** What named people say in the articles, word for word; a quotation without a speaker is none. */
export function findQuotes(articles: readonly Article[]): Quotation[] {
  return articles.flatMap((article, at) =>
    findQuotesIn(article.content.slice(0, MAX_CHARS), at + 1).slice(0, MAX_PER_SOURCE),
  );
}

function findQuotesIn(content: string, source: number): Quotation[] {
  const found = new Map<string, Quotation>();
  for (const block of readMarkdown(content)) {
    if (block.kind !== "prose" || !/[“"]/.test(block.text)) continue;
    for (const form of FORMS) {
      for (const { groups = {} } of block.text.slice(0, 5_000).matchAll(form)) {
        const text = inlineText(groups.text ?? "").replace(/,$/, "");
        const speaker = groups.name ?? "";
        const role = readRole(groups.role);
        if (text.split(" ").length < LEAST_WORDS || found.has(text)) continue;
        found.set(text, { text, speaker, ...(role && { role }), cites: [source] });
      }
    }
  }
  return [...found.values()];
}

/** What follows a name is a role only if it names a thing somebody is, and not the rest of the sentence. */
function readRole(text: string | undefined): string | undefined {
  const role = text?.trim() ?? "";
  return /^(?:a|an|the|who)?\s*\p{L}/u.test(role) &&
    !/\b(?:was|were|is|are|had|has|and then|but)\b/.test(role)
    ? role
    : undefined;
}
