import { basename, extname } from "node:path";
import { findOwn } from "@retinue/core/schema/find-own";
import { cutAt } from "@retinue/core/tools/truncate";

/** Kinds of documents, by the ending of their names. */
export type DocumentKind = "html" | "markdown" | "text";

const KINDS: Readonly<Record<string, DocumentKind>> = {
  ".html": "html",
  ".htm": "html",
  ".xhtml": "html",
  ".md": "markdown",
  ".markdown": "markdown",
  ".txt": "text",
  ".text": "text",
};

/** The kind of a file by its name; undefined for what is no document. */
export function findDocumentKind(path: string): DocumentKind | undefined {
  return KINDS[extname(path).toLowerCase()];
}

/** What of a document can be searched. */
type DocumentText = { title: string; text: string };

const MAX_TITLE = 300;
/** Characters of a document that are searched; what comes after is not found. */
const MAX_TEXT = 400_000;

/** Title and text of a document by its kind; null for what is no text at all. */
export function readDocument(path: string, bytes: Uint8Array): DocumentText | null {
  const kind = findDocumentKind(path);
  const decoded = decodeBytes(bytes);
  if (!kind || decoded === null) return null;
  const { title, text } = READERS[kind](decoded);
  return {
    title: cutAt(title || basename(path), MAX_TITLE),
    text: cutAt(text, MAX_TEXT),
  };
}

const READERS: Readonly<Record<DocumentKind, (text: string) => DocumentText>> = {
  html: readHtmlText,
  markdown: readMarkdownText,
  text: readPlainText,
};

function readMarkdownText(source: string): DocumentText {
  const matter = /^---\r?\n([\s\S]{0,8000}?)\r?\n---\r?\n/.exec(source);
  const body = matter ? source.slice(matter[0].length) : source;
  const named = /^title:[ \t]*["']?([^\r\n]*?)["']?[ \t]*$/m.exec(matter?.[1] ?? "")?.[1];
  const heading = /^#{1,2}[ \t]+([^\r\n]{0,1000})/m
    .exec(body.slice(0, 20_000))?.[1]
    ?.replace(/[ \t]+#+[ \t]*$/, "");
  const words = body
    .replaceAll(/!?\[([^\][\n]{0,500})\]\([^()\s]{0,2000}\)/g, "$1")
    .replaceAll(/^[ \t]{0,3}(?:#{1,6}|>|[-*+]|\d{1,4}[.)])[ \t]+/gm, "")
    .replaceAll(/[*_`|~]+/g, " ");
  return {
    title: decodeReferences((named || heading || "").replaceAll(/[*_`]+/g, "")),
    text: decodeReferences(words),
  };
}

function readPlainText(source: string): DocumentText {
  const [first = ""] = source.slice(0, 2_000).trimStart().split(/\r?\n/, 1);
  return { title: first.length <= 150 ? decodeReferences(first) : "", text: decodeReferences(source) };
}

/** UTF-8 or, by its mark, UTF-16; else each byte as a character, so that old files can be found at all. */
function decodeBytes(bytes: Uint8Array): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Elements whose content is no text, and those around the text that every page of a site has. */
const PASSED_OVER = new Set(
  "script style noscript template svg math iframe object canvas select button form nav aside footer".split(
    " ",
  ),
);
const INLINE = new Set(
  "a abbr b bdi bdo big cite code del dfn em font i ins kbd mark q s samp small span strong sub sup time tt u var wbr".split(
    " ",
  ),
);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  times: "×",
  deg: "°",
  micro: "µ",
  euro: "€",
  pound: "£",
  copy: "©",
  middot: "·",
};
const TAG_NAME = /<\/?([a-z][a-z0-9-]*)/y;

/** The readable text of a page for an index: rough, but in time that grows only with the page's length. */
function readHtmlText(html: string): { title: string; text: string } {
  // Only what tags are made of: `İ` in lower case is two characters, and places in both texts must agree.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const title = decodeReferences(readElement(html, lower, "title"));
  const heading = decodeReferences(readElement(html, lower, "h1"));
  // A title mostly has the site's name at one end.
  const isInTitle = heading !== "" && title.includes(heading);
  const start = Math.max(0, lower.indexOf("<body"));
  return {
    title: isInTitle ? heading : title || heading,
    text: decodeReferences(stripTags(html, lower, start)),
  };
}

/** What is written in a text with references such as `&amp;`, on one line. */
export function decodeReferences(text: string): string {
  return text
    .replaceAll(
      /&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi,
      (whole, name: string) => decodeReference(name) ?? whole,
    )
    .replaceAll(/\s+/g, " ")
    .trim();
}

function decodeReference(name: string): string | undefined {
  if (!name.startsWith("#")) return findOwn(ENTITIES, name.toLowerCase());
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    ? String.fromCodePoint(code)
    : " ";
}

/** The text of the first element of a name, its own tags removed. */
function readElement(html: string, lower: string, name: string): string {
  const open = lower.indexOf(`<${name}`);
  const from = open < 0 ? -1 : lower.indexOf(">", open);
  const to = from < 0 ? -1 : lower.indexOf(`</${name}`, from);
  return to < 0 ? "" : stripTags(html.slice(from + 1, to), lower.slice(from + 1, to), 0);
}

function stripTags(html: string, lower: string, start: number): string {
  const parts: string[] = [];
  /** Names that are never closed any more; looking for their end again and again would take too long. */
  const unclosed = new Set<string>();
  let at = start;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open < 0) break;
    parts.push(html.slice(at, open));
    if (lower.startsWith("<!--", open)) {
      const end = unclosed.has("!--") ? -1 : lower.indexOf("-->", open + 4);
      if (end < 0) unclosed.add("!--");
      at = end < 0 ? open + 4 : end + 3;
      continue;
    }
    TAG_NAME.lastIndex = open;
    const name = TAG_NAME.exec(lower)?.[1];
    if (name === undefined && lower[open + 1] !== "!" && lower[open + 1] !== "?" && lower[open + 1] !== "/") {
      parts.push("<");
      at = open + 1;
      continue;
    }
    const end = lower.indexOf(">", open);
    if (end < 0) return parts.join("");
    at = end + 1;
    if (name === undefined || !INLINE.has(name)) parts.push(" ");
    if (name !== undefined && lower[open + 1] !== "/" && PASSED_OVER.has(name) && !unclosed.has(name)) {
      const close = lower.indexOf(`</${name}`, at);
      if (close < 0) unclosed.add(name);
      else at = close;
    }
  }
  parts.push(html.slice(at));
  return parts.join("");
}
