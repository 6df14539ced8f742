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
