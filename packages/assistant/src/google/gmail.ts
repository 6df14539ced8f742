// A mailbox at Gmail.

import type { gmail_v1 } from "@googleapis/gmail";
import type { Bounce } from "../mail/mail-format.ts";
import {
  type Address,
  type Delivery,
  describeDelivery,
  findBounce,
  type MailProvider,
  type MailQuery,
  type MailSummary,
  type OutgoingMail,
  type SentMail,
} from "../mail/mail-provider.ts";
import { eachPage, mapLimited } from "../service-tools/service-requests.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import {
  buildGmailQuery,
  composeRaw,
  isWithinQuery,
  ORIGINAL_ID_HEADER,
  readGmailDate,
  readGmailHead,
  readGmailHeader,
  readGmailMessage,
  readGmailSummary,
  readRawGmail,
  SUMMARY_HEADERS,
} from "./gmail-message.ts";
import type { GoogleApi, GoogleAsk } from "./google-session.ts";

type Ask = GoogleAsk<"gmail">;
type Message = gmail_v1.Schema$Message;

const AT_ONCE = 5;
const PAGE = 100;
const MOST_PAGES = 20;

/** A mailbox at Gmail. */
export function createGmail(api: GoogleApi<"gmail">, address: string | undefined): MailProvider {
  let owner: Address | undefined = address ? { address } : undefined;

  const self = async (signal: AbortSignal): Promise<Address> => {
    if (!owner) {
      const ask = api.during(signal);
      const profile = await ask("the mailbox's owner", (gmail, options) =>
        gmail.users.getProfile({ userId: "me" }, options),
      );
      if (!profile.emailAddress)
        throw new ToolFault("tool_error", "Gmail did not tell the mailbox's address");
      owner = { address: profile.emailAddress };
    }
    return owner;
  };

  return {
    kind: "google",
    self,
    refresh: api.refresh,
    search: (query, signal) => searchMailbox(api.during(signal), query),
    get: async (id, signal) =>
      readGmailMessage(await fetchMessage(api.during(signal), checkId(id), { format: "raw" })),
    send: async (mail, signal) => sendMessage(api.during(signal), mail, (await self(signal)).address),
    draft: async (mail, signal) => keepDraft(api.during(signal), mail, (await self(signal)).address),
    findByMessageId: async (messageId, kind, signal) =>
      kind === "draft"
        ? findDraft(api.during(signal), messageId)
        : findSent(api.during(signal), messageId, (await self(signal)).address),
    async delivery(id, signal) {
      const ask = api.during(signal);
      const message = await fetchMetadata(ask, checkId(id), ["Message-ID"]);
      if (!message.labelIds?.includes("SENT"))
        throw new ToolFault("params", `message '${id}' was not sent from this mailbox`);
      return addReports(ask, message, await readSentDelivery(message, (await self(signal)).address));
    },
  };
}

async function sendMessage(ask: Ask, mail: OutgoingMail, own: string): Promise<SentMail> {
  const requestBody = await buildBody(mail, own);
  const sent = await ask("the message to be sent", (gmail, options) =>
    gmail.users.messages.send({ userId: "me", requestBody }, options),
  );
  if (!sent.id) throw new ToolFault("tool_error", "Gmail did not say which message it sent");
  const headers = [{ name: "To", value: [...mail.to, ...mail.cc, ...mail.bcc].join(", ") }];
  const { labelIds = [], internalDate = String(Date.now()) } = sent;
  const delivery = await readSentDelivery({ labelIds, internalDate, payload: { headers } }, own);
  return { id: sent.id, threadId: sent.threadId ?? "", delivery };
}

async function keepDraft(ask: Ask, mail: OutgoingMail, own: string): Promise<{ id: string }> {
  const message = await buildBody(mail, own);
  const kept = await ask("the draft", (gmail, options) =>
    gmail.users.drafts.create({ userId: "me", requestBody: { message } }, options),
  );
  if (!kept.id) throw new ToolFault("tool_error", "Gmail did not say which draft it keeps");
  return { id: kept.id };
}

async function findSent(ask: Ask, messageId: string, own: string): Promise<SentMail | null> {
  const found = await findMessage(ask, messageId, "SENT");
  if (!found?.id) return null;
  return { id: found.id, threadId: found.threadId ?? "", delivery: await readSentDelivery(found, own) };
}

/** A draft goes by an id of its own, not by that of its message. */
async function findDraft(ask: Ask, messageId: string): Promise<SentMail | null> {
  const found = await findMessage(ask, messageId, "DRAFT");
  const id = found?.id ? await findDraftId(ask, messageId, found.id) : null;
  if (!found || !id) return null;
  const delivery = describeDelivery([], readGmailDate(found), () => ({ status: "unknown" }));
  return { id, threadId: found.threadId ?? "", delivery };
}

async function searchMailbox(
  ask: Ask,
  query: MailQuery,
): Promise<{ messages: MailSummary[]; total: number }> {
  const { ids, estimate } = await listIds(ask, query);
  const read = await mapLimited(ids, AT_ONCE, (id) => readIfThere(ask, id));
  const messages = read.filter((one) => one !== null).filter((one) => isWithinQuery(one.date, query));
  messages.sort((one, other) => Date.parse(other.date) - Date.parse(one.date));
  return { messages, total: Math.max(messages.length, estimate) };
}

/** Gmail only estimates the total; where all pages were read, the messages are counted. */
async function listIds(ask: Ask, query: MailQuery): Promise<{ ids: string[]; estimate: number }> {
  const ids: string[] = [];
  const q = buildGmailQuery(query) || undefined;
  const fetchPage = (pageToken?: string) =>
    ask("the search", (gmail, options) => {
      const maxResults = Math.min(PAGE, query.limit - ids.length);
      return gmail.users.messages.list({ userId: "me", maxResults, q, pageToken }, options);
    });
  for await (const page of eachPage(fetchPage, ({ nextPageToken }) => nextPageToken, MOST_PAGES)) {
    ids.push(...listIdsIn(page.messages));
    if (page.nextPageToken && ids.length >= query.limit)
      return { ids: ids.slice(0, query.limit), estimate: page.resultSizeEstimate ?? 0 };
  }
  return { ids, estimate: 0 };
}

/** A message may be deleted between the list and its reading. */
async function readIfThere(ask: Ask, id: string): Promise<MailSummary | null> {
  try {
    return await readGmailSummary(await fetchMetadata(ask, id, SUMMARY_HEADERS));
  } catch (thrown) {
    if (isServiceFault(thrown, "params")) return null;
    throw thrown;
  }
}

async function buildBody(mail: OutgoingMail, from: string): Promise<{ raw: string; threadId?: string }> {
  return { raw: await composeRaw(mail, from), threadId: mail.threadId };
}

function listIdsIn(messages: readonly Message[] = []): string[] {
  return messages.flatMap(({ id }) => id || []);
}

function checkId(id: string): string {
  if (/^[\w-]{1,128}$/.test(id)) return id;
  throw new ToolFault("params", `'${id}' is not the id of a message at Gmail`);
}

const ID_HEADERS: readonly string[] = ["Message-ID", ORIGINAL_ID_HEADER, "X-Google-Original-Message-ID"];
const ADDRESS_HEADERS: readonly string[] = ["To", "Cc", "Bcc", "Date"];
/** Only an interrupted call looks for its message, so the message is among the newest. */
const NEWEST = 25;

const MOST_REPORTS = 10;
const FROM_SERVER = /^(?:.*<)?(?:mailer-daemon|postmaster)@/i;

/**
 * The message that carries this Message-ID and label. Gmail's index is asked first; as it lags behind by moments and knows
 * only the Message-ID that Gmail kept, the newest messages of the label are read as well.
 */
async function findMessage(ask: Ask, messageId: string, label: "SENT" | "DRAFT"): Promise<Message | null> {
  if (!/^<[^\s<>"]+>$/.test(messageId)) {
    throw new ToolFault("params", `'${messageId}' is not a Message-ID with its angle brackets`);
  }
  const indexed = await listMessages(ask, { q: `rfc822msgid:${messageId.slice(1, -1)}`, maxResults: 5 });
  const found = await findFirstMatch(ask, indexed, { messageId, label });
  if (found) return found;
  const newest = await listMessages(ask, { labelIds: [label], maxResults: NEWEST });
  return await findFirstMatch(ask, newest, { messageId, label });
}

/** Gmail's id of the draft that holds a message; null if it is no longer a draft. */
async function findDraftId(ask: Ask, messageId: string, gmailId: string): Promise<string | null> {
  const queries = [{ q: `rfc822msgid:${messageId.slice(1, -1)}` }, { maxResults: 100 }];
  for (const query of queries) {
    const { drafts = [] } = await ask("the drafts", (gmail, options) =>
      gmail.users.drafts.list({ userId: "me", ...query }, options),
    );
    const draft = drafts.find((one) => one.message?.id === gmailId);
    if (draft?.id) return draft.id;
  }
  return null;
}

async function listMessages(
  ask: Ask,
  query: { q?: string; labelIds?: string[]; maxResults: number },
): Promise<string[]> {
  const { messages } = await ask("the mailbox", (gmail, options) =>
    gmail.users.messages.list({ userId: "me", includeSpamTrash: true, ...query }, options),
  );
  return listIdsIn(messages);
}

async function findFirstMatch(
  ask: Ask,
  ids: readonly string[],
  wanted: { readonly messageId: string; readonly label: string },
): Promise<Message | null> {
  const messages = await mapLimited(ids, AT_ONCE, (id) => fetchMetadata(ask, id, ID_HEADERS));
  const isWanted = (message: Message) =>
    message.labelIds?.includes(wanted.label) &&
    ID_HEADERS.some((name) => readGmailHeader(message, name).trim() === wanted.messageId);
  return messages.find(isWanted) ?? null;
}

/** A message's labels and some headers, those of its recipients among them. */
async function fetchMetadata(ask: Ask, id: string, headers: readonly string[]): Promise<Message> {
  const metadataHeaders = [...new Set([...headers, ...ADDRESS_HEADERS])];
  return await fetchMessage(ask, id, { format: "metadata", metadataHeaders });
}

function fetchMessage(
  ask: Ask,
  id: string,
  form: { format: "raw" } | { format: "metadata"; metadataHeaders: string[] },
): Promise<Message> {
  return ask(`message '${id}'`, (gmail, options) =>
    gmail.users.messages.get({ userId: "me", id, ...form }, options),
  );
}

/**
 * What is known of a message that was handed over. Gmail accepts a message or refuses it; what other servers do it tells
 * only by mail, so a recipient is `delivered` only if it is the owner, who has it in the inbox.
 */
export async function readSentDelivery(message: Message, self: string): Promise<Delivery> {
  const isInInbox = message.labelIds?.includes("INBOX") ?? false;
  const { to, cc, bcc } = await readGmailHead(message);
  const addresses = [...to, ...cc, ...bcc].map(({ address }) => address).filter(Boolean);
  return describeDelivery(addresses, readGmailDate(message), (address) => {
    const isSelf = address.toLowerCase() === self.toLowerCase();
    return { status: isSelf && isInInbox ? "delivered" : "sent" };
  });
}

/** The same, corrected by the reports of mail servers that are about this message. */
async function addReports(ask: Ask, message: Message, delivery: Delivery): Promise<Delivery> {
  const messageId = readGmailHeader(message, "Message-ID").trim();
  const ids = await findReports(ask, message);
  const bounces = (await mapLimited(ids, AT_ONCE, (id) => readReport(ask, id))).flat();
  const about = bounces.filter((bounce) => bounce.messageId === messageId);
  const known = new Map(delivery.recipients.map((recipient) => [recipient.address, recipient]));
  return describeDelivery(
    [...known.keys()],
    delivery.timestamp,
    (address) => findBounce(about, address) ?? known.get(address) ?? { status: "unknown" },
  );
}

/** Mails of mail servers since then, and those that Gmail has put into the same thread. */
async function findReports(ask: Ask, message: Message): Promise<string[]> {
  const sentAt = Math.floor(Date.parse(readGmailDate(message)) / 1_000);
  const q = `from:mailer-daemon after:${sentAt - 1}`;
  const { messages: found = [] } = await ask("reports of mail servers", (gmail, options) =>
    gmail.users.messages.list({ userId: "me", q, maxResults: MOST_REPORTS }, options),
  );
  const id = message.threadId ?? "";
  const thread = await ask(`thread '${id}'`, (gmail, options) =>
    gmail.users.threads.get({ userId: "me", id, format: "metadata", metadataHeaders: ["From"] }, options),
  );
  const inThread = (thread.messages ?? []).filter((one) => FROM_SERVER.test(readGmailHeader(one, "From")));
  return [...new Set(listIdsIn([...inThread, ...found]))].slice(0, MOST_REPORTS);
}

/** The recipients that a report says were not reached; none if it cannot be read. */
async function readReport(ask: Ask, id: string): Promise<readonly Bounce[]> {
  const report = await fetchMessage(ask, id, { format: "raw" });
  return await readRawGmail(report).then(
    ({ bounces }) => bounces,
    () => [],
  );
}
