// What is read of an IMAP mailbox: folders, messages, searches, and how far a sent message has come.

import type {
  FetchMessageObject,
  ImapFlow,
  ListResponse,
  MessageStructureObject,
  SearchObject,
} from "imapflow";
import {
  type Bounce,
  cutSnippet,
  oneLine,
  pickMailContent,
  type ReadMail,
  readMail,
} from "../mail/mail-format.ts";
import {
  type Delivery,
  describeDelivery,
  findBounce,
  type MailMessage,
  type MailQuery,
  type MailSummary,
} from "../mail/mail-provider.ts";
import { splitPhrases } from "../service-tools/search-words.ts";
import { toIso } from "../service-tools/times.ts";
import { ToolFault, toFault } from "../service-tools/tool-fault.ts";

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

/** How much of a message is fetched for a line in a list. */
const HEAD_BYTES = 32_000;
/** A message that is larger is read up to here; its attachments are cut, its text is not. */
const WHOLE_BYTES = 30_000_000;

/** A message as it was fetched and read. */
type Fetched = {
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
async function listSearchedFolders(client: ImapFlow): Promise<string[]> {
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

/** The place that an id names; `params` if it is not an id of this mailbox. */
function parseMailId(id: string): MailPlace {
  const [, folder, validity, uid] = /^(.+):(\d{1,20}):(\d{1,10})$/s.exec(id) ?? [];
  if (folder === undefined || validity === undefined) throw refuseUnknownMail(id);
  return { folder, validity, uid: Number(uid) };
}

/** The fault for an id that names nothing. */
export function refuseUnknownMail(id: string): ToolFault {
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

/** Does work on one message; `params` if its folder is gone or was renumbered. */
export async function atMessage<Value>(
  client: ImapFlow,
  id: string,
  work: (place: MailPlace) => Promise<Value>,
): Promise<Value> {
  const place = parseMailId(id);
  const folders = await client.list();
  if (!folders.some(({ path }) => path === place.folder)) throw refuseUnknownMail(id);
  return inFolder(client, place.folder, (validity) => {
    if (validity !== place.validity) throw refuseUnknownMail(id);
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
  if (!raw?.source) throw refuseUnknownMail(buildMailId(place));
  try {
    return { place, raw, mail: await readMail(raw.source) };
  } catch (error) {
    throw toFault(error, `the message ${buildMailId(place)} cannot be read`);
  }
}

/** A fetched message as a line in a list. */
function readFetchedSummary({ place, raw, mail }: Fetched): MailSummary {
  return {
    id: buildMailId(place),
    threadId: findThread(mail),
    from: mail.from,
    to: mail.to,
    subject: mail.subject,
    date: toIso(mail.dateMs ?? readArrival(raw)),
    snippet: cutSnippet(mail.text),
    unread: !raw.flags?.has("\\Seen"),
  };
}

/** A fetched message in full. */
export function readFetchedMail(fetched: Fetched): MailMessage {
  return { ...readFetchedSummary(fetched), ...pickMailContent(fetched.mail) };
}

/** IMAP knows no threads everywhere: a thread is named by the Message-ID that began it. */
export function findThread(mail: Pick<ReadMail, "references" | "messageId">): string {
  return mail.references[0] ?? mail.messageId;
}

/** When the server got a message; 0 if it does not say. */
function readArrival(raw: FetchMessageObject): number {
  const ms = new Date(raw.internalDate ?? 0).getTime();
  return Number.isNaN(ms) ? 0 : ms;
}

const DAY_MS = 86_400_000;
/** Of a folder's matches only the newest are fetched. */
const MAX_CANDIDATES = 500;
const MAX_WORDS = 12;
const MAX_LIMIT = 200;

type Candidate = { readonly place: MailPlace; readonly arrivalMs: number };

/** Messages that match, newest first, and how many there are. */
export async function searchMail(
  client: ImapFlow,
  query: MailQuery,
): Promise<{ readonly messages: readonly MailSummary[]; readonly total: number }> {
  const found: Candidate[] = [];
  let total = 0;
  for (const folder of await listSearchedFolders(client)) {
    const part = await inFolder(client, folder, (validity) =>
      listCandidates(client, { folder, validity }, query),
    ).catch((error: unknown) => skipClosedFolder(error, folder));
    found.push(...part.candidates);
    total += part.total;
  }
  found.sort((a, b) => b.arrivalMs - a.arrivalMs || b.place.uid - a.place.uid);
  const wanted = found.slice(0, Math.min(query.limit, MAX_LIMIT));
  const messages: MailSummary[] = [];
  for (const { place } of wanted) {
    const line = await inFolder(client, place.folder, () =>
      fetchMail(client, place, "head").catch(skipUnreadable),
    );
    if (line) messages.push(readFetchedSummary(line));
  }
  return { messages, total };
}

/** A folder that is listed but may not be opened, such as another person's, or that is gone by now, hides no other. */
function skipClosedFolder(error: unknown, folder: string): { candidates: Candidate[]; total: number } {
  const code = typeof error === "object" && error !== null && "serverResponseCode" in error;
  const isClosed = code && ["NOPERM", "NONEXISTENT"].includes(String(error.serverResponseCode));
  if (isClosed && folder !== "INBOX") return { candidates: [], total: 0 };
  throw error;
}

/** A message that vanished meanwhile, or a report that cannot be read, is left out; a lost connection is still a fault. */
function skipUnreadable(error: unknown): null {
  if (error instanceof ToolFault) return null;
  throw error;
}

async function listCandidates(
  client: ImapFlow,
  where: Omit<MailPlace, "uid">,
  query: MailQuery,
): Promise<{ candidates: Candidate[]; total: number }> {
  let uids: number[] | undefined;
  for (const criteria of buildCriteria(query)) {
    const matching = new Set((await client.search(criteria, { uid: true })) || []);
    uids = uids ? uids.filter((uid) => matching.has(uid)) : [...matching];
    if (uids.length === 0) return { candidates: [], total: 0 };
  }
  const newest = (uids ?? []).sort((a, b) => b - a).slice(0, MAX_CANDIDATES);
  const fields = { uid: true, internalDate: true, bodyStructure: query.hasAttachment !== undefined };
  const fetched = await client.fetchAll(newest, fields, { uid: true });
  const exact = fetched.filter((raw) => isExact(raw, query));
  return {
    candidates: exact.map((raw) => ({ place: { ...where, uid: raw.uid }, arrivalMs: readArrival(raw) })),
    total: (uids?.length ?? 0) - (fetched.length - exact.length),
  };
}

/** A query as IMAP searches that must all match: IMAP has no "and" for two words of one field. */
function buildCriteria(query: MailQuery): SearchObject[] {
  const base: SearchObject = { deleted: false };
  if (query.unread !== undefined) base.seen = !query.unread;
  // Servers compare whole days in a zone of their own; the exact moment is checked afterwards.
  if (query.after !== undefined) base.since = findDayAround(query.after, -1);
  if (query.before !== undefined) base.before = findDayAround(query.before, 2);
  const fields = ["text", "from", "to", "subject"] as const;
  const words = fields.flatMap((field) =>
    splitPhrases(query[field]).map(({ text }): SearchObject => ({ [field]: text })),
  );
  return [base, ...words.slice(0, MAX_WORDS)];
}

function findDayAround(iso: string, days: number): Date {
  return new Date(Math.floor(Date.parse(iso) / DAY_MS) * DAY_MS + days * DAY_MS);
}

function isExact(raw: FetchMessageObject, query: MailQuery): boolean {
  const arrived = readArrival(raw);
  if (query.after !== undefined && arrived < Date.parse(query.after)) return false;
  if (query.before !== undefined && arrived >= Date.parse(query.before)) return false;
  return query.hasAttachment === undefined || hasAttachment(raw.bodyStructure) === query.hasAttachment;
}

function hasAttachment(part: MessageStructureObject | undefined, depth = 0): boolean {
  if (!part || depth > 50) return false;
  if (part.disposition?.toLowerCase() === "attachment") return true;
  return (part.childNodes ?? []).some((child) => hasAttachment(child, depth + 1));
}

/** Records in the sender's own copy whom the server refused, and its words. */
const REJECTED_HEADER = "X-Retinue-Rejected";
const MAX_REPORTS = 30;

type Rejected = Omit<Bounce, "messageId">;

/** The sender's copy with what the server refused; the header is a line of plain characters. */
export function addRejections(bytes: Uint8Array, rejected: readonly Rejected[]): Uint8Array {
  const lines = rejected.map(({ address, detail }) => {
    const text = oneLine(`${address} ${detail}`).replace(/[^ -~]/g, "?");
    return `${REJECTED_HEADER}: ${text.slice(0, 900)}\r\n`;
  });
  return Buffer.concat([Buffer.from(lines.join("")), bytes]);
}

function readRejections(source: Uint8Array): Rejected[] {
  const head =
    Buffer.from(source.subarray(0, 64_000))
      .toString("latin1")
      .split(/\r?\n\r?\n/, 1)[0] ?? "";
  const lines = head.matchAll(new RegExp(`^${REJECTED_HEADER}: (\\S+) ?([^\\r\\n]*)$`, "gim"));
  return [...lines].map(([, address = "", detail = ""]) => ({ address, detail }));
}

/** What the mailbox knows of a sent message: its copy, and the reports that came back. */
export async function fetchDelivery(client: ImapFlow, id: string): Promise<Delivery> {
  const sent = await findFolderFor(client, "sent");
  const copy = await atMessage(client, id, (place) => {
    if (place.folder !== sent)
      throw new ToolFault("params", `the message '${id}' was not sent from this mailbox`);
    return fetchMail(client, place, "head");
  });
  return readCopyDelivery(copy, await fetchBounces(client, copy));
}

/** How far a message has come, by its copy in the folder of sent mail. */
export function readCopyDelivery({ raw, mail }: Fetched, bounces: readonly Bounce[] = []): Delivery {
  const recipients = [...mail.to, ...mail.cc, ...mail.bcc].map(({ address }) => address);
  return judgeRecipients(recipients, {
    rejected: readRejections(raw.source ?? new Uint8Array()),
    bounces,
    isPending: isPending(raw.flags),
    atMs: mail.dateMs ?? readArrival(raw),
  });
}

/** Whether a copy was stored before its message was handed over, and not yet recorded as sent. */
export function isPending(flags: ReadonlySet<string> | undefined): boolean {
  return flags?.has("\\Draft") ?? false;
}

/** What is known of a message's recipients; without reports of others it was just handed over. */
export function judgeRecipients(
  addresses: readonly string[],
  known: {
    readonly atMs: number;
    readonly rejected: readonly Rejected[];
    readonly bounces?: readonly Bounce[];
    readonly isPending?: boolean;
  },
): Delivery {
  return describeDelivery(addresses, toIso(known.atMs), (address) => {
    const rejected = known.rejected.find((one) => one.address.toLowerCase() === address.toLowerCase());
    if (rejected) return { status: "rejected", detail: rejected.detail };
    const bounced = findBounce(known.bounces ?? [], address);
    if (bounced) return bounced;
    return known.isPending
      ? { status: "unknown", detail: "it was cut off while it was being sent" }
      : { status: "sent" };
  });
}

/** Delivery reports in the inbox that are about a message. */
async function fetchBounces(client: ImapFlow, { mail, raw }: Fetched): Promise<Bounce[]> {
  if (mail.messageId === "") return [];
  const since = new Date(readArrival(raw) - 2 * DAY_MS);
  const bare = mail.messageId.slice(1, -1);
  return inFolder(client, "INBOX", async (validity) => {
    const uids = new Set<number>();
    const about: SearchObject[] = [
      { text: bare },
      { header: { "in-reply-to": bare } },
      { header: { references: bare } },
    ];
    for (const criteria of about)
      for (const uid of (await client.search({ since, ...criteria }, { uid: true })) || []) uids.add(uid);
    const bounces: Bounce[] = [];
    for (const uid of [...uids].sort((a, b) => b - a).slice(0, MAX_REPORTS)) {
      const place: MailPlace = { folder: "INBOX", validity, uid };
      const report = await fetchMail(client, place, "whole").catch(skipUnreadable);
      bounces.push(...(report?.mail.bounces ?? []).filter(({ messageId }) => messageId === mail.messageId));
    }
    return bounces;
  });
}
