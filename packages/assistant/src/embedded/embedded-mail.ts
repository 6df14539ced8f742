import {
  type Delivery,
  type DeliveryStatus,
  type MailMessage,
  type MailProvider,
  type OutgoingMail,
  type SentMail,
  worstStatus,
} from "../mail/mail-provider.ts";
import { type ReadMail, readMail } from "../mail/read-mail.ts";
import { canonicalBytes, writeMail } from "../mail/write-mail.ts";
import { type EmbeddedDatabase, guarded } from "./embedded-database.ts";
import { findMailRow, loadMailRow, putMail, readMailRow } from "./mail-rows.ts";
import { searchMails } from "./search-mails.ts";

const KEPT = "kept in the local store; add an account to really send";
const IMPORTED = "imported; the local store did not send it";

/** The mailbox in the store. A message to its owner arrives; to everybody else it is kept and said to be queued. */
export function createEmbeddedMail(database: EmbeddedDatabase): MailProvider {
  return {
    kind: "embedded",
    self: (signal) =>
      guarded(signal, () => {
        const { name, address } = database.owner();
        return { name, address };
      }),
    search: (query, signal) => guarded(signal, () => searchMails(database, query)),
    get: (id, signal) => guarded(signal, () => readKept(database, id)),
    send: (mail, signal) => guarded(signal, () => send(database, mail)),
    draft: (mail, signal) => guarded(signal, () => keepDraft(database, mail)),
    findByMessageId: (messageId, kind, signal) =>
      guarded(signal, async () => {
        const found = findMailRow(database, kind === "sent" ? "sent" : "drafts", messageId);
        return found && { ...found, delivery: await findDelivery(database, found.id) };
      }),
    delivery: (id, signal) => guarded(signal, () => findDelivery(database, id)),
  };
}

async function readKept(database: EmbeddedDatabase, id: string): Promise<MailMessage> {
  const row = loadMailRow(database, id);
  const read = await readMail(readBytes(row));
  return {
    ...readMailRow(row),
    messageId: read.messageId,
    to: read.to,
    cc: read.cc,
    bcc: read.bcc,
    replyTo: read.replyTo,
    references: read.references,
    text: read.text,
    attachments: read.attachments,
    labels: [String(row.folder), ...(Number(row.unread) === 1 ? ["unread"] : [])],
  };
}

/** A second send of the same Message-ID finds the first. */
async function send(database: EmbeddedDatabase, mail: OutgoingMail): Promise<SentMail> {
  const owner = database.owner();
  const dateMs = wholeSecond(database.now());
  const write = { from: owner, date: new Date(dateMs) };
  const bytes = canonicalBytes(await writeMail(mail, { ...write, copy: "sent" }));
  const read = await readMail(bytes);
  const received = isAddressedTo(read, owner.address)
    ? canonicalBytes(await writeMail(mail, { ...write, copy: "received" }))
    : null;
  const receivedRead = received && (await readMail(received));
  const { id, threadId } = database.within(() => {
    const thread = mail.threadId === undefined ? {} : { threadId: mail.threadId };
    const sent = putMail(database, { folder: "sent", read, bytes, unread: false, dateMs, ...thread });
    if (received && receivedRead)
      putMail(database, { folder: "inbox", read: receivedRead, bytes: received, unread: true, dateMs });
    return sent;
  });
  return { id, threadId, delivery: await findDelivery(database, id) };
}

async function keepDraft(
  database: EmbeddedDatabase,
  mail: OutgoingMail,
): Promise<{ id: string; messageId: string }> {
  const dateMs = wholeSecond(database.now());
  const write = { copy: "draft" as const, from: database.owner(), date: new Date(dateMs) };
  const bytes = canonicalBytes(await writeMail(mail, write));
  const read = await readMail(bytes);
  const { id } = putMail(database, { folder: "drafts", read, bytes, unread: false, dateMs });
  return { id, messageId: mail.messageId };
}

async function findDelivery(database: EmbeddedDatabase, id: string): Promise<Delivery> {
  const row = loadMailRow(database, id);
  const read = await readMail(readBytes(row));
  const bounces = new Map(
    database.db
      .prepare("SELECT address, detail FROM bounces WHERE message_id = ?")
      .all(String(row.message_id))
      .map(({ address, detail }) => [String(address), String(detail)]),
  );
  const hasArrived =
    row.folder === "inbox" || findMailRow(database, "inbox", String(row.message_id)) !== null;
  const own = database.owner().address.toLowerCase();
  const addresses = [...new Set(listRecipients(read).map((address) => address.toLowerCase()))];
  const recipients = addresses.map((address) => {
    const bounce = bounces.get(address);
    if (bounce !== undefined)
      return { address, status: "bounced" as const, ...(bounce ? { detail: bounce } : {}) };
    if (address === own && hasArrived) return { address, status: "delivered" as const };
    return { address, ...unsent(String(row.folder), read.isLocal) };
  });
  return { status: worstStatus(recipients), recipients, timestamp: readMailRow(row).date };
}

/** What is known of a recipient of whom nothing was heard; a delivery that did not happen is never claimed. */
function unsent(folder: string, isLocal: boolean): { status: DeliveryStatus; detail: string } {
  if (folder === "drafts") return { status: "unknown", detail: "a draft; it was not sent" };
  return folder === "sent" && isLocal
    ? { status: "queued", detail: KEPT }
    : { status: "unknown", detail: IMPORTED };
}

function isAddressedTo(read: ReadMail, address: string): boolean {
  return listRecipients(read).some((recipient) => recipient.toLowerCase() === address.toLowerCase());
}

function listRecipients({ to, cc, bcc }: ReadMail): string[] {
  return [...to, ...cc, ...bcc].map(({ address }) => address).filter(Boolean);
}

function readBytes(row: Record<string, unknown>): Uint8Array {
  return row.bytes instanceof Uint8Array ? row.bytes : new Uint8Array();
}

/** A Date header knows no smaller unit. */
function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
