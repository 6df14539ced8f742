import type { Attachment, Email, Address as ParsedAddress } from "postal-mime";
import { htmlToText } from "./html-text.ts";
import type { Address } from "./mail-provider.ts";

/** What a message of RFC 822 says. */
export type ReadMail = {
  /** With angle brackets; empty if it has none. */
  readonly messageId: string;
  readonly from: Address;
  readonly to: readonly Address[];
  readonly cc: readonly Address[];
  readonly bcc: readonly Address[];
  readonly replyTo: readonly Address[];
  readonly subject: string;
  /** Milliseconds since 1970; null if it has no date that can be read. */
  readonly dateMs: number | null;
  /** Message-IDs that it answers, the oldest first. */
  readonly references: readonly string[];
  readonly text: string;
  readonly attachments: readonly { readonly name: string; readonly type: string; readonly bytes: number }[];
  readonly bounces: readonly Bounce[];
  /** Kept by a mail program before it was sent. */
  readonly isDraft: boolean;
  /** Handed over to this store, which sends nothing to anybody else. */
  readonly isLocal: boolean;
};

/** Marks a message that this store took for sending. */
export const LOCAL_HEADER = "X-Retinue-Delivery";

/** The largest message that is read. */
const MAX_MAIL_BYTES = 32 * 1024 * 1024;
/** Parsing takes time by the line; the largest message with attachments has fewer. */
const MAX_LINES = 600_000;
/** Up to this length the messages within a message are read with it, each of whose lines takes its time again. */
const MAX_INLINE_LINES = 50_000;
const LIMITS = { maxNestingDepth: 64, maxHeadersSize: 512 * 1024, maxRfc822NestingDepth: 4 } as const;
const MAX_ADDRESSES = 1000;
const MAX_SUBJECT_CHARS = 2000;
const MAX_REFERENCES = 100;
const LATEST_MS = Date.UTC(9999, 11, 31);

/** A recipient whom a message did not reach, as a delivery report says. */
export type Bounce = { readonly messageId: string; readonly address: string; readonly detail: string };

const MAX_REPORT_BYTES = 256 * 1024;
const MAX_BOUNCES = 200;
const MAX_DETAIL_CHARS = 500;

/** Reads a message; raises an error that says what is wrong with it if it is nested too deep or too large. */
export async function readMail(bytes: Uint8Array): Promise<ReadMail> {
  const excess = findExcess(bytes);
  if (excess) throw new RangeError(excess);
  const { default: PostalMime } = await import("postal-mime");
  const isLong = countLines(bytes) > MAX_INLINE_LINES;
  const email = await PostalMime.parse(bytes, { ...LIMITS, forceRfc822Attachments: isLong });
  const header = (name: string) => email.headers.find(({ key }) => key === name)?.value.trim() ?? "";
  return {
    messageId: listMessageIds(email.messageId)[0] ?? "",
    from: readAddresses(email.from ? [email.from] : [])[0] ?? { address: "" },
    to: readAddresses(email.to),
    cc: readAddresses(email.cc),
    bcc: readAddresses(email.bcc),
    replyTo: readAddresses(email.replyTo),
    subject: oneLine(email.subject ?? "").slice(0, MAX_SUBJECT_CHARS),
    dateMs: parseDate(email.date) ?? parseDate(header("received").split(";").at(-1)),
    references: listReferences(email),
    text: await readMailText(email),
    attachments: email.attachments.map(describeAttachment),
    bounces: readBounces(email),
    isDraft: header("x-unsent") === "1",
    isLocal: header(LOCAL_HEADER.toLowerCase()) !== "",
  };
}

/** Why a message is too large to be read; null if it is not. */
export function findExcess(bytes: Uint8Array): string | null {
  if (bytes.byteLength > MAX_MAIL_BYTES) return "the message is larger than 32 MB";
  return countLines(bytes) > MAX_LINES ? `the message has more than ${MAX_LINES} lines` : null;
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0 && lines <= MAX_LINES; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}

function listReferences(email: Email): string[] {
  const all = [...listMessageIds(email.references), ...listMessageIds(email.inReplyTo)];
  const distinct = [...new Set(all)];
  if (distinct.length <= MAX_REFERENCES) return distinct;
  return [...distinct.slice(0, 1), ...distinct.slice(1 - MAX_REFERENCES)];
}

function readAddresses(parsed: readonly ParsedAddress[] | undefined): Address[] {
  const found: Address[] = [];
  for (const entry of parsed ?? []) {
    for (const { name, address } of entry.group ?? [entry]) {
      if (found.length === MAX_ADDRESSES) return found;
      const shown = oneLine(name);
      if (shown || address) found.push({ ...(shown ? { name: shown } : {}), address: oneLine(address) });
    }
  }
  return found;
}

function describeAttachment({ filename, mimeType, content }: Attachment) {
  const bytes = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
  return { name: oneLine(filename ?? "unnamed").slice(0, 255), type: mimeType, bytes };
}

async function readMailText({ text, html }: Email): Promise<string> {
  const plain = text?.replaceAll(/\r\n?/g, "\n").trimEnd() ?? "";
  return plain || !html ? plain : htmlToText(html);
}

function parseDate(value: string | undefined): number | null {
  const ms = Date.parse(value ?? "");
  return ms >= 0 && ms <= LATEST_MS ? ms : null;
}

/** A text for a header or from one: line breaks and control characters have no place in it. */
export function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ")
    .trim();
}

/** Every Message-ID in a header's value, with its angle brackets. */
function listMessageIds(value: string | undefined): string[] {
  return value?.match(/<[^<>\s]{1,900}>/g) ?? [];
}

/** What a delivery report (RFC 3464) says of the messages it is about; none for any other mail. */
function readBounces(email: Email): Bounce[] {
  const failed = listFailed(email);
  if (failed.length === 0) return [];
  return listOriginalIds(email)
    .flatMap((messageId) => failed.map((recipient) => ({ messageId, ...recipient })))
    .slice(0, MAX_BOUNCES);
}

function listFailed(email: Email): { address: string; detail: string }[] {
  const reports = email.attachments.filter(({ mimeType }) => mimeType === "message/delivery-status");
  const failed = reports.flatMap((report) => {
    const blocks = readContent(report).split(/\n[ \t]*\n/);
    return blocks.flatMap((block) => {
      const fields = readFields(block);
      if (fields.get("action")?.toLowerCase() !== "failed") return [];
      const address = findAddress(fields.get("final-recipient") ?? fields.get("original-recipient") ?? "");
      const words = afterSemicolon(fields.get("diagnostic-code") ?? "") || (fields.get("status") ?? "");
      return address ? [{ address, detail: words.slice(0, MAX_DETAIL_CHARS) }] : [];
    });
  });
  if (reports.length > 0) return failed;
  const named = email.headers.find(({ key }) => key === "x-failed-recipients")?.value ?? "";
  return named
    .split(",")
    .map((part) => ({ address: findAddress(part), detail: "" }))
    .filter(({ address }) => address);
}

/** Message-IDs of what could not be delivered: from the message that came back, else from what the report answers. */
function listOriginalIds(email: Email): string[] {
  const returned = email.attachments
    .filter(({ mimeType }) => mimeType === "message/rfc822" || mimeType === "text/rfc822-headers")
    .flatMap((part) => {
      const [head = ""] = readContent(part).split(/\n[ \t]*\n/, 1);
      return listMessageIds(readFields(head).get("message-id"));
    });
  if (returned.length > 0) return [...new Set(returned)];
  return [...new Set([...listMessageIds(email.inReplyTo), ...listMessageIds(email.references)])].slice(0, 5);
}

function readContent({ content }: Attachment): string {
  const text =
    typeof content === "string"
      ? content.slice(0, MAX_REPORT_BYTES)
      : Buffer.from(new Uint8Array(content).subarray(0, MAX_REPORT_BYTES)).toString("utf8");
  return text.replaceAll(/\r\n?/g, "\n");
}

function readFields(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.replaceAll(/\n[ \t]+/g, " ").split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return fields;
}

function afterSemicolon(value: string): string {
  return value.slice(value.indexOf(";") + 1).trim();
}

function findAddress(value: string): string {
  return /[^\s<>;,"]{1,64}@[^\s<>;,"]{1,255}/.exec(afterSemicolon(value))?.[0].toLowerCase() ?? "";
}
