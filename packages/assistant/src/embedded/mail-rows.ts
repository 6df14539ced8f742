import { createHash } from "node:crypto";
import type { Database } from "@retinue/core/record/file/open-database";
import type { Address, MailSummary } from "../mail/mail-provider.ts";
import type { ReadMail } from "../mail/read-mail.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { foldText } from "../service-tools/tool-output.ts";
import { bindRowid, cleanColumn, type EmbeddedDatabase } from "./embedded-database.ts";

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
  /** The thread it is an answer in, if that is known otherwise than by its headers. */
  readonly threadId?: string;
};

/** A message as it was put in, or was found there. */
type KeptMail = { readonly id: string; readonly threadId: string; readonly isNew: boolean };

const MAX_INDEXED_CHARS = 1_000_000;
const SNIPPET_CHARS = 200;

/** Puts a message in unless its folder has one of this Message-ID. */
export function putMail(database: EmbeddedDatabase, mail: NewMail): KeptMail {
  const { read, folder, bytes } = mail;
  const messageId = read.messageId || `<${hash(bytes)}@missing.invalid>`;
  return database.within((db) => {
    const known = findMailRow(database, folder, messageId);
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
        foldText(cleanColumn(joinPeople([read.from]))),
        foldText(cleanColumn(joinPeople([...read.to, ...read.cc, ...read.bcc]))),
        cleanColumn(read.subject),
        foldText(cleanColumn(read.subject)),
        cutSnippet(read.text),
        mail.unread ? 1 : 0,
        read.attachments.length > 0 ? 1 : 0,
        bytes,
      );
    db.prepare("INSERT INTO mail_texts (rowid, subject, people, body) VALUES (?, ?, ?, ?)").run(
      bindRowid(lastInsertRowid),
      cleanColumn(read.subject),
      cleanColumn(joinPeople(people)),
      cleanColumn(read.text.slice(0, MAX_INDEXED_CHARS)),
    );
    const bounced = db.prepare(
      "INSERT OR IGNORE INTO bounces (message_id, address, status, detail) VALUES (?, ?, 'bounced', ?)",
    );
    for (const bounce of read.bounces)
      bounced.run(bounce.messageId, bounce.address, cleanColumn(bounce.detail));
    return { id, threadId, isNew: true };
  });
}

/** The message of a folder that has this Message-ID. */
export function findMailRow(
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
export function loadMailRow(database: EmbeddedDatabase, id: string): Record<string, unknown> {
  const row = database.db.prepare("SELECT * FROM mails WHERE id = ?").get(cleanColumn(id));
  if (!row)
    throw new ToolFault(
      "params",
      `There is no message ${JSON.stringify(id.slice(0, 100))}; search gives the ids.`,
    );
  return row;
}

/** A row as it stands in a list. */
export function readMailRow(row: Record<string, unknown>): MailSummary {
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

function joinPeople(people: readonly Address[]): string {
  return people.map(({ name, address }) => `${name ?? ""} ${address}`).join(" ");
}

function cutSnippet(text: string): string {
  const start = cleanColumn(text.slice(0, SNIPPET_CHARS * 10))
    .replaceAll(/\s+/g, " ")
    .trim();
  return start.length > SNIPPET_CHARS ? `${start.slice(0, SNIPPET_CHARS).toWellFormed().trimEnd()}…` : start;
}

function hash(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 16);
}

/**
 * The thread of a message and of those it refers to; the message itself stands last. Threads that turn out to be one
 * are joined, so that the order in which messages come in does not matter.
 */
function joinThread(db: Database["db"], messageIds: readonly string[], wanted?: string): string {
  const select = db.prepare("SELECT thread_id FROM thread_ids WHERE message_id = ?");
  const threads = new Set<string>();
  const isKnown =
    wanted !== undefined && db.prepare("SELECT 1 FROM thread_ids WHERE thread_id = ?").get(wanted);
  if (wanted !== undefined && isKnown) threads.add(wanted);
  for (const id of messageIds) {
    const row = select.get(id);
    if (row) threads.add(String(row.thread_id));
  }
  const [thread = nameThread(messageIds[0] ?? ""), ...others] = threads;
  for (const other of others) {
    db.prepare("UPDATE thread_ids SET thread_id = ? WHERE thread_id = ?").run(thread, other);
    db.prepare("UPDATE mails SET thread_id = ? WHERE thread_id = ?").run(thread, other);
  }
  const insert = db.prepare("INSERT OR IGNORE INTO thread_ids (message_id, thread_id) VALUES (?, ?)");
  for (const id of messageIds) insert.run(id, thread);
  return thread;
}

function nameThread(messageId: string): string {
  return `thread-${createHash("sha256").update(messageId).digest("hex").slice(0, 16)}`;
}
