import { basename } from "node:path";
import { cutAt } from "@retinue/core/tools/truncate";
import { decodeHTMLStrict } from "entities";
import { type Token, Tokenizer, TokenizerMode } from "parse5";
import { type DocumentKind, findDocumentKind } from "./document-address.ts";

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
  const title = (named || heading || "").replaceAll(/[*_`]+/g, "");
  return { title: decodeText(title), text: decodeText(words) };
}

function readPlainText(source: string): DocumentText {
  const [first = ""] = source.slice(0, 2_000).trimStart().split(/\r?\n/, 1);
  return { title: first.length <= 150 ? decodeText(first) : "", text: decodeText(source) };
}

function decodeText(text: string): string {
  return decodeHTMLStrict(text).replaceAll(/\s+/g, " ").trim();
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
/** How far behind its beginning the end of a title or heading is looked for. */
const MAX_ELEMENT = 20_000;

/** The readable text of a page for an index: rough, but in time that grows only with the page's length. */
function readHtmlText(html: string): DocumentText {
  const start = Math.max(0, html.search(/<body/i));
  const title = readElement(html, "title");
  const heading = readElement(html, "h1");
  // A title mostly has the site's name at one end.
  const isInTitle = heading !== "" && title.includes(heading);
  return { title: isInTitle ? heading : title || heading, text: readMarkup(html.slice(start)) };
}

/** The text of the first element of a name. */
function readElement(html: string, name: string): string {
  const open = html.search(new RegExp(`<${name}[\\s>]`, "i"));
  if (open < 0) return "";
  const rest = html.slice(open, open + MAX_ELEMENT);
  const end = rest.search(new RegExp(`</${name}`, "i"));
  return end < 0 ? "" : readMarkup(rest.slice(0, end));
}

/** The text of some markup on one line, without tags and what is passed over, and with references such as `&amp;` read. */
export function readMarkup(html: string): string {
  const parts: string[] = [];
  /** The element that is passed over just now, and what stood before it. An element that never ends keeps its text. */
  let passed: { name: string; from: number } | undefined;
  const add = ({ chars }: Token.CharacterToken) => void parts.push(chars);
  const tokenizer = new Tokenizer(
    { sourceCodeLocationInfo: false },
    {
      onStartTag({ tagName, selfClosing }) {
        if (!INLINE.has(tagName)) parts.push(" ");
        if (selfClosing) return;
        if (passed === undefined && PASSED_OVER.has(tagName)) passed = { name: tagName, from: parts.length };
        if (tagName === "script" || tagName === "style") tokenizer.state = TokenizerMode.RAWTEXT;
      },
      onEndTag({ tagName }) {
        if (!INLINE.has(tagName)) parts.push(" ");
        if (tagName !== passed?.name) return;
        parts.length = passed.from;
        passed = undefined;
      },
      onCharacter: add,
      onWhitespaceCharacter: add,
      onNullCharacter() {},
      onComment() {},
      onDoctype() {},
      onEof() {},
    },
  );
  tokenizer.write(html, true);
  return parts.join("").replaceAll(/\s+/g, " ").trim();
}
