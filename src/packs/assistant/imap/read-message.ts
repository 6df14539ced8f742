import type { FetchMessageObject, ImapFlow } from "imapflow";
import { ToolFault } from "../errors/tool-fault.ts";
import type { MailMessage, MailSummary } from "../mail/mail-provider.ts";
import { type ReadMail, readMail } from "../rfc822/read-mail.ts";
import { type MailPlace, mailId, noMessage } from "./mail-place.ts";

const SNIPPET_CHARS = 200;
/** How much of a message is fetched for a line in a list. */
const HEAD_BYTES = 32_000;
/** A message that is larger is read up to here; its attachments are cut, its text is not. */
const WHOLE_BYTES = 30_000_000;

/** A message as it was fetched and read. */
export type Fetched = {
  readonly place: MailPlace;
  readonly raw: FetchMessageObject;
  readonly mail: ReadMail;
};

/** Fetches one message of the folder that is open; `params` if it is gone. */
export async function fetchMail(
  client: ImapFlow,
  place: MailPlace,
  part: "head" | "whole",
): Promise<Fetched> {
  const answer = await client.fetchOne(
    String(place.uid),
    {
      uid: true,
      flags: true,
      internalDate: true,
      source: { start: 0, maxLength: part === "head" ? HEAD_BYTES : WHOLE_BYTES },
    },
    { uid: true },
  );
  const raw = answer || undefined;
  if (!raw?.source) throw noMessage(mailId(place));
  try {
    return { place, raw, mail: await readMail(raw.source) };
  } catch (error) {
    const why = error instanceof Error ? error.message : "it is no mail";
    throw new ToolFault("tool_error", `the message ${mailId(place)} cannot be read: ${why}`, {
      cause: error,
    });
  }
}

/** A fetched message as a line in a list. */
export function summaryOf({ place, raw, mail }: Fetched): MailSummary {
  return {
    id: mailId(place),
    threadId: threadOf(mail),
    from: mail.from,
    to: mail.to,
    subject: mail.subject,
    date: dateOf({ raw, mail }),
    snippet: mail.text.replace(/\s+/g, " ").trim().slice(0, SNIPPET_CHARS).toWellFormed(),
    unread: !raw.flags?.has("\\Seen"),
  };
}

/** A fetched message in full. */
export function messageOf(fetched: Fetched): MailMessage {
  const { mail, place } = fetched;
  return {
    ...summaryOf(fetched),
    messageId: mail.messageId,
    cc: mail.cc,
    bcc: mail.bcc,
    replyTo: mail.replyTo,
    references: mail.references,
    text: mail.text,
    attachments: mail.attachments,
    labels: [place.folder],
  };
}

/** IMAP knows no threads everywhere: a thread is named by the Message-ID that began it. */
export function threadOf(mail: Pick<ReadMail, "references" | "messageId">): string {
  return mail.references[0] ?? mail.messageId;
}

function dateOf({ raw, mail }: Pick<Fetched, "raw" | "mail">): string {
  const ms = mail.dateMs ?? arrivalMs(raw);
  return new Date(ms).toISOString();
}

/** When the server got a message; 0 if it does not say. */
export function arrivalMs(raw: FetchMessageObject): number {
  const ms = new Date(raw.internalDate ?? 0).getTime();
  return Number.isNaN(ms) ? 0 : ms;
}
