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
import type { GoogleApi } from "./google-session.ts";

type Api = GoogleApi<"gmail">;
type Message = gmail_v1.Schema$Message;

const AT_ONCE = 5;
const PAGE = 100;
const MOST_PAGES = 20;

/** A mailbox at Gmail. */
export function createGmail(api: Api, address: string | undefined): MailProvider {
  let owner: Address | undefined = address ? { address } : undefined;

  const self = async (signal: AbortSignal): Promise<Address> => {
    if (!owner) {
      const profile = await api.request("the mailbox's owner", signal, (gmail, options) =>
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
    search: (query, signal) => searchMailbox(api, query, signal),
    async get(id, signal) {
      return await readGmailMessage(await fetchMessage(api, checkId(id), { format: "raw" }, signal));
    },
    send: async (mail, signal) => sendMessage(api, mail, (await self(signal)).address, signal),
    draft: async (mail, signal) => keepDraft(api, mail, (await self(signal)).address, signal),
    findByMessageId: async (messageId, kind, signal) =>
      kind === "draft"
        ? findDraft(api, messageId, signal)
        : findSent(api, messageId, (await self(signal)).address, signal),
    async delivery(id, signal) {
      const message = await fetchMetadata(api, checkId(id), ["Message-ID"], signal);
      if (!message.labelIds?.includes("SENT"))
        throw new ToolFault("params", `message '${id}' was not sent from this mailbox`);
      const delivery = await readSentDelivery(message, (await self(signal)).address);
      return await addReports(api, message, delivery, signal);
    },
  };
}

async function sendMessage(
  api: Api,
  mail: OutgoingMail,
  own: string,
  signal: AbortSignal,
): Promise<SentMail> {
  const requestBody = await buildBody(mail, own);
  const sent = await api.request("the message to be sent", signal, (gmail, options) =>
    gmail.users.messages.send({ userId: "me", requestBody }, options),
  );
  if (!sent.id) throw new ToolFault("tool_error", "Gmail did not say which message it sent");
  const headers = [{ name: "To", value: [...mail.to, ...mail.cc, ...mail.bcc].join(", ") }];
  const { labelIds = [], internalDate = String(Date.now()) } = sent;
  const delivery = await readSentDelivery({ labelIds, internalDate, payload: { headers } }, own);
  return { id: sent.id, threadId: sent.threadId ?? "", delivery };
}

async function keepDraft(
  api: Api,
  mail: OutgoingMail,
  own: string,
  signal: AbortSignal,
): Promise<{ id: string }> {
  const message = await buildBody(mail, own);
  const kept = await api.request("the draft", signal, (gmail, options) =>
    gmail.users.drafts.create({ userId: "me", requestBody: { message } }, options),
  );
  if (!kept.id) throw new ToolFault("tool_error", "Gmail did not say which draft it keeps");
  return { id: kept.id };
}

async function findSent(
  api: Api,
  messageId: string,
  own: string,
  signal: AbortSignal,
): Promise<SentMail | null> {
  const found = await findMessage(api, messageId, "SENT", signal);
  if (!found?.id) return null;
  return { id: found.id, threadId: found.threadId ?? "", delivery: await readSentDelivery(found, own) };
}

/** A draft goes by an id of its own, not by that of its message. */
async function findDraft(api: Api, messageId: string, signal: AbortSignal): Promise<SentMail | null> {
  const found = await findMessage(api, messageId, "DRAFT", signal);
  const id = found?.id ? await findDraftId(api, messageId, found.id, signal) : null;
  if (!found || !id) return null;
  const delivery = describeDelivery([], readGmailDate(found), () => ({ status: "unknown" }));
  return { id, threadId: found.threadId ?? "", delivery };
}

async function searchMailbox(
  api: Api,
  query: MailQuery,
  signal: AbortSignal,
): Promise<{ messages: MailSummary[]; total: number }> {
  const { ids, estimate } = await listIds(api, query, signal);
  const read = await mapLimited(ids, AT_ONCE, (id) => readIfThere(api, id, signal));
  const messages = read.filter((one) => one !== null).filter((one) => isWithinQuery(one.date, query));
  messages.sort((one, other) => Date.parse(other.date) - Date.parse(one.date));
  return { messages, total: Math.max(messages.length, estimate) };
}

/** Gmail only estimates the total; where all pages were read, the messages are counted. */
async function listIds(
  api: Api,
  query: MailQuery,
  signal: AbortSignal,
): Promise<{ ids: string[]; estimate: number }> {
  const ids: string[] = [];
  const q = buildGmailQuery(query) || undefined;
  const fetchPage = (pageToken?: string) =>
    api.request("the search", signal, (gmail, options) => {
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
async function readIfThere(api: Api, id: string, signal: AbortSignal): Promise<MailSummary | null> {
  try {
    return await readGmailSummary(await fetchMetadata(api, id, SUMMARY_HEADERS, signal));
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
async function findMessage(
  api: Api,
  messageId: string,
  label: "SENT" | "DRAFT",
  signal: AbortSignal,
): Promise<Message | null> {
  if (!/^<[^\s<>"]+>$/.test(messageId)) {
    throw new ToolFault("params", `'${messageId}' is not a Message-ID with its angle brackets`);
  }
  const indexed = await listMessages(
    api,
    { q: `rfc822msgid:${messageId.slice(1, -1)}`, maxResults: 5 },
    signal,
  );
  const found = await findFirstMatch(api, indexed, { messageId, label }, signal);
  if (found) return found;
  const newest = await listMessages(api, { labelIds: [label], maxResults: NEWEST }, signal);
  return await findFirstMatch(api, newest, { messageId, label }, signal);
}

/** Gmail's id of the draft that holds a message; null if it is no longer a draft. */
async function findDraftId(
  api: Api,
  messageId: string,
  gmailId: string,
  signal: AbortSignal,
): Promise<string | null> {
  const queries = [{ q: `rfc822msgid:${messageId.slice(1, -1)}` }, { maxResults: 100 }];
  for (const query of queries) {
    const { drafts = [] } = await api.request("the drafts", signal, (gmail, options) =>
      gmail.users.drafts.list({ userId: "me", ...query }, options),
    );
    const draft = drafts.find((one) => one.message?.id === gmailId);
    if (draft?.id) return draft.id;
  }
  return null;
}

async function listMessages(
  api: Api,
  query: { q?: string; labelIds?: string[]; maxResults: number },
  signal: AbortSignal,
): Promise<string[]> {
  const { messages } = await api.request("the mailbox", signal, (gmail, options) =>
    gmail.users.messages.list({ userId: "me", includeSpamTrash: true, ...query }, options),
  );
  return listIdsIn(messages);
}

async function findFirstMatch(
  api: Api,
  ids: readonly string[],
  wanted: { readonly messageId: string; readonly label: string },
  signal: AbortSignal,
): Promise<Message | null> {
  const messages = await mapLimited(ids, AT_ONCE, (id) => fetchMetadata(api, id, ID_HEADERS, signal));
  const isWanted = (message: Message) =>
    message.labelIds?.includes(wanted.label) &&
    ID_HEADERS.some((name) => readGmailHeader(message, name).trim() === wanted.messageId);
  return messages.find(isWanted) ?? null;
}

/** A message's labels and some headers, those of its recipients among them. */
async function fetchMetadata(
  api: Api,
  id: string,
  headers: readonly string[],
  signal: AbortSignal,
): Promise<Message> {
  const metadataHeaders = [...new Set([...headers, ...ADDRESS_HEADERS])];
  return await fetchMessage(api, id, { format: "metadata", metadataHeaders }, signal);
}

function fetchMessage(
  api: Api,
  id: string,
  form: { format: "raw" } | { format: "metadata"; metadataHeaders: string[] },
  signal: AbortSignal,
): Promise<Message> {
  return api.request(`message '${id}'`, signal, (gmail, options) =>
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
async function addReports(
  api: Api,
  message: Message,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Delivery> {
  const messageId = readGmailHeader(message, "Message-ID").trim();
  const ids = await findReports(api, message, signal);
  const bounces = (await mapLimited(ids, AT_ONCE, (id) => readReport(api, id, signal))).flat();
  const about = bounces.filter((bounce) => bounce.messageId === messageId);
  const known = new Map(delivery.recipients.map((recipient) => [recipient.address, recipient]));
  return describeDelivery(
    [...known.keys()],
    delivery.timestamp,
    (address) => findBounce(about, address) ?? known.get(address) ?? { status: "unknown" },
  );
}

/** Mails of mail servers since then, and those that Gmail has put into the same thread. */
async function findReports(api: Api, message: Message, signal: AbortSignal): Promise<string[]> {
  const sentAt = Math.floor(Date.parse(readGmailDate(message)) / 1_000);
  const q = `from:mailer-daemon after:${sentAt - 1}`;
  const { messages: found = [] } = await api.request("reports of mail servers", signal, (gmail, options) =>
    gmail.users.messages.list({ userId: "me", q, maxResults: MOST_REPORTS }, options),
  );
  const id = message.threadId ?? "";
  const thread = await api.request(`thread '${id}'`, signal, (gmail, options) =>
    gmail.users.threads.get({ userId: "me", id, format: "metadata", metadataHeaders: ["From"] }, options),
  );
  const inThread = (thread.messages ?? []).filter((one) => FROM_SERVER.test(readGmailHeader(one, "From")));
  return [...new Set(listIdsIn([...inThread, ...found]))].slice(0, MOST_REPORTS);
}

/** The recipients that a report says were not reached; none if it cannot be read. */
async function readReport(api: Api, id: string, signal: AbortSignal): Promise<readonly Bounce[]> {
  const report = await fetchMessage(api, id, { format: "raw" }, signal);
  return await readRawGmail(report).then(
    ({ bounces }) => bounces,
    () => [],
  );
}
