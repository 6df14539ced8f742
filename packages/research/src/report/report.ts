import { list, type Shape, shape, type TypeIn, textWith } from "@retinue/core/schema/shape";
import { showCount } from "@retinue/core/show/measures";
import { type Article, type Corpus, hasText } from "../corpus.ts";

/** A piece of text and the sources that say it, by their numbers in the list of sources, from 1. */
export type Passage = {
  readonly text: string;
  readonly cites: readonly number[];
  /** Other sources that say something close to it. */
  readonly also?: readonly number[];
};

/** One theme, woven from all sources that speak of it. */
export type Theme = { readonly heading: string; readonly paragraphs: readonly (readonly Passage[])[] };

/** A number that matters, as it is written in its source. */
export type KeyFigure = { readonly value: string; readonly about: Passage };

/** Figures of one kind side by side. */
export type ReportChart = {
  readonly title: string;
  readonly bars: readonly { readonly label: string; readonly value: number; readonly shown: string }[];
  readonly cites: readonly number[];
};

/** What somebody said, word for word. */
export type Quotation = {
  readonly text: string;
  readonly speaker: string;
  readonly role?: string;
  readonly cites: readonly number[];
};

/** Statements of different sources that do not go together. */
export type Contradiction = {
  readonly topic: string;
  readonly note: string;
  readonly claims: readonly Passage[];
};

/** One source of a report. */
export type Source = Readonly<
  Pick<Article, "title" | "url" | "author" | "date" | "words" | "file" | "supplied" | "place">
>;

/** A page that could not be read, and why. */
type UnreadPage = Pick<Source, "url" | "title" | "place"> & { readonly reason: string };

/** A report, independent of how it is written down. */
export type ResearchReport = {
  readonly title: string;
  /** What was asked for, in the person's words. */
  readonly request?: string;
  /** Whether its sentences are taken from the sources as they stand, without a model. */
  readonly extractive: boolean;
  /** Its points, each in pieces that end with their citations. */
  readonly summary: readonly (readonly Passage[])[];
  readonly figures: readonly KeyFigure[];
  readonly charts: readonly ReportChart[];
  readonly themes: readonly Theme[];
  readonly quotes: readonly Quotation[];
  readonly contradictions: readonly Contradiction[];
  readonly sources: readonly Source[];
  readonly unread: readonly UnreadPage[];
  readonly method: readonly string[];
  /** ISO 8601, when the pages were read. */
  readonly extractedAt: string;
};

const text = (maxLength: number) => textWith({ minLength: 1, maxLength });
const upTo = <Type>(items: Shape<Type>, maxItems: number) => list(items, { maxItems });
const sourceNumber: Shape<number> = { type: "integer", minimum: 1 };
const sources = list(sourceNumber, { minItems: 1, maxItems: 50 });
const amount: Shape<number> = { type: "number", minimum: 0 };
const address: Shape<string> = {
  ...text(4_000),
  description: "Addresses from the corpus, in the order of their numbers.",
};

/** A report as a model gives it: [n] in its texts is the n-th source, of the pages that were read if it names none. */
export const REPORT_SCHEMA = shape({
  title: text(300),
  summary: upTo(text(3_000), 20),
  themes: upTo(shape({ heading: text(300), paragraphs: upTo(text(8_000), 40) }), 30),
  "figures?": upTo(shape({ value: text(60), about: text(600), sources }), 40),
  "charts?": upTo(
    shape({
      title: text(200),
      bars: upTo(shape({ label: text(120), value: amount, "shown?": text(40) }), 20),
      sources,
    }),
    10,
  ),
  "quotes?": upTo(
    shape({ text: text(2_000), speaker: text(200), "role?": text(200), source: sourceNumber }),
    30,
  ),
  "contradictions?": upTo(
    shape({
      topic: text(300),
      "note?": text(1_000),
      claims: upTo(shape({ text: text(2_000), sources }), 10),
    }),
    20,
  ),
  "sources?": upTo(address, 100),
});

/** What fits `REPORT_SCHEMA`. */
export type GivenReport = TypeIn<typeof REPORT_SCHEMA>;

const HERE = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/;

/** The address of a page that a link may lead to; null for anything but a page of the web, and for this machine's own. */
export function findLink(url: string): string | null {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return null;
  if (HERE.test(parsed.hostname)) return null;
  return parsed.username || parsed.password ? null : parsed.href;
}

/** What a report says of a text that the host did not read itself. */
export const SUPPLIED = "excerpt given by the agent";

/** Sources that the host read, and excerpts that an agent gave, counted in words: the one must not pass for the other. */
export function countSources(sources: readonly Pick<Source, "supplied">[]): {
  read: string;
  supplied: string;
} {
  const supplied = sources.filter((source) => source.supplied).length;
  const read = sources.length - supplied;
  return {
    read: read > 0 || supplied === 0 ? showCount(read, "source") : "",
    supplied: supplied > 0 ? showCount(supplied, SUPPLIED, "excerpts given by the agent") : "",
  };
}

/** Where a source was found, as people read it: the host, or the path of a document of this machine. */
export function describePlace({ url, place }: Pick<Source, "url" | "place">): string {
  return place === undefined ? describeAddress(url) : `local document ${place}`;
}

/** Where an address leads, as people read it: the host, or a path of this machine. */
export function describeAddress(url: string): string {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return url;
  if (!HERE.test(parsed.hostname)) return parsed.hostname.replace(/^www\./, "");
  return `local document ${decoded(parsed.pathname)}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A page of the corpus as a source of a report. */
export function describeSource(article: Article): Source {
  return { ...article, title: article.title.trim() || article.place || article.url };
}

/** The pages that could not be read, with the reason and its code. */
export function listUnread({ articles }: Corpus): UnreadPage[] {
  return articles
    .filter((article) => !hasText(article))
    .map(({ status, reason, error_code: code, ...page }) => ({
      ...page,
      title: page.title.trim() || page.url,
      reason: `${reason || (status === "success" ? "no text was found in it" : WORDS[status])}${code ? ` (${code})` : ""}`,
    }));
}

const WORDS = {
  failed: "it could not be read",
  timeout: "it took too long",
  skipped: "it was left out",
} as const;
