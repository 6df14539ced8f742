import { type Egress, EgressError, type EgressFailure } from "./egress-guard.ts";
import { fetchResource, type ReadingPace, type ResourceRequest } from "./fetch-resource.ts";
import { findRobots } from "./robots.ts";

/** How a page is asked for. */
export type FetchOptions = {
  egress: Egress;
  signal?: AbortSignal;
  /** For all of it: robots.txt, redirects and the body. */
  deadlineMs?: number;
  /** Of the page once decoded. */
  maxBytes?: number;
  /** Sent to the page's own origin only, and to nobody after a redirect away from it. */
  headers?: Readonly<Record<string, string>>;
  userAgent?: string;
  /** Whether this may be asked, called before every hop; a run's own rules for hosts belong here. */
  mayVisit?: (url: URL) => boolean;
  /** Asks for a page whatever robots.txt says. */
  robots?: false;
  /** A body that comes in slower is given up. */
  pace?: ReadingPace;
};

/** The name by which pages are asked for, unless the user's settings have another. */
const USER_AGENT = "retinue/0.1";
const DEFAULT_DEADLINE_MS = 15_000;
const DEFAULT_MAX_BYTES = 10_000_000;
const DEFAULT_PACE: ReadingPace = { bytes: 1_024, everyMs: 5_000 };
const ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.1";

const PAGE_TYPES: ReadonlySet<string> = new Set([
  "",
  "text/html",
  "application/xhtml+xml",
  "text/plain",
  "text/markdown",
  "text/x-markdown",
]);

/** A page as text, or why it was not got. */
export type FetchOutcome =
  | (DecodedText & {
      status: "ok";
      /** Where the page was in the end, after redirects. */
      url: string;
      /** Without its parameters, in lower case. */
      contentType: string;
    })
  | { status: "failed"; kind: EgressFailure; reason: string };

/** Gets one page through the guard, as text, never holding more than its limits; whatever fails comes back as an outcome. */
export async function fetchPage(address: string, options: FetchOptions): Promise<FetchOutcome> {
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const late = AbortSignal.timeout(deadlineMs);
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
  const fail = (kind: EgressFailure, reason: string) => ({ status: "failed" as const, kind, reason });
  try {
    const { url, body, contentType } = await fetchResource(address, createPageRequest(options, signal));
    const binaryType = detectBinaryType(body, contentType);
    if (binaryType) throw describeNotHtml(binaryType);
    const decoded = decodePage(body, contentType);
    return { status: "ok", url, contentType: readType(contentType) || "text/html", ...decoded };
  } catch (thrown) {
    if (options.signal?.aborted) return fail("aborted", "the request was cancelled");
    if (late.aborted) return fail("timeout", `the page did not come within ${deadlineMs} ms`);
    if (!(thrown instanceof EgressError)) throw thrown;
    return fail(thrown.failure, thrown.message);
  }
}

function createPageRequest(options: FetchOptions, signal: AbortSignal): ResourceRequest {
  const { egress, userAgent = USER_AGENT } = options;
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  return {
    egress,
    signal,
    headers: options.headers ?? {},
    userAgent,
    accept: ACCEPT,
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    whenLonger: "fail",
    pace: options.pace ?? DEFAULT_PACE,
    beforeEach: async (url) => {
      if (options.mayVisit?.(url) === false) {
        throw new EgressError("blocked", `the rules of this run do not let it visit ${url.host}`);
      }
      if (options.robots !== false) await findRobots(egress).check(url, { signal, userAgent, deadlineMs });
    },
    beforeBody: (contentType) => {
      if (!PAGE_TYPES.has(readType(contentType))) throw describeNotHtml(readType(contentType));
    },
  };
}

function readType(contentType: string): string {
  return (contentType.split(";")[0] ?? "").trim().toLowerCase();
}

function describeNotHtml(contentType: string): EgressError {
  return new EgressError("not_html", `this is ${contentType.slice(0, 100)} and not a page of text`);
}

/** Text with the name of the encoding it was read by. */
type DecodedText = { text: string; charset: string };

/** How far into a page its own declaration of an encoding is looked for. */
const DECLARED_WITHIN_BYTES = 1_024;
const FALLBACK = "windows-1252";

/**
 * Reads bytes as text: by a byte order mark, else the header's charset, else the page's own declaration, else UTF-8. What
 * is mostly not UTF-8, whether declared or assumed, is read as windows-1252.
 */
export function decodePage(bytes: Uint8Array, contentType = ""): DecodedText {
  const mark = findByteOrderMark(bytes);
  if (mark) return decode(bytes, mark);
  const label = knownLabel(charsetParameter(contentType)) ?? knownLabel(findDeclared(bytes), "declared");
  if (label && label !== "utf-8") return decode(bytes, label);
  const decoded = decode(bytes, "utf-8");
  return isMostlyBroken(decoded.text) ? decode(bytes, FALLBACK) : decoded;
}

/** The type of bytes that are no text in any encoding that pages use; undefined if they can be text. */
export function detectBinaryType(bytes: Uint8Array, contentType = ""): string | undefined {
  const head = latin1(bytes.subarray(0, DECLARED_WITHIN_BYTES));
  if (head.trimStart().startsWith("%PDF-")) return "application/pdf";
  if (findByteOrderMark(bytes) || knownLabel(charsetParameter(contentType))?.startsWith("utf-16"))
    return undefined;
  return head.includes("\0") ? "application/octet-stream" : undefined;
}

function decode(bytes: Uint8Array, charset: string): DecodedText {
  return { text: new TextDecoder(charset).decode(bytes), charset };
}

function findByteOrderMark([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return undefined;
}

function charsetParameter(contentType: string): string | undefined {
  return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1];
}

/** What a page says of itself in a `meta` element or an XML declaration; what it says in comments does not count. */
function findDeclared(bytes: Uint8Array): string | undefined {
  const head = latin1(bytes.subarray(0, DECLARED_WITHIN_BYTES)).replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  const xml = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']+)["']/i.exec(head);
  if (xml) return xml[1];
  for (const [meta] of head.matchAll(/<meta[\s/][^>]*/gi)) {
    const charset = /[\s/"';]charset\s*=\s*["']?([^\s"'/>;]+)/i.exec(meta);
    if (charset) return charset[1];
  }
  return undefined;
}

/** The proper name of an encoding. A page that can be read so far cannot be UTF-16, whatever it declares. */
function knownLabel(label: string | undefined, from?: "declared"): string | undefined {
  if (!label) return undefined;
  try {
    const { encoding } = new TextDecoder(label);
    return from === "declared" && encoding.startsWith("utf-16") ? "utf-8" : encoding;
  } catch {
    return undefined;
  }
}

/** More bytes that are not UTF-8 than characters that need it: a few torn ones do not spoil a page. */
function isMostlyBroken(text: string): boolean {
  let broken = 0;
  let whole = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd) broken++;
    else if (code > 0x7f) whole++;
  }
  return broken > whole;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
