import type { Attachment, Email, Address as ParsedAddress } from "postal-mime";
import type { Address } from "../mail/mail-provider.ts";
import { messageIdsIn, oneLine } from "./header-text.ts";
import { htmlText } from "./html-text.ts";
import { type Bounce, readBounces } from "./read-bounces.ts";

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

/** Reads a message; raises an error that says what is wrong with it if it is nested too deep or too large. */
export async function readMail(bytes: Uint8Array): Promise<ReadMail> {
  const excess = excessOf(bytes);
  if (excess) throw new RangeError(excess);
  const { default: PostalMime } = await import("postal-mime");
  const isLong = linesOf(bytes) > MAX_INLINE_LINES;
  const email = await PostalMime.parse(bytes, { ...LIMITS, forceRfc822Attachments: isLong });
  const header = (name: string) => email.headers.find(({ key }) => key === name)?.value.trim() ?? "";
  return {
    messageId: messageIdsIn(email.messageId)[0] ?? "",
    from: addressesOf(email.from ? [email.from] : [])[0] ?? { address: "" },
    to: addressesOf(email.to),
    cc: addressesOf(email.cc),
    bcc: addressesOf(email.bcc),
    replyTo: addressesOf(email.replyTo),
    subject: oneLine(email.subject ?? "").slice(0, MAX_SUBJECT_CHARS),
    dateMs: dateOf(email.date) ?? dateOf(header("received").split(";").at(-1)),
    references: referencesOf(email),
    text: await textOf(email),
    attachments: email.attachments.map(attachmentOf),
    bounces: readBounces(email),
    isDraft: header("x-unsent") === "1",
    isLocal: header(LOCAL_HEADER.toLowerCase()) !== "",
  };
}

/** Why a message is too large to be read; null if it is not. */
export function excessOf(bytes: Uint8Array): string | null {
  if (bytes.byteLength > MAX_MAIL_BYTES) return "the message is larger than 32 MB";
  return linesOf(bytes) > MAX_LINES ? `the message has more than ${MAX_LINES} lines` : null;
}

function linesOf(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0 && lines <= MAX_LINES; at = bytes.indexOf(10, at + 1)) lines++;
  return lines;
}

function referencesOf(email: Email): string[] {
  const all = [...messageIdsIn(email.references), ...messageIdsIn(email.inReplyTo)];
  const distinct = [...new Set(all)];
  if (distinct.length <= MAX_REFERENCES) return distinct;
  return [...distinct.slice(0, 1), ...distinct.slice(1 - MAX_REFERENCES)];
}

function addressesOf(parsed: readonly ParsedAddress[] | undefined): Address[] {
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

function attachmentOf({ filename, mimeType, content }: Attachment) {
  const bytes = typeof content === "string" ? Buffer.byteLength(content) : content.byteLength;
  return { name: oneLine(filename ?? "unnamed").slice(0, 255), type: mimeType, bytes };
}

async function textOf({ text, html }: Email): Promise<string> {
  const plain = text?.replaceAll(/\r\n?/g, "\n").trimEnd() ?? "";
  return plain || !html ? plain : htmlText(html);
}

function dateOf(value: string | undefined): number | null {
  const ms = Date.parse(value ?? "");
  return ms >= 0 && ms <= LATEST_MS ? ms : null;
}
