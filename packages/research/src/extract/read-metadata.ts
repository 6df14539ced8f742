import type { DomDocument, DomElement } from "./parse-page.ts";

/** What a page says of itself. */
type PageMetadata = {
  title?: string;
  author?: string;
  /** Day of publication, as YYYY-MM-DD. */
  date?: string;
  /** Where the page says it really lives, not yet resolved. */
  canonical?: string;
};

const MAX_CHARS = 300;
const MAX_LINKED_DATA = 200_000;
const TITLES = ["og:title", "twitter:title", "dc.title"];
const AUTHORS = ["author", "article:author", "dc.creator", "parsely-author", "sailthru.author"];
const DATES = [
  "article:published_time",
  "datepublished",
  "date",
  "dc.date",
  "dc.date.issued",
  "pubdate",
  "publishdate",
  "parsely-pub-date",
  "article:modified_time",
];

/** Reads title, author, date and canonical address from meta elements, JSON-LD and the markup, in this order. */
export function readPageMetadata(document: DomDocument): PageMetadata {
  const meta = readMeta(document);
  const linked = findLinkedData(document);
  const first = (names: readonly string[]) => names.map((name) => meta.get(name)).find(Boolean);
  const element = (selector: string) => cleanValue(document.querySelector(selector)?.textContent);
  const author = [first(AUTHORS), linked.author, element("[itemprop=author]"), element("a[rel=author]")]
    .map((name) => cleanValue(name)?.replace(/^by\s+/i, ""))
    .find((name) => name && !/^https?:/i.test(name));
  const date = [first(DATES), linked.date, findTime(document)].map(readDay).find(Boolean);
  const title = [first(TITLES), linked.title, element("title"), element("h1")].find(Boolean);
  const canonical = document.querySelector("link[rel=canonical]")?.getAttribute("href")?.trim();
  return {
    ...(title && { title }),
    ...(author && { author }),
    ...(date && { date }),
    ...(canonical && { canonical }),
  };
}

function readMeta(document: DomDocument): Map<string, string> {
  const found = new Map<string, string>();
  for (const element of document.querySelectorAll("meta[content]")) {
    const content = cleanValue(element.getAttribute("content"));
    if (!content) continue;
    for (const attribute of ["name", "property", "itemprop"]) {
      const name = element.getAttribute(attribute)?.trim().toLowerCase();
      if (name && !found.has(name)) found.set(name, content);
    }
  }
  return found;
}

type Linked = { title?: string | undefined; author?: string | undefined; date?: string | undefined };

/** The first thing in the page's JSON-LD that has an author or a date. */
function findLinkedData(document: DomDocument): Linked {
  for (const script of document.querySelectorAll("script")) {
    const text = script.textContent;
    if (text.length > MAX_LINKED_DATA) continue;
    try {
      const found = readThings(JSON.parse(text)).find((thing) => thing.author || thing.date);
      if (found) return found;
    } catch {
      // Broken JSON-LD is common and says nothing about the page.
    }
  }
  return {};
}

function readThings(value: unknown): Linked[] {
  if (Array.isArray(value)) return value.slice(0, 100).flatMap(readThings);
  if (typeof value !== "object" || value === null) return [];
  const { headline, author, datePublished, dateModified, "@graph": graph } = value as Record<string, unknown>;
  const thing = {
    title: readText(headline),
    author: readNames(author),
    date: readText(datePublished) ?? readText(dateModified),
  };
  return [thing, ...(Array.isArray(graph) ? readThings(graph) : [])];
}

function readNames(author: unknown): string | undefined {
  const all = Array.isArray(author) ? author.slice(0, 10) : [author];
  const names = all.map((each) =>
    readText(typeof each === "object" && each !== null && "name" in each ? each.name : each),
  );
  return names.filter(Boolean).join(", ") || undefined;
}

function readText(value: unknown): string | undefined {
  return typeof value === "string" ? cleanValue(value) : undefined;
}

function findTime(document: DomDocument): string | undefined {
  const time: DomElement | null =
    document.querySelector("time[pubdate], time[itemprop=datePublished], [itemprop=datePublished]") ??
    document.querySelector(
      "article time[datetime], main time[datetime], header time[datetime], time[datetime]",
    );
  return time?.getAttribute("datetime") ?? time?.textContent;
}

/** A date as its day; a text that is no date, or of a year that makes no sense, is none. */
export function readDay(text: string | undefined): string | undefined {
  if (!text) return undefined;
  const [iso] = /^\d{4}-\d{2}-\d{2}/.exec(text.trim()) ?? [];
  const time = iso ? Date.parse(iso) : Date.parse(`${cut(text)} UTC`) || Date.parse(cut(text));
  if (Number.isNaN(time) || !/\d{4}/.test(text)) return undefined;
  const day = new Date(time).toISOString().slice(0, 10);
  return /^(1[5-9]|2\d)\d{2}-/.test(day) && (iso ?? day) === day ? day : undefined;
}

function cleanValue(text: string | null | undefined): string | undefined {
  return (
    cut(text ?? "")
      .replace(/\s+/g, " ")
      .trim() || undefined
  );
}

function cut(text: string): string {
  return text.slice(0, MAX_CHARS).toWellFormed();
}
