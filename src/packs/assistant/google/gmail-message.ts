import type { gmail_v1 } from "@googleapis/gmail";
import type { Address, MailMessage, MailSummary } from "../mail/mail-provider.ts";
import { oneLine } from "../rfc822/header-text.ts";
import { type ReadMail, readMail } from "../rfc822/read-mail.ts";

/** Headers that a list shows. */
export const SUMMARY_HEADERS: readonly string[] = ["From", "To", "Subject", "Date"];

/** A message of a list, from its metadata. */
export async function readSummary(message: gmail_v1.Schema$Message): Promise<MailSummary> {
  const { decodeWords } = await import("postal-mime");
  return {
    ...commonOf(message),
    from: (await addressesIn(message, "From"))[0] ?? { address: "" },
    to: await addressesIn(message, "To"),
    subject: oneLine(decodeWords(headerOf(message, "Subject"))),
  };
}

/** A message in full, from its raw form. */
export async function readMessage(message: gmail_v1.Schema$Message): Promise<MailMessage> {
  const { from, to, cc, bcc, replyTo, subject, messageId, references, text, attachments } =
    await readRaw(message);
  const headers = { from, to, cc, bcc, replyTo, subject, messageId, references };
  return { ...commonOf(message), ...headers, text, attachments, labels: message.labelIds ?? [] };
}

/** What the raw form of a message says. */
export async function readRaw(message: gmail_v1.Schema$Message): Promise<ReadMail> {
  return await readMail(Buffer.from(message.raw ?? "", "base64url"));
}

/** A header from a message's metadata; empty if there is none. */
export function headerOf(message: gmail_v1.Schema$Message, name: string): string {
  const wanted = name.toLowerCase();
  const found = message.payload?.headers?.find((header) => header.name?.toLowerCase() === wanted);
  return found?.value ?? "";
}

/** The people that a header of a message's metadata names; groups are given by their members. */
export async function addressesIn(message: gmail_v1.Schema$Message, name: string): Promise<Address[]> {
  const { addressParser, decodeWords } = await import("postal-mime");
  return addressParser(headerOf(message, name), { flatten: true }).flatMap(({ name, address }) => {
    if (!address) return [];
    const shown = oneLine(decodeWords(name));
    return [{ ...(shown ? { name: shown } : {}), address: oneLine(address) }];
  });
}

/** The moment that Gmail has for a message, ISO 8601 in UTC. */
export function dateOf(message: gmail_v1.Schema$Message): string {
  const moment = Number(message.internalDate ?? Number.NaN);
  const written = Number.isFinite(moment) ? moment : Date.parse(headerOf(message, "Date"));
  return new Date(Number.isNaN(written) ? 0 : written).toISOString();
}

function commonOf(message: gmail_v1.Schema$Message) {
  return {
    id: message.id ?? "",
    threadId: message.threadId ?? "",
    date: dateOf(message),
    snippet: unescapeHtml(message.snippet ?? ""),
    unread: message.labelIds?.includes("UNREAD") ?? false,
  };
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** Gmail escapes its snippets for a web page. */
function unescapeHtml(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
