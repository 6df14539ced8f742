import { extname } from "node:path";

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

/** Without a charset: the page itself declares it. */
export const DOCUMENT_TYPES: Readonly<Record<DocumentKind, string>> = {
  html: "text/html",
  markdown: "text/markdown",
  text: "text/plain",
};

const HOST = "127.0.0.1";
/** Where documents seem to be. Nobody is asked there: they are read from the disk, and the guard blocks this host. */
const ORIGIN = `http://${HOST}:65535`;
const MAX_URL_CHARS = 16_384;

/** The address of a document: a key of its folder that nobody can guess, and its path in that folder. */
export function buildDocumentAddress(key: string, path: string): string {
  return `${ORIGIN}/${[key, ...path.split("/")].map(encodeURIComponent).join("/")}`;
}

/** Key and path in a document's address; null for any other. Earlier versions had another port for each process. */
export function parseDocumentAddress(url: string): { key: string; path: string } | null {
  const parsed = url.length > MAX_URL_CHARS ? null : URL.parse(url);
  if (parsed?.protocol !== "http:" || parsed.hostname !== HOST) return null;
  try {
    const [key = "", ...names] = parsed.pathname.slice(1).split("/").map(decodeURIComponent);
    const isOdd = (name: string) => name === "" || name === "." || name === ".." || /[/\\\0]/.test(name);
    return names.length === 0 || [key, ...names].some(isOdd) ? null : { key, path: names.join("/") };
  } catch {
    return null;
  }
}
