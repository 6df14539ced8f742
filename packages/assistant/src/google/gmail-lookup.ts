import type { gmail_v1 } from "@googleapis/gmail";
import { type Delivery, worstStatus } from "../mail/mail-provider.ts";
import type { Bounce } from "../mail/read-mail.ts";
import { mapLimited } from "../service-tools/bounded-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import {
  ORIGINAL_ID_HEADER,
  readGmailDate,
  readGmailHeader,
  readHeaderPeople,
  readRawGmail,
} from "./gmail-message.ts";
import type { GoogleApi } from "./google-api.ts";

const ID_HEADERS: readonly string[] = ["Message-ID", ORIGINAL_ID_HEADER, "X-Google-Original-Message-ID"];
const ADDRESS_HEADERS: readonly string[] = ["To", "Cc", "Bcc", "Date"];
/** Only a call that was interrupted looks for its message, so it is among the newest. */
const NEWEST = 25;
const AT_ONCE = 5;

type Api = GoogleApi<"gmail">;
type Message = gmail_v1.Schema$Message;
type Recipient = Delivery["recipients"][number];

const MOST_REPORTS = 10;
const FROM_SERVER = /^(?:.*<)?(?:mailer-daemon|postmaster)@/i;

/**
 * The message that carries this Message-ID and label. Gmail's index is asked first; as it lags behind by moments and knows
 * only the Message-ID that Gmail let stand, the newest messages of the label are read as well.
 */
export async function findMessage(
  api: GoogleApi<"gmail">,
  messageId: string,
  label: "SENT" | "DRAFT",
  signal: AbortSignal,
): Promise<gmail_v1.Schema$Message | null> {
  if (!/^<[^\s<>"]+>$/.test(messageId)) {
    throw new ToolFault("params", `'${messageId}' is no Message-ID with its angle brackets`);
  }
  const indexed = await list(api, { q: `rfc822msgid:${messageId.slice(1, -1)}`, maxResults: 5 }, signal);
  const found = await firstMatch(api, indexed, { messageId, label }, signal);
  if (found) return found;
  const newest = await list(api, { labelIds: [label], maxResults: NEWEST }, signal);
  return await firstMatch(api, newest, { messageId, label }, signal);
}

/** Gmail's id of the draft that holds a message; null if it is no draft any more. */
export async function findDraftId(
  api: GoogleApi<"gmail">,
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

async function list(
  api: GoogleApi<"gmail">,
  query: { q?: string; labelIds?: string[]; maxResults: number },
  signal: AbortSignal,
): Promise<string[]> {
  const { messages = [] } = await api.request("the mailbox", signal, (gmail, options) =>
    gmail.users.messages.list({ userId: "me", includeSpamTrash: true, ...query }, options),
  );
  return messages.map(({ id }) => id ?? "").filter(Boolean);
}

async function firstMatch(
  api: GoogleApi<"gmail">,
  ids: readonly string[],
  wanted: { readonly messageId: string; readonly label: string },
  signal: AbortSignal,
): Promise<gmail_v1.Schema$Message | null> {
  const messages = await mapLimited(ids, AT_ONCE, (id) => fetchMetadata(api, id, ID_HEADERS, signal));
  const isWanted = (message: gmail_v1.Schema$Message) =>
    message.labelIds?.includes(wanted.label) &&
    ID_HEADERS.some((name) => readGmailHeader(message, name).trim() === wanted.messageId);
  return messages.find(isWanted) ?? null;
}

/** A message's labels and some headers, those of its recipients among them. */
export async function fetchMetadata(
  api: GoogleApi<"gmail">,
  id: string,
  headers: readonly string[],
  signal: AbortSignal,
): Promise<gmail_v1.Schema$Message> {
  const metadataHeaders = [...new Set([...headers, ...ADDRESS_HEADERS])];
  return await api.request(`message '${id}'`, signal, (gmail, options) =>
    gmail.users.messages.get({ userId: "me", id, format: "metadata", metadataHeaders }, options),
  );
}

/**
 * What is known of a message that was handed over. Gmail takes a message or it does not; what other servers do it tells
 * only by mail, so a recipient is `delivered` only if it is the owner, who has it in the inbox.
 */
export async function readSentDelivery(message: Message, self: string): Promise<Delivery> {
  const isInInbox = message.labelIds?.includes("INBOX") ?? false;
  const lists = await Promise.all(["To", "Cc", "Bcc"].map((name) => readHeaderPeople(message, name)));
  const addresses = new Set(lists.flat().map(({ address }) => address));
  const recipients = [...addresses].map((address): Recipient => {
    const isSelf = address.toLowerCase() === self.toLowerCase();
    return { address, status: isSelf && isInInbox ? "delivered" : "sent" };
  });
  return { status: worstStatus(recipients), recipients, timestamp: readGmailDate(message) };
}

/** The same, corrected by the reports of mail servers that are about this message. */
export async function addReports(
  api: Api,
  message: Message,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Delivery> {
  const messageId = readGmailHeader(message, "Message-ID").trim();
  const ids = await findReports(api, message, signal);
  const bounces = (await mapLimited(ids, AT_ONCE, (id) => readReport(api, id, signal))).flat();
  const about = bounces.filter((bounce) => bounce.messageId === messageId);
  const recipients = delivery.recipients.map((recipient): Recipient => {
    const bounce = about.find(({ address }) => address.toLowerCase() === recipient.address.toLowerCase());
    if (!bounce) return recipient;
    const { detail } = bounce;
    return { address: recipient.address, status: "bounced", ...(detail ? { detail } : {}) };
  });
  return { ...delivery, status: worstStatus(recipients), recipients };
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
  const ids = [...inThread, ...found].flatMap((one) => one.id ?? []);
  return [...new Set(ids)].slice(0, MOST_REPORTS);
}

/** Whom a mail reports as not reached; a mail that cannot be read reports nobody. */
async function readReport(api: Api, id: string, signal: AbortSignal): Promise<readonly Bounce[]> {
  const report = await api.request(`message '${id}'`, signal, (gmail, options) =>
    gmail.users.messages.get({ userId: "me", id, format: "raw" }, options),
  );
  return await readRawGmail(report).then(
    ({ bounces }) => bounces,
    () => [],
  );
}
