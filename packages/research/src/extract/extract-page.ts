import { Readability } from "@mozilla/readability";
import { htmlToMarkdown } from "mdream";
import { type DomDocument, type DomElement, parsePage } from "./parse-page.ts";

/** What a page says of itself: its title, its author, its day as YYYY-MM-DD, and where it really lives, not yet resolved. */
type PageMetadata = Record<"title" | "author" | "date" | "canonical", string | undefined>;

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
function readPageMetadata(document: DomDocument): PageMetadata {
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
  return { title, author, date, canonical };
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

type Linked = Partial<Pick<PageMetadata, "title" | "author" | "date">>;

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

/** A page to be read. */
export type ExtractJob = {
  text: string;
  /** Where the page came from, after redirects. */
  url: string;
  /** `text/html`, `text/plain`, …; in lower case. */
  contentType: string;
  /** Keep images as links to them. */
  images: boolean;
};

/** What was read from a page. */
export type ExtractedPage = {
  title: string;
  markdown: string;
  words: number;
  author?: string;
  date?: string;
  /** The page's own address as it states it, absolute. */
  canonical?: string;
};

/** Fewer words than this on a page with programs: the text would have come from them. */
const MIN_WORDS_WITH_SCRIPTS = 20;

/** Reads a page: its main text as Markdown and what it says of itself. Null if there is no text to read. */
export function extractPage(job: ExtractJob): ExtractedPage | null {
  const page = /html|xml/.test(job.contentType) ? extractHtml(job) : extractText(job);
  if (!page || page.words === 0) return null;
  return { ...page, title: page.title || makeTitle(job.url) };
}

function extractHtml({ text, url, images }: ExtractJob): ExtractedPage | null {
  const { document, hasScripts } = parsePage(text);
  const { canonical, ...metadata } = readPageMetadata(document);
  const base = findBase(document, url);
  const reader = new Readability<DomElement>(document, {
    keepClasses: true,
    serializer: (node: DomElement) => node,
  });
  const article = reader.parse();
  if (!article?.content) return null;
  tidyContent(article.content, document, { base, images });
  const whole = tidyMarkdown(htmlToMarkdown(article.content.innerHTML));
  const { title, markdown } = splitTitle(whole, toOneLine(article.title) || metadata.title || "");
  const words = countWords(markdown.replace(/\]\([^)\s]*\)/g, "]"));
  if (hasScripts && words < MIN_WORDS_WITH_SCRIPTS) return null;
  const author = metadata.author ?? toOneLine(article.byline);
  const home = canonical && toWebAddress(canonical, base);
  return {
    title,
    markdown,
    words,
    ...(author && { author }),
    ...(metadata.date && { date: metadata.date }),
    ...(home && { canonical: home }),
  };
}

/** A first heading that is the title, or the title without the site's name, is the title and not part of the text. */
function splitTitle(markdown: string, title: string): { title: string; markdown: string } {
  const [line = "", level, text = ""] = /^(#{1,2}) (.+)(?:\n|$)/.exec(markdown) ?? [];
  if (!level || !title.includes(text)) return { title, markdown };
  return { title: text, markdown: markdown.slice(line.length).trimStart() };
}

function extractText({ text }: ExtractJob): ExtractedPage {
  const markdown = tidyMarkdown(text.replaceAll("\r\n", "\n"));
  const title = /^\s*#{1,6}\s+(.+)$/m.exec(markdown)?.[1] ?? markdown.split("\n", 1)[0];
  return { title: toOneLine(title), markdown, words: countWords(markdown) };
}

function tidyMarkdown(markdown: string): string {
  return markdown
    .toWellFormed()
    .replace(/[^\S\n]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function toOneLine(text: string | null | undefined): string {
  return (text ?? "").slice(0, 1_000).toWellFormed().replace(/\s+/g, " ").trim().slice(0, 300);
}

function makeTitle(url: string): string {
  const { hostname, pathname } = new URL(url);
  const name = pathname.split("/").filter(Boolean).at(-1);
  return name ? name.replace(/\.\w{1,5}$/, "").replace(/[-_+]+/g, " ") : hostname;
}

/** What to make of links and images. */
type TidyOptions = { base: string; images: boolean };

/** Makes an article ready for Markdown: absolute links that lead to the web, images if wanted, lists of terms as text. */
function tidyContent(content: DomElement, document: DomDocument, options: TidyOptions): void {
  for (const link of findElements(content, "a")) tidyLink(link, options.base);
  for (const image of findElements(content, "img")) tidyImage(image, options);
  for (const extra of findElements(content, "picture > source, button, input, select, textarea"))
    extra.remove();
  for (const term of findElements(content, "dt")) emphasise(term, document);
  for (const part of findElements(content, "dl, dd")) unwrapAsBlock(part, document);
}

/** Where relative addresses of the page start from. */
function findBase(document: DomDocument, url: string): string {
  const href = document.querySelector("base[href]")?.getAttribute("href");
  return (href && toWebAddress(href, url)) || url;
}

/** An absolute address on the web; undefined for scripts, data, files and what cannot be read. */
function toWebAddress(text: string, base: string): string | undefined {
  const url = URL.parse(text, base);
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined;
}

function tidyLink(link: DomElement, base: string): void {
  const href = link.getAttribute("href")?.trim() ?? "";
  const isMark = /^[\s¶#§🔗]*$/u.test(link.textContent) && link.querySelector("img") === null;
  const address = href.startsWith("#") ? undefined : toWebAddress(href, base);
  if (isMark) link.remove();
  else if (address) link.setAttribute("href", address);
  else link.replaceWith(...link.childNodes);
}

function tidyImage(image: DomElement, { base, images }: TidyOptions): void {
  const source = toWebAddress(image.getAttribute("src") ?? image.getAttribute("data-src") ?? "", base);
  if (images && source) image.setAttribute("src", source);
  else image.remove();
}

function emphasise(term: DomElement, document: DomDocument): void {
  const strong = document.createElement("strong");
  strong.append(...term.childNodes);
  const paragraph = document.createElement("p");
  paragraph.append(strong);
  term.replaceWith(paragraph);
}

function unwrapAsBlock(part: DomElement, document: DomDocument): void {
  const block = document.createElement("div");
  block.append(...part.childNodes);
  part.replaceWith(block);
}

function findElements(content: DomElement, selector: string): DomElement[] {
  return [...content.querySelectorAll(selector)];
}

/** Scripts that put no blanks between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’._-]*/gu;

/** How many words a text has, in any script. */
export function countWords(text: string): number {
  if (!UNSPACED.test(text)) return text.match(WORD)?.length ?? 0;
  let count = 0;
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text))
    if (isWordLike) count++;
  return count;
}
