// Gmail's messages and its language of searches.

import type { gmail_v1 } from "@googleapis/gmail";
import { oneLine, pickMailContent, type ReadMail, readMail, writeMail } from "../mail/mail-format.ts";
import type { MailMessage, MailQuery, MailSummary, OutgoingMail } from "../mail/mail-provider.ts";
import { type Phrase, splitPhrases } from "../service-tools/search-words.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";

/** Headers that a list shows. */
export const SUMMARY_HEADERS: readonly string[] = ["From", "To", "Subject", "Date"];

/** Keeps our Message-ID where Gmail replaces the header. */
export const ORIGINAL_ID_HEADER = "X-Retinue-Message-ID";

/** Words that Gmail reads as operators when they stand alone. */
const OPERATOR_WORDS: ReadonlySet<string> = new Set(["AND", "OR", "AROUND", "NOT"]);
const PLAIN_WORD = /^[\p{L}\p{N}](?:[\p{L}\p{N}@._+'’-]*[\p{L}\p{N}])?$/u;

/** A message of a list, from its metadata. */
export async function readGmailSummary(message: gmail_v1.Schema$Message): Promise<MailSummary> {
  const { from, to, subject } = await readGmailHead(message);
  return { ...readCommon(message), from, to, subject };
}

/** A message in full, from its raw form. */
export async function readGmailMessage(message: gmail_v1.Schema$Message): Promise<MailMessage> {
  return { ...readCommon(message), ...pickMailContent(await readRawGmail(message)) };
}

/** What the raw form of a message says. */
export function readRawGmail({ raw }: gmail_v1.Schema$Message): Promise<ReadMail> {
  return readMail(Buffer.from(raw ?? "", "base64url"));
}

/** What the headers in a message's metadata say. */
export function readGmailHead({ payload }: gmail_v1.Schema$Message): Promise<ReadMail> {
  const lines = (payload?.headers ?? []).map(({ name, value }) => oneLine(`${name}: ${value}`));
  return readMail(Buffer.from(lines.join("\r\n")));
}

/** A header from a message's metadata; empty if there is none. */
export function readGmailHeader(message: gmail_v1.Schema$Message, name: string): string {
  const wanted = name.toLowerCase();
  const found = message.payload?.headers?.find((header) => header.name?.toLowerCase() === wanted);
  return found?.value ?? "";
}

/** The moment that Gmail has for a message, ISO 8601 in UTC. */
export function readGmailDate(message: gmail_v1.Schema$Message): string {
  const moment = Number(message.internalDate ?? Number.NaN);
  const written = Number.isFinite(moment) ? moment : Date.parse(readGmailHeader(message, "Date"));
  return new Date(Number.isNaN(written) ? 0 : written).toISOString();
}

function readCommon(message: gmail_v1.Schema$Message) {
  return {
    id: message.id ?? "",
    threadId: message.threadId ?? "",
    date: readGmailDate(message),
    snippet: unescapeHtml(message.snippet ?? ""),
    unread: message.labelIds?.includes("UNREAD") ?? false,
  };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** Gmail escapes its snippets for a web page. */
function unescapeHtml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** A message as it goes over the wire, in base64url; Gmail reads the Bcc from its header and takes it out. */
export async function composeRaw(mail: OutgoingMail, from: string): Promise<string> {
  const bytes = await writeMail(mail, { copy: "own", from: { address: from }, date: new Date() });
  const first = Buffer.from(`${ORIGINAL_ID_HEADER}: ${mail.messageId}\r\n`);
  return Buffer.concat([first, bytes]).toString("base64url");
}

/** What is searched for in Gmail's own language; nothing in a value can become an operator. */
export function buildGmailQuery(query: MailQuery): string {
  const parts = [
    ...splitPhrases(query.text).map(buildTerm),
    ...buildField("from", query.from),
    ...buildField("to", query.to),
    ...buildField("subject", query.subject),
  ].filter(Boolean);
  if (query.after) parts.push(`after:${toSeconds(query.after) - 1}`);
  if (query.before) parts.push(`before:${toSeconds(query.before) + 1}`);
  if (query.unread !== undefined) parts.push(query.unread ? "is:unread" : "is:read");
  if (query.hasAttachment !== undefined) {
    parts.push(query.hasAttachment ? "has:attachment" : "-has:attachment");
  }
  return parts.join(" ");
}

/** Whether a moment is within a query's own bounds; Gmail's are whole seconds. */
export function isWithinQuery(date: string, { after, before }: MailQuery): boolean {
  const moment = Date.parse(date);
  return (!after || moment >= Date.parse(after)) && (!before || moment < Date.parse(before));
}

/** Each word must be there; a value in quotes stays one phrase. */
function buildField(name: string, value: string | undefined): string[] {
  return splitPhrases(value)
    .map(buildTerm)
    .filter(Boolean)
    .map((one) => `${name}:${one}`);
}

/** A plain word as it is; all else as a phrase, whose punctuation Gmail ignores. */
function buildTerm({ text }: Phrase): string {
  const bare = text.replace(/^[-+~{}()[\]]+|[{}()[\]]+$/g, "");
  if (PLAIN_WORD.test(bare) && !OPERATOR_WORDS.has(bare.toUpperCase())) return bare;
  const quoted = bare.replace(/["\\:\p{Cc}]+/gu, " ").trim();
  return quoted ? `"${quoted}"` : "";
}

function toSeconds(date: string): number {
  const moment = Date.parse(date);
  if (Number.isNaN(moment)) throw new ToolFault("params", `'${date}' is not a date`);
  return Math.floor(moment / 1_000);
}
