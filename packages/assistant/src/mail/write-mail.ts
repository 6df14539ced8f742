import { ToolFault } from "../service-tools/tool-fault.ts";
import type { Address, OutgoingMail } from "./mail-provider.ts";
import { LOCAL_HEADER, oneLine } from "./read-mail.ts";

/** Which copy of a message is written: with hidden recipients for the sender (`own`: and nothing else), without them for a reader. */
export type MailCopy = "sent" | "draft" | "received" | "own";

const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{Cc}]{1,64}@[^\s@<>,;:"()\\\p{Cc}]{1,255}$/u;
const MESSAGE_ID = /^<[^<>\s\p{Cc}]{1,900}>$/u;

/** A message of RFC 822. Nothing in a subject, a name or a text can become a header of its own. */
export async function writeMail(
  mail: OutgoingMail,
  { copy, from, date }: { copy: MailCopy; from: Address; date: Date },
): Promise<Uint8Array> {
  for (const address of [...mail.to, ...mail.cc, ...mail.bcc]) check(ADDRESS, address, "a mail address");
  for (const id of [mail.messageId, mail.inReplyTo, ...(mail.references ?? [])])
    if (id !== undefined) check(MESSAGE_ID, id, "a Message-ID");
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const node = new MailComposer({
    from: { name: oneLine(from.name ?? ""), address: from.address },
    to: mail.to.map(mailbox),
    cc: mail.cc.map(mailbox),
    bcc: mail.bcc.map(mailbox),
    subject: oneLine(mail.subject),
    text: mail.text.toWellFormed(),
    messageId: mail.messageId,
    date,
    ...(mail.inReplyTo ? { inReplyTo: mail.inReplyTo } : {}),
    ...(mail.references?.length ? { references: [...mail.references] } : {}),
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

/** As an object, so that a mail library reads exactly one address in it. */
function mailbox(address: string): { name: string; address: string } {
  return { name: "", address };
}

function check(pattern: RegExp, value: string, what: string): void {
  if (!pattern.test(value))
    throw new ToolFault("params", `${JSON.stringify(value.slice(0, 200))} is not ${what}.`);
}

/**
 * A message with line ends as RFC 822 has them, and one at its end. All messages are kept so: then their text can go
 * through formats with other line ends and come back the same.
 */
export function canonicalBytes(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/\r\n|\r|\n/g, "\r\n");
  return Buffer.from(text.endsWith("\r\n") ? text : `${text}\r\n`, "latin1");
}
