import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { openForReading } from "@retinue/core/files/open-inside";
import { REQUEST_PATIENCE } from "@retinue/core/net/request-patience";

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

/** Finds the file behind the two parts of an address, if it may be served. */
type FindDocument = (key: string, path: string) => { root: string; path: string } | undefined;

/** Serves documents of this machine to this machine. */
export type DocumentServer = { readonly origin: string; close(): Promise<void> };

const HOST = "127.0.0.1";
const MAX_CONNECTIONS = 64;
const MAX_URL_CHARS = 16_384;

/** Without a charset: the page itself declares it. */
const TYPES: Readonly<Record<DocumentKind, string>> = {
  html: "text/html",
  markdown: "text/markdown",
  text: "text/plain",
};

/** A page must not act in the name of the server's origin, nor may another site's page read or show it. */
const HEADERS = {
  "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/** Starts a server on a free loopback port that answers GET and HEAD for the documents that `find` knows. */
export async function startDocumentServer(
  find: FindDocument,
  patience = REQUEST_PATIENCE,
): Promise<DocumentServer> {
  const { createServer } = process.getBuiltinModule("node:http");
  const server: Server = createServer({ maxHeaderSize: 16_384, ...patience }, (request, response) => {
    answerRequest(server, find, request, response).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  // A server alone must not keep the process alive.
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: HOST, port: 0, exclusive: true }, resolve);
  });
  server.removeAllListeners("error").on("error", () => {});
  return {
    origin: `http://${HOST}:${findPort(server)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answerRequest(
  server: Server,
  find: FindDocument,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "", url = "", headers } = request;
  if (headers.host !== `${HOST}:${findPort(server)}`) return refuseRequest(response, 421);
  if (method !== "GET" && method !== "HEAD") return refuseRequest(response, 405, { allow: "GET, HEAD" });
  const parts = parseAddressPath(url);
  const found = parts && find(parts.key, parts.path);
  const kind = found && findDocumentKind(found.path);
  if (!found || !kind) return refuseRequest(response, 404);
  const handle = await openForReading(found.root, join(found.root, found.path)).catch(() => null);
  if (!handle) return refuseRequest(response, 404);
  try {
    const { size, mtime } = await handle.stat();
    response.writeHead(200, {
      ...HEADERS,
      "content-type": TYPES[kind],
      "content-length": size,
      "last-modified": mtime.toUTCString(),
    });
    if (method === "HEAD" || size === 0) {
      response.end();
      return;
    }
    const { pipeline } = await import("node:stream/promises");
    await pipeline(handle.createReadStream({ start: 0, end: size - 1, autoClose: false }), response);
  } finally {
    await handle.close();
  }
}

/** The folder's key and the document's path in an address such as `/key/guides/a%20b.html`; null for any other. */
export function parseAddressPath(url: string): { key: string; path: string } | null {
  const pathname = url.split(/[?#]/, 1)[0] ?? "";
  if (!pathname.startsWith("/") || pathname.length > MAX_URL_CHARS) return null;
  try {
    const [key = "", ...names] = pathname.slice(1).split("/").map(decodeURIComponent);
    const isOdd = (name: string) => name === "" || name === "." || name === ".." || /[/\\\0]/.test(name);
    return names.length === 0 || [key, ...names].some(isOdd) ? null : { key, path: names.join("/") };
  } catch {
    return null;
  }
}

/** The address of a document, without its origin. */
export function buildAddressPath(key: string, path: string): string {
  return `/${[key, ...path.split("/")].map(encodeURIComponent).join("/")}`;
}

function refuseRequest(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...HEADERS, ...headers, "content-type": "text/plain", connection: "close" });
  response.end(`${status}\n`);
}

function findPort(server: Server): number {
  return (server.address() as AddressInfo | null)?.port ?? 0;
}
