// The mailbox of the local store.

import { createHash } from "node:crypto";
import {
  cutSnippet,
  normalizeLines,
  pickMailContent,
  type ReadMail,
  readMail,
  writeMail,
} from "../mail/mail-format.ts";
import {
  type Address,
  type Delivery,
  describeDelivery,
  findBounce,
  type MailMessage,
  type MailProvider,
  type MailQuery,
  type MailSummary,
  type OutgoingMail,
  type RecipientStatus,
  type SentMail,
} from "../mail/mail-provider.ts";
import { foldText } from "../service-tools/search-words.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { type EmbeddedDatabase, parseStored, type Row } from "./embedded-database.ts";
import { buildTextConditions, type Condition, joinConditions, splitFolded } from "./search-terms.ts";

const KEPT = "kept in the local store; add an account to really send";
const IMPORTED = "imported; the local store did not send it";

/** The mailbox in the store. A message to its owner arrives; one to anybody else is kept and reported as queued. */
export function createEmbeddedMail(database: EmbeddedDatabase): MailProvider {
  return {
    kind: "embedded",
    async self() {
      const { name, address } = database.owner();
      return { name, address };
    },
    search: async (query) => searchMails(database, query),
    get: (id) => readKept(database, id),
    send: (mail) => keepSent(database, mail),
    draft: (mail) => keepDraft(database, mail),
    async findByMessageId(messageId, kind) {
      const found = findMailRow(database, kind === "sent" ? "sent" : "drafts", messageId);
      return found && { ...found, delivery: await findDelivery(database, found.id) };
    },
    delivery: (id) => findDelivery(database, id),
  };
}

async function readKept(database: EmbeddedDatabase, id: string): Promise<MailMessage> {
  const row = loadMailRow(database, id);
  return { ...readMailRow(row), ...pickMailContent(await readMail(readBytes(row))) };
}

/** A second send of the same Message-ID finds the first. */
async function keepSent(database: EmbeddedDatabase, mail: OutgoingMail): Promise<SentMail> {
  const owner = database.owner();
  const dateMs = cutToSecond(database.now());
  const write = { from: owner, date: new Date(dateMs) };
  const bytes = normalizeLines(await writeMail(mail, { ...write, copy: "sent" }));
  const read = await readMail(bytes);
  const received = isAddressedTo(read, owner.address)
    ? normalizeLines(await writeMail(mail, { ...write, copy: "received" }))
    : null;
  const receivedRead = received && (await readMail(received));
  const { id, threadId } = database.within(() => {
    const { threadId } = mail;
    const sent = putMail(database, { folder: "sent", read, bytes, unread: false, dateMs, threadId });
    if (received && receivedRead)
      putMail(database, { folder: "inbox", read: receivedRead, bytes: received, unread: true, dateMs });
    return sent;
  });
  return { id, threadId, delivery: await findDelivery(database, id) };
}

async function keepDraft(database: EmbeddedDatabase, mail: OutgoingMail): Promise<{ id: string }> {
  const dateMs = cutToSecond(database.now());
  const write = { copy: "draft" as const, from: database.owner(), date: new Date(dateMs) };
  const bytes = normalizeLines(await writeMail(mail, write));
  const read = await readMail(bytes);
  return putMail(database, { folder: "drafts", read, bytes, unread: false, dateMs });
}

async function findDelivery(database: EmbeddedDatabase, id: string): Promise<Delivery> {
  const row = loadMailRow(database, id);
  const read = await readMail(readBytes(row));
  const bounces = database
    .all("SELECT address, detail FROM bounces WHERE message_id = ?", [String(row.message_id)])
    .map(({ address, detail }) => ({ address: String(address), detail: String(detail) }));
  const hasArrived =
    row.folder === "inbox" || findMailRow(database, "inbox", String(row.message_id)) !== null;
  const own = database.owner().address.toLowerCase();
  const addresses = listRecipients(read).map((address) => address.toLowerCase());
  return describeDelivery(addresses, readMailRow(row).date, (address) => {
    const bounced = findBounce(bounces, address);
    if (bounced) return bounced;
    if (address === own && hasArrived) return { status: "delivered" };
    return describeUnsent(String(row.folder), read.isLocal);
  });
}

/** What is known of a recipient without a report; a delivery that did not happen is never claimed. */
function describeUnsent(folder: string, isLocal: boolean): Omit<RecipientStatus, "address"> {
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

function readBytes(row: Row): Uint8Array {
  return row.bytes instanceof Uint8Array ? row.bytes : new Uint8Array();
}

/** A Date header knows no smaller unit. */
function cutToSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Messages that fit, newest first. Drafts are left out, so that none is taken for a sent message. */
function searchMails(
  database: EmbeddedDatabase,
  query: MailQuery,
): { messages: MailSummary[]; total: number } {
  const { where, values } = joinConditions(buildConditions(query, database.owner().address));
  const total = Number(database.get(`SELECT count(*) AS n FROM mails WHERE ${where}`, values)?.n);
  const rows = database.all(
    `SELECT id, thread_id, sender, recipients, subject, date_ms, snippet, unread FROM mails
     WHERE ${where} ORDER BY date_ms DESC, id LIMIT ?`,
    [...values, query.limit],
  );
  return { messages: rows.map(readMailRow), total };
}

function buildConditions(query: MailQuery, owner: string): Condition[] {
  const { text = "", from, to, subject, after, before, unread, hasAttachment } = query;
  const person = (said: string | undefined) => (said?.trim().toLowerCase() === "me" ? owner : said);
  return [
    { sql: "folder <> 'drafts'", values: [] },
    ...buildWordConditions("sender_words", person(from)),
    ...buildWordConditions("recipient_words", person(to)),
    ...buildWordConditions("subject_words", subject),
    ...(after === undefined ? [] : [{ sql: "date_ms >= ?", values: [parseMoment(after)] }]),
    ...(before === undefined ? [] : [{ sql: "date_ms < ?", values: [parseMoment(before)] }]),
    ...(unread === undefined ? [] : [{ sql: "unread = ?", values: [Number(unread)] }]),
    ...(hasAttachment === undefined ? [] : [{ sql: "has_attachment = ?", values: [Number(hasAttachment)] }]),
    ...buildTextCondition(text),
  ];
}

function buildTextCondition(text: string): Condition[] {
  if (text.trim() === "") return [];
  const searched = { table: "mail_texts", columns: ["subject", "people", "body"], row: "row" };
  // A query without any word finds nothing.
  return buildTextConditions(text, searched) ?? [{ sql: "0", values: [] }];
}

function buildWordConditions(column: string, text = ""): Condition[] {
  return splitFolded(text).map((part) => ({ sql: `instr(${column}, ?) > 0`, values: [part] }));
}

function parseMoment(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new ToolFault("params", `${JSON.stringify(text.slice(0, 50))} is not a date.`);
  return ms;
}

/** Where a message is kept. */
export type MailFolder = "inbox" | "sent" | "drafts";

/** A message as it goes into the store. */
type NewMail = {
  readonly folder: MailFolder;
  readonly read: ReadMail;
  readonly bytes: Uint8Array;
  readonly unread: boolean;
  /** Counts if the message says none. */
  readonly dateMs: number;
  /** The thread it answers in, if its headers do not say so. */
  readonly threadId?: string;
};

/** A message that was stored now or before. */
type KeptMail = { readonly id: string; readonly threadId: string; readonly isNew: boolean };

const MAX_INDEXED_CHARS = 1_000_000;

/** Puts a message in unless its folder has one of this Message-ID. */
export function putMail(database: EmbeddedDatabase, mail: NewMail): KeptMail {
  const { read, folder, bytes } = mail;
  const messageId = read.messageId || `<${hashContent(bytes)}@missing.invalid>`;
  return database.within(() => {
    const known = findMailRow(database, folder, messageId);
    if (known) return { ...known, isNew: false };
    const id = `${folder}-${hashContent(messageId)}`;
    const threadId = joinThread(database, [...read.references, messageId], mail.threadId);
    const people = [read.from, ...read.to, ...read.cc, ...read.bcc];
    const { subject } = read;
    const rowid = database.insert("mails", {
      id,
      folder,
      message_id: messageId,
      thread_id: threadId,
      date_ms: read.dateMs ?? mail.dateMs,
      sender: JSON.stringify(read.from),
      recipients: JSON.stringify(read.to),
      sender_words: foldText(joinPeople([read.from])),
      recipient_words: foldText(joinPeople([...read.to, ...read.cc, ...read.bcc])),
      subject,
      subject_words: foldText(subject),
      snippet: cutSnippet(read.text),
      unread: Number(mail.unread),
      has_attachment: Number(read.attachments.length > 0),
      bytes,
    });
    if (rowid === null) throw new ToolFault("tool_error", "the message could not be kept");
    const body = read.text.slice(0, MAX_INDEXED_CHARS);
    database.insert("mail_texts", { rowid, subject, people: joinPeople(people), body });
    for (const { messageId: message_id, ...bounce } of read.bounces)
      database.insert("bounces", { message_id, status: "bounced", ...bounce });
    return { id, threadId, isNew: true };
  });
}

/** The message of a folder that has this Message-ID. */
function findMailRow(
  database: EmbeddedDatabase,
  folder: MailFolder,
  messageId: string,
): { id: string; threadId: string } | null {
  const named = [folder, messageId];
  const row = database.get("SELECT id, thread_id FROM mails WHERE folder = ? AND message_id = ?", named);
  return row ? { id: String(row.id), threadId: String(row.thread_id) } : null;
}

/** A row by its id; `params` if there is none. */
export function loadMailRow(database: EmbeddedDatabase, id: string): Row {
  const row = database.get("SELECT * FROM mails WHERE id = ?", [id]);
  if (!row)
    throw new ToolFault(
      "params",
      `There is no message ${JSON.stringify(id.slice(0, 100))}; search gives the ids.`,
    );
  return row;
}

/** A row as a list shows it. */
function readMailRow(row: Row): MailSummary {
  return {
    id: String(row.id),
    threadId: String(row.thread_id),
    from: parseStored<Address>(row.sender),
    to: parseStored<Address[]>(row.recipients),
    subject: String(row.subject),
    date: new Date(Number(row.date_ms)).toISOString(),
    snippet: String(row.snippet),
    unread: Number(row.unread) === 1,
  };
}

function joinPeople(people: readonly Address[]): string {
  return people.map(({ name, address }) => `${name ?? ""} ${address}`).join(" ");
}

function hashContent(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/**
 * The thread of a message and of those it refers to; the message itself comes last. Threads that turn out to be one
 * are joined, so that the order of messages does not matter.
 */
function joinThread(database: EmbeddedDatabase, messageIds: readonly string[], wanted?: string): string {
  const threads = new Set<string>();
  const isKnown =
    wanted !== undefined && database.get("SELECT 1 FROM thread_ids WHERE thread_id = ?", [wanted]);
  if (wanted !== undefined && isKnown) threads.add(wanted);
  for (const id of messageIds) {
    const row = database.get("SELECT thread_id FROM thread_ids WHERE message_id = ?", [id]);
    if (row) threads.add(String(row.thread_id));
  }
  const [thread = nameThread(messageIds[0] ?? ""), ...others] = threads;
  for (const other of others) {
    database.run("UPDATE thread_ids SET thread_id = ? WHERE thread_id = ?", [thread, other]);
    database.run("UPDATE mails SET thread_id = ? WHERE thread_id = ?", [thread, other]);
  }
  for (const id of messageIds) database.insert("thread_ids", { message_id: id, thread_id: thread });
  return thread;
}

function nameThread(messageId: string): string {
  return `thread-${hashContent(messageId)}`;
}
