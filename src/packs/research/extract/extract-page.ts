import { Readability } from "@mozilla/readability";
import { htmlToMarkdown } from "mdream";
import { countWords } from "./count-words.ts";
import type { DomElement } from "./dom.ts";
import { parsePage } from "./parse-page.ts";
import { readMetadata } from "./read-metadata.ts";
import { baseOf, tidyContent, webAddress } from "./tidy-content.ts";

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
  return { ...page, title: page.title || titleFromAddress(job.url) };
}

function extractHtml({ text, url, images }: ExtractJob): ExtractedPage | null {
  const { document, hasScripts } = parsePage(text);
  const { canonical, ...metadata } = readMetadata(document);
  const base = baseOf(document, url);
  const reader = new Readability<DomElement>(document, {
    keepClasses: true,
    serializer: (node: DomElement) => node,
  });
  const article = reader.parse();
  if (!article?.content) return null;
  tidyContent(article.content, document, { base, images });
  const whole = neat(htmlToMarkdown(article.content.innerHTML));
  const { title, markdown } = withoutTitle(whole, oneLine(article.title) || metadata.title || "");
  const words = countWords(markdown.replace(/\]\([^)\s]*\)/g, "]"));
  if (hasScripts && words < MIN_WORDS_WITH_SCRIPTS) return null;
  const author = metadata.author ?? oneLine(article.byline);
  const home = canonical && webAddress(canonical, base);
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
function withoutTitle(markdown: string, title: string): { title: string; markdown: string } {
  const [line = "", level, text = ""] = /^(#{1,2}) (.+)(?:\n|$)/.exec(markdown) ?? [];
  if (!level || !title.includes(text)) return { title, markdown };
  return { title: text, markdown: markdown.slice(line.length).trimStart() };
}

function extractText({ text }: ExtractJob): ExtractedPage {
  const markdown = neat(text.replaceAll("\r\n", "\n"));
  const title = /^\s*#{1,6}\s+(.+)$/m.exec(markdown)?.[1] ?? markdown.split("\n", 1)[0];
  return { title: oneLine(title), markdown, words: countWords(markdown) };
}

function neat(markdown: string): string {
  return markdown
    .toWellFormed()
    .replace(/[^\S\n]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

function oneLine(text: string | null | undefined): string {
  return (text ?? "").slice(0, 1_000).toWellFormed().replace(/\s+/g, " ").trim().slice(0, 300);
}

function titleFromAddress(url: string): string {
  const { hostname, pathname } = new URL(url);
  const name = pathname.split("/").filter(Boolean).at(-1);
  return name ? name.replace(/\.\w{1,5}$/, "").replace(/[-_+]+/g, " ") : hostname;
}
