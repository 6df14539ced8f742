import type { FetchMessageObject, ImapFlow, MessageStructureObject, SearchObject } from "imapflow";
import type { MailQuery, MailSummary } from "../mail/mail-provider.ts";
import { oneLine } from "../mail/read-mail.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import {
  fetchMail,
  inFolder,
  listSearchedFolders,
  type MailPlace,
  readArrival,
  readFetchedSummary,
} from "./mailbox.ts";

const DAY_MS = 86_400_000;
/** Of a folder's matches only the newest are looked at more closely. */
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
    ).catch((error: unknown) => closedFolder(error, folder));
    found.push(...part.candidates);
    total += part.total;
  }
  found.sort((a, b) => b.arrivalMs - a.arrivalMs || b.place.uid - a.place.uid);
  const wanted = found.slice(0, Math.min(query.limit, MAX_LIMIT));
  const messages: MailSummary[] = [];
  for (const { place } of wanted) {
    const line = await inFolder(client, place.folder, () => fetchMail(client, place, "head").catch(leftOut));
    if (line) messages.push(readFetchedSummary(line));
  }
  return { messages, total };
}

/** A folder that is listed but may not be opened, such as another person's, or that is gone by now, hides no other. */
function closedFolder(error: unknown, folder: string): { candidates: Candidate[]; total: number } {
  const code = typeof error === "object" && error !== null && "serverResponseCode" in error;
  const isClosed = code && ["NOPERM", "NONEXISTENT"].includes(String(error.serverResponseCode));
  if (isClosed && folder !== "INBOX") return { candidates: [], total: 0 };
  throw error;
}

/** A message that vanished meanwhile or cannot be read is left out; a lost connection is still a fault. */
function leftOut(error: unknown): null {
  if (error instanceof ToolFault) return null;
  throw error;
}

async function listCandidates(
  client: ImapFlow,
  where: Omit<MailPlace, "uid">,
  query: MailQuery,
): Promise<{ candidates: Candidate[]; total: number }> {
  let uids: number[] | undefined;
  for (const criteria of searchCriteria(query)) {
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

/** What IMAP can search for, as searches that must all match: it has no "and" for two words of one field. */
function searchCriteria(query: MailQuery): SearchObject[] {
  const base: SearchObject = { deleted: false };
  if (query.unread !== undefined) base.seen = !query.unread;
  // Servers compare whole days in a zone of their own; the exact moment is checked afterwards.
  if (query.after !== undefined) base.since = dayAround(query.after, -1);
  if (query.before !== undefined) base.before = dayAround(query.before, 2);
  const fields = ["text", "from", "to", "subject"] as const;
  const words = fields.flatMap((field) =>
    splitQuery(query[field]).map((word): SearchObject => ({ [field]: word })),
  );
  return [base, ...words.slice(0, MAX_WORDS)];
}

function splitQuery(text: string | undefined): string[] {
  return oneLine(text ?? "")
    .split(/\s+/)
    .map((word) => word.replace(/^"+|"+$/g, ""))
    .filter((word) => word !== "");
}

function dayAround(iso: string, days: number): Date {
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
