import type { FetchMessageObject, ImapFlow, ListResponse } from "imapflow";
import type { MailMessage, MailSummary } from "../mail/mail-provider.ts";
import { type ReadMail, readMail } from "../mail/read-mail.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";

const NAMES: Readonly<Record<"sent" | "drafts", readonly string[]>> = {
  sent: ["sent", "sent items", "sent messages", "sent mail", "gesendet", "gesendete elemente", "envoyés"],
  drafts: ["drafts", "draft", "entwürfe", "brouillons"],
};
const FLAGS = { sent: "\\Sent", drafts: "\\Drafts" } as const;
/** Folders that a search leaves out. */
const ASIDE: ReadonlySet<string> = new Set(["\\Trash", "\\Junk", "\\Drafts"]);
const MAX_FOLDERS = 40;

/** Where a message lies; its id is `folder:uidvalidity:uid`. */
export type MailPlace = { readonly folder: string; readonly validity: string; readonly uid: number };

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

/** The folder for sent mail or drafts: the one the server marks, else by its usual name; it is made if there is none. */
export async function findFolderFor(client: ImapFlow, use: "sent" | "drafts"): Promise<string> {
  const folders = (await client.list()).filter(isSelectable);
  const marked = folders.find(
    ({ specialUse, specialUseSource }) => specialUse === FLAGS[use] && specialUseSource !== "name",
  );
  const named = folders.find(({ name }) => NAMES[use].includes(name.toLowerCase()));
  const found = marked ?? named ?? folders.find(({ specialUse }) => specialUse === FLAGS[use]);
  if (found) return found.path;
  const made = await client.mailboxCreate(use === "sent" ? "Sent" : "Drafts");
  return made.path;
}

/** The folders a search looks through: the one with all mail if there is one, else all but bin, spam and drafts. */
export async function listSearchedFolders(client: ImapFlow): Promise<string[]> {
  const folders = (await client.list()).filter(isSelectable);
  const all = folders.find(({ specialUse }) => specialUse === "\\All");
  if (all) return [all.path];
  return folders
    .filter(({ specialUse }) => !ASIDE.has(specialUse ?? ""))
    .map(({ path }) => path)
    .slice(0, MAX_FOLDERS);
}

function isSelectable({ flags }: ListResponse): boolean {
  return !flags.has("\\Noselect") && !flags.has("\\NonExistent");
}

/** The id of a message. */
export function buildMailId({ folder, validity, uid }: MailPlace): string {
  return `${folder}:${validity}:${uid}`;
}

/** Where an id says that a message lies; `params` if it is no id of this mailbox. */
function parseMailId(id: string): MailPlace {
  const [, folder, validity, uid] = /^(.+):(\d{1,20}):(\d{1,10})$/s.exec(id) ?? [];
  if (folder === undefined || validity === undefined) throw noMessage(id);
  return { folder, validity, uid: Number(uid) };
}

/** The fault for an id that names nothing. */
export function noMessage(id: string): ToolFault {
  return new ToolFault("params", `there is no message '${id.slice(0, 200)}' in this mailbox`);
}

/** Does work in a folder; the folder is not changed by another caller meanwhile. */
export async function inFolder<Value>(
  client: ImapFlow,
  folder: string,
  work: (validity: string) => Promise<Value>,
): Promise<Value> {
  const lock = await client.getMailboxLock(folder);
  try {
    return await work(client.mailbox ? String(client.mailbox.uidValidity) : "0");
  } finally {
    lock.release();
  }
}

/** Does work on one message; `params` if its folder is gone or was numbered anew. */
export async function atMessage<Value>(
  client: ImapFlow,
  id: string,
  work: (place: MailPlace) => Promise<Value>,
): Promise<Value> {
  const place = parseMailId(id);
  const folders = await client.list();
  if (!folders.some(({ path }) => path === place.folder)) throw noMessage(id);
  return inFolder(client, place.folder, (validity) => {
    if (validity !== place.validity) throw noMessage(id);
    return work(place);
  });
}

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
  if (!raw?.source) throw noMessage(buildMailId(place));
  try {
    return { place, raw, mail: await readMail(raw.source) };
  } catch (error) {
    const why = error instanceof Error ? error.message : "it is no mail";
    throw new ToolFault("tool_error", `the message ${buildMailId(place)} cannot be read: ${why}`, {
      cause: error,
    });
  }
}

/** A fetched message as a line in a list. */
export function readFetchedSummary({ place, raw, mail }: Fetched): MailSummary {
  return {
    id: buildMailId(place),
    threadId: findThread(mail),
    from: mail.from,
    to: mail.to,
    subject: mail.subject,
    date: findDate({ raw, mail }),
    snippet: mail.text.replace(/\s+/g, " ").trim().slice(0, SNIPPET_CHARS).toWellFormed(),
    unread: !raw.flags?.has("\\Seen"),
  };
}

/** A fetched message in full. */
export function readFetchedMail(fetched: Fetched): MailMessage {
  const { mail, place } = fetched;
  return {
    ...readFetchedSummary(fetched),
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
export function findThread(mail: Pick<ReadMail, "references" | "messageId">): string {
  return mail.references[0] ?? mail.messageId;
}

function findDate({ raw, mail }: Pick<Fetched, "raw" | "mail">): string {
  const ms = mail.dateMs ?? readArrival(raw);
  return new Date(ms).toISOString();
}

/** When the server got a message; 0 if it does not say. */
export function readArrival(raw: FetchMessageObject): number {
  const ms = new Date(raw.internalDate ?? 0).getTime();
  return Number.isNaN(ms) ? 0 : ms;
}
