import { basename } from "node:path";
import { cutAt } from "../../../tools/truncate.ts";
import { htmlText, plain } from "./html-text.ts";
import { type DocumentKind, kindOf } from "./list-documents.ts";

/** What of a document can be searched. */
export type DocumentText = { title: string; text: string };

const MAX_TITLE = 300;
/** Characters of a document that are searched; what comes after is not found. */
const MAX_TEXT = 400_000;

/** Title and text of a document by its kind; null for what is no text at all. */
export function readDocument(path: string, bytes: Uint8Array): DocumentText | null {
  const kind = kindOf(path);
  const decoded = decode(bytes);
  if (!kind || decoded === null) return null;
  const { title, text } = READERS[kind](decoded);
  return {
    title: cutAt(title || basename(path), MAX_TITLE),
    text: cutAt(text, MAX_TEXT),
  };
}

const READERS: Readonly<Record<DocumentKind, (text: string) => DocumentText>> = {
  html: htmlText,
  markdown: markdownText,
  text: plainText,
};

function markdownText(source: string): DocumentText {
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
  return { title: plain((named || heading || "").replaceAll(/[*_`]+/g, "")), text: plain(words) };
}

function plainText(source: string): DocumentText {
  const [first = ""] = source.slice(0, 2_000).trimStart().split(/\r?\n/, 1);
  return { title: first.length <= 150 ? plain(first) : "", text: plain(source) };
}

/** UTF-8 or, by its mark, UTF-16; else each byte as a character, so that old files can be found at all. */
function decode(bytes: Uint8Array): string | null {
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
