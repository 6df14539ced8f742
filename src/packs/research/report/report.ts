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
export type Chart = {
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
export type Source = {
  readonly title: string;
  readonly url: string;
  readonly author?: string;
  readonly date?: string;
  readonly words?: number;
  /** Its text as it was read, relative to the workspace. */
  readonly file?: string;
};

/** A page that could not be read, and why. */
export type Unread = { readonly url: string; readonly title: string; readonly reason: string };

/** A report, independent of how it is written down. */
export type Report = {
  readonly title: string;
  /** What was asked for, in the person's words. */
  readonly request?: string;
  /** Whether its sentences are taken from the sources as they stand, without a model. */
  readonly extractive: boolean;
  readonly summary: readonly Passage[];
  readonly figures: readonly KeyFigure[];
  readonly charts: readonly Chart[];
  readonly themes: readonly Theme[];
  readonly quotes: readonly Quotation[];
  readonly contradictions: readonly Contradiction[];
  readonly sources: readonly Source[];
  readonly unread: readonly Unread[];
  readonly method: readonly string[];
  /** ISO 8601, when the pages were read. */
  readonly extractedAt: string;
};

const HERE = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/;

/** The address of a page that a link may lead to; null for anything but a page of the web, and for this machine's own. */
export function linkOf(url: string): string | null {
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return null;
  if (HERE.test(parsed.hostname)) return null;
  return parsed.username || parsed.password ? null : parsed.href;
}

/** Where a source was found, as people read it: the host, or the path of a document of this machine. */
export function placeOf(url: string): string {
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
