// Messages of RFC 822: reading them with postal-mime, writing them with nodemailer.

import type { Attachment, Email, Address as ParsedAddress } from "postal-mime";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { Address, MailContent, OutgoingMail } from "./mail-provider.ts";

/** A message of RFC 822 as it was read. */
export type ReadMail = MailContent & {
  /** Milliseconds since 1970; null if it has no date that can be read. */
  readonly dateMs: number | null;
  readonly bounces: readonly Bounce[];
  /** Kept by a mail program before it was sent. */
  readonly isDraft: boolean;
  /** Handed over to this store, which sends nothing to anybody else. */
  readonly isLocal: boolean;
};

/** Marks a message that this store took for sending. */
const LOCAL_HEADER = "X-Retinue-Delivery";

/** The largest message that is read. */
const MAX_MAIL_BYTES = 32 * 1024 * 1024;
/** Parsing takes time by the line; the largest message with attachments has fewer. */
const MAX_LINES = 600_000;
/** Up to this length the messages within a message are read with it, each of whose lines takes its time again. */
const MAX_INLINE_LINES = 50_000;
const LIMITS = { maxNestingDepth: 64, maxHeadersSize: 512 * 1024, maxRfc822NestingDepth: 4 } as const;
const SNIPPET_CHARS = 200;
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

/** The content of a message that was read, without what was derived from it. */
export function pickMailContent(mail: ReadMail): MailContent {
  const { dateMs: _date, bounces: _bounces, isDraft: _draft, isLocal: _local, ...content } = mail;
  return content;
}

/** The first words of a text, on one line. */
export function cutSnippet(text: string): string {
  const start = text
    .slice(0, SNIPPET_CHARS * 10)
    .toWellFormed()
    .replaceAll(/[\s\0]+/g, " ")
    .trim();
  return start.length > SNIPPET_CHARS ? `${start.slice(0, SNIPPET_CHARS).toWellFormed().trimEnd()}…` : start;
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
      if (shown || address) found.push({ name: shown || undefined, address: oneLine(address) });
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
      const words = cutAfterSemicolon(fields.get("diagnostic-code") ?? "") || (fields.get("status") ?? "");
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

function cutAfterSemicolon(value: string): string {
  return value.slice(value.indexOf(";") + 1).trim();
}

function findAddress(value: string): string {
  return /[^\s<>;,"]{1,64}@[^\s<>;,"]{1,255}/.exec(cutAfterSemicolon(value))?.[0].toLowerCase() ?? "";
}

const MAX_HTML_CHARS = 2_000_000;
const MAX_TEXT_CHARS = 1_000_000;
const UNSEEN = new Set(["head", "script", "style", "template", "noscript", "title", "object", "svg", "math"]);
const BLOCKS = new Set(
  "address article aside blockquote br div dl dt dd figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul".split(
    " ",
  ),
);
const CELLS = new Set(["td", "th"]);
const HIDDEN_STYLE =
  /display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d]*[1-9])/i;

type Node = {
  nodeName: string;
  value?: string;
  attrs?: readonly { name: string; value: string }[];
  childNodes?: readonly Node[];
};

/** The text that a reader of an HTML mail sees: what is hidden is left out, and a link shows where it leads. */
export async function htmlToText(html: string): Promise<string> {
  const { parse } = await import("parse5");
  const root: Node = parse(html.slice(0, MAX_HTML_CHARS));
  const parts: string[] = [];
  // A stack of its own: hostile mails nest deeper than calls can.
  const todo: (Node | string)[] = [root];
  let length = 0;
  while (todo.length > 0 && length < MAX_TEXT_CHARS) {
    const next = todo.pop();
    if (next === undefined) break;
    const text = typeof next === "string" ? next : enterNode(next, todo);
    length += text.length;
    parts.push(text);
  }
  return tidyText(parts.join(""));
}

/** The text of a node itself; its children go on the stack. */
function enterNode(node: Node, todo: (Node | string)[]): string {
  if (node.nodeName === "#text") return (node.value ?? "").replaceAll(/[\s\u00A0]+/g, " ");
  if (isUnseen(node)) return "";
  const isBlock = BLOCKS.has(node.nodeName);
  if (isBlock) todo.push("\n");
  if (CELLS.has(node.nodeName)) todo.push(" ");
  const target = node.nodeName === "a" ? readAttribute(node, "href") : "";
  if (/^(https?|mailto):/i.test(target)) todo.push(` (${target})`);
  for (const child of [...(node.childNodes ?? [])].reverse()) todo.push(child);
  if (node.nodeName === "li") return "\n- ";
  return isBlock ? "\n" : "";
}

function isUnseen(node: Node): boolean {
  if (UNSEEN.has(node.nodeName)) return true;
  return (node.attrs ?? []).some(
    ({ name, value }) => name === "hidden" || (name === "style" && HIDDEN_STYLE.test(value)),
  );
}

function readAttribute(node: Node, wanted: string): string {
  return node.attrs?.find(({ name }) => name === wanted)?.value.trim() ?? "";
}

function tidyText(text: string): string {
  return text
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** Which copy of a message is written: for the sender, with hidden recipients and, unless `own`, a mark; or for a reader, without both. */
export type MailCopy = "sent" | "draft" | "received" | "own";

const WRITTEN_ADDRESS = /^[^\s@<>,;:"()[\]\\\p{Cc}]{1,64}@[^\s@<>,;:"()\\\p{Cc}]{1,255}$/u;
const WRITTEN_ID = /^<[^<>\s\p{Cc}]{1,900}>$/u;

/** A message of RFC 822. Nothing in a subject, a name or a text can become a header of its own. */
export async function writeMail(
  mail: OutgoingMail,
  { copy, from, date }: { copy: MailCopy; from: Address; date: Date },
): Promise<Uint8Array> {
  for (const address of [...mail.to, ...mail.cc, ...mail.bcc])
    checkPattern(WRITTEN_ADDRESS, address, "a mail address");
  for (const id of [mail.messageId, mail.inReplyTo, ...(mail.references ?? [])])
    if (id !== undefined) checkPattern(WRITTEN_ID, id, "a Message-ID");
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const node = new MailComposer({
    from: { name: oneLine(from.name ?? ""), address: from.address },
    to: mail.to.map(buildMailbox),
    cc: mail.cc.map(buildMailbox),
    bcc: mail.bcc.map(buildMailbox),
    subject: oneLine(mail.subject),
    text: mail.text.toWellFormed(),
    messageId: mail.messageId,
    date,
    inReplyTo: mail.inReplyTo,
    references: mail.references?.length ? [...mail.references] : undefined,
    headers: markCopy(copy),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  node.keepBcc = copy !== "received";
  return node.build();
}

function markCopy(copy: MailCopy): Record<string, string> {
  if (copy === "draft") return { "X-Unsent": "1" };
  return copy === "sent" ? { [LOCAL_HEADER]: "kept" } : {};
}

/** As an object, so that the mail library reads exactly one address. */
function buildMailbox(address: string): { name: string; address: string } {
  return { name: "", address };
}

function checkPattern(pattern: RegExp, value: string, what: string): void {
  if (!pattern.test(value))
    throw new ToolFault("params", `${JSON.stringify(value.slice(0, 200))} is not ${what}.`);
}

/**
 * A message with line ends as RFC 822 has them, and one at its end. All messages are kept so: then their text can go
 * through formats with other line ends and come back the same.
 */
export function normalizeLines(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/\r\n|\r|\n/g, "\r\n");
  return Buffer.from(text.endsWith("\r\n") ? text : `${text}\r\n`, "latin1");
}
