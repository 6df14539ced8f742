import { createHash } from "node:crypto";
import { ToolFault } from "../errors/tool-fault.ts";
import type { Address, MailSummary } from "../mail/mail-provider.ts";
import type { ReadMail } from "../rfc822/read-mail.ts";
import { cleanText, type EmbeddedDatabase, rowid } from "./embedded-database.ts";
import { foldText } from "./guarded.ts";
import { joinThread } from "./mail-threads.ts";

/** Where a message is kept. */
export type MailFolder = "inbox" | "sent" | "drafts";

/** A message as it goes into the store. */
export type NewMail = {
  readonly folder: MailFolder;
  readonly read: ReadMail;
  readonly bytes: Uint8Array;
  readonly unread: boolean;
  /** Counts if the message says none. */
  readonly dateMs: number;
  /** The thread it is an answer in, if that is known otherwise than by its headers. */
  readonly threadId?: string;
};

/** A message as it was put in, or was found there. */
export type KeptMail = { readonly id: string; readonly threadId: string; readonly isNew: boolean };

const MAX_INDEXED_CHARS = 1_000_000;
const SNIPPET_CHARS = 200;

/** Puts a message in unless its folder has one of this Message-ID. */
export function putMail(database: EmbeddedDatabase, mail: NewMail): KeptMail {
  const { read, folder, bytes } = mail;
  const messageId = read.messageId || `<${hash(bytes)}@missing.invalid>`;
  return database.within((db) => {
    const known = findMail(database, folder, messageId);
    if (known) return { ...known, isNew: false };
    const id = `${folder}-${hash(messageId)}`;
    const threadId = joinThread(db, [...read.references, messageId], mail.threadId);
    const people = [read.from, ...read.to, ...read.cc, ...read.bcc];
    const { lastInsertRowid } = db
      .prepare(
        `INSERT INTO mails (id, folder, message_id, thread_id, date_ms, sender, recipients, sender_words,
           recipient_words, subject, subject_words, snippet, unread, has_attachment, bytes)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        folder,
        messageId,
        threadId,
        read.dateMs ?? mail.dateMs,
        JSON.stringify(read.from),
        JSON.stringify(read.to),
        foldText(cleanText(wordsOf([read.from]))),
        foldText(cleanText(wordsOf([...read.to, ...read.cc, ...read.bcc]))),
        cleanText(read.subject),
        foldText(cleanText(read.subject)),
        snippetOf(read.text),
        mail.unread ? 1 : 0,
        read.attachments.length > 0 ? 1 : 0,
        bytes,
      );
    db.prepare("INSERT INTO mail_texts (rowid, subject, people, body) VALUES (?, ?, ?, ?)").run(
      rowid(lastInsertRowid),
      cleanText(read.subject),
      cleanText(wordsOf(people)),
      cleanText(read.text.slice(0, MAX_INDEXED_CHARS)),
    );
    const bounced = db.prepare(
      "INSERT OR IGNORE INTO bounces (message_id, address, status, detail) VALUES (?, ?, 'bounced', ?)",
    );
    for (const bounce of read.bounces)
      bounced.run(bounce.messageId, bounce.address, cleanText(bounce.detail));
    return { id, threadId, isNew: true };
  });
}

/** The message of a folder that has this Message-ID. */
export function findMail(
  database: EmbeddedDatabase,
  folder: MailFolder,
  messageId: string,
): { id: string; threadId: string } | null {
  const row = database.db
    .prepare("SELECT id, thread_id FROM mails WHERE folder = ? AND message_id = ?")
    .get(folder, messageId);
  return row ? { id: String(row.id), threadId: String(row.thread_id) } : null;
}

/** A row by its id; `params` if there is none. */
export function mailRow(database: EmbeddedDatabase, id: string): Record<string, unknown> {
  const row = database.db.prepare("SELECT * FROM mails WHERE id = ?").get(cleanText(id));
  if (!row)
    throw new ToolFault(
      "params",
      `There is no message ${JSON.stringify(id.slice(0, 100))}; search gives the ids.`,
    );
  return row;
}

/** A row as it stands in a list. */
export function summaryOf(row: Record<string, unknown>): MailSummary {
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

/** JSON that this store wrote itself. */
export function parseStored<T>(column: unknown): T {
  return JSON.parse(String(column)) as T;
}

function wordsOf(people: readonly Address[]): string {
  return people.map(({ name, address }) => `${name ?? ""} ${address}`).join(" ");
}

function snippetOf(text: string): string {
  const start = cleanText(text.slice(0, SNIPPET_CHARS * 10))
    .replaceAll(/\s+/g, " ")
    .trim();
  return start.length > SNIPPET_CHARS ? `${start.slice(0, SNIPPET_CHARS).toWellFormed().trimEnd()}…` : start;
}

function hash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}
