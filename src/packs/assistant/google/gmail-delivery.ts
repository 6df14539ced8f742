import type { gmail_v1 } from "@googleapis/gmail";
import type { Delivery } from "../mail/mail-provider.ts";
import { worstStatus } from "../mail/worst-status.ts";
import type { Bounce } from "../rfc822/read-bounces.ts";
import { addressesIn, dateOf, headerOf, readRaw } from "./gmail-message.ts";
import { type GoogleApi, mapLimited } from "./google-api.ts";

type Api = GoogleApi<"gmail">;
type Message = gmail_v1.Schema$Message;
type Recipient = Delivery["recipients"][number];

/** Best first. */
const MOST_REPORTS = 10;
const AT_ONCE = 5;
const FROM_SERVER = /^(?:.*<)?(?:mailer-daemon|postmaster)@/i;

/**
 * What is known of a message that was handed over. Gmail takes a message or it does not; what other servers do it tells
 * only by mail, so a recipient is `delivered` only if it is the owner, who has it in the inbox.
 */
export async function handedOver(message: Message, self: string): Promise<Delivery> {
  const isInInbox = message.labelIds?.includes("INBOX") ?? false;
  const lists = await Promise.all(["To", "Cc", "Bcc"].map((name) => addressesIn(message, name)));
  const addresses = new Set(lists.flat().map(({ address }) => address));
  const recipients = [...addresses].map((address): Recipient => {
    const isSelf = address.toLowerCase() === self.toLowerCase();
    return { address, status: isSelf && isInInbox ? "delivered" : "sent" };
  });
  return { status: worstStatus(recipients), recipients, timestamp: dateOf(message) };
}

/** The same, corrected by the reports of mail servers that are about this message. */
export async function withReports(
  api: Api,
  message: Message,
  delivery: Delivery,
  signal: AbortSignal,
): Promise<Delivery> {
  const messageId = headerOf(message, "Message-ID").trim();
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
  const sentAt = Math.floor(Date.parse(dateOf(message)) / 1_000);
  const q = `from:mailer-daemon after:${sentAt - 1}`;
  const { messages: found = [] } = await api.request("reports of mail servers", signal, (gmail, options) =>
    gmail.users.messages.list({ userId: "me", q, maxResults: MOST_REPORTS }, options),
  );
  const id = message.threadId ?? "";
  const thread = await api.request(`thread '${id}'`, signal, (gmail, options) =>
    gmail.users.threads.get({ userId: "me", id, format: "metadata", metadataHeaders: ["From"] }, options),
  );
  const inThread = (thread.messages ?? []).filter((one) => FROM_SERVER.test(headerOf(one, "From")));
  const ids = [...inThread, ...found].flatMap((one) => one.id ?? []);
  return [...new Set(ids)].slice(0, MOST_REPORTS);
}

/** Whom a mail reports as not reached; a mail that cannot be read reports nobody. */
async function readReport(api: Api, id: string, signal: AbortSignal): Promise<readonly Bounce[]> {
  const report = await api.request(`message '${id}'`, signal, (gmail, options) =>
    gmail.users.messages.get({ userId: "me", id, format: "raw" }, options),
  );
  return await readRaw(report).then(
    ({ bounces }) => bounces,
    () => [],
  );
}
