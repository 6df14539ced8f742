import { cutAt } from "@retinue/core/tools/truncate";
import { isSameAddress, parseAddress, readDomain, showAddress } from "../recipients/parse-address.ts";
import { explainHighRisk, rateReach } from "../recipients/reach.ts";
import { dropRepeated, type Recipient, refuseBulk } from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import { writeTool } from "../service-tools/service-tool.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { visibleLine } from "../service-tools/tool-output.ts";
import {
  buildMail,
  COMPOSE_PROPERTIES,
  type ComposeInput,
  findMailFault,
  findOwnMail,
  listAddresses,
  listEverybody,
  type MailPlan,
  planMail,
  presentMail,
} from "./compose-mail.ts";
import type { Address, MailMessage, OutgoingMail, SentMail } from "./mail-provider.ts";

type ReplyInput = { message_id: string; body: string; reply_all?: boolean };
type ReplyPlan = MailPlan & { readonly original: MailMessage };

/** What the tools that send have in common. */
const SENDING = {
  group: "email",
  outbound: true,
  reaches: listAddresses,
  risk: (plan: MailPlan) => rateReach(listEverybody(plan), plan.household),
  confirm: (plan: MailPlan) => explainHighRisk(listEverybody(plan), plan.household),
} as const;

/** The tool `gmail_send_email`. */
export const sendEmail = writeTool<ComposeInput, MailPlan>({
  name: "gmail_send_email",
  description:
    "Sends a new mail at once; to answer one, use gmail_reply_to_message, and to prepare one, gmail_create_draft. Several recipients, or one outside the organisation, need a person's confirmation. Gives message_id, all recipients (cc and bcc among them) and delivery_status: sent or queued is not yet delivered.",
  ...SENDING,
  properties: { ...COMPOSE_PROPERTIES, recipients: { ...COMPOSE_PROPERTIES.recipients, minItems: 1 } },
  required: ["recipients", "subject", "body"],
  check: findMailFault,
  plan: planMail,
  present: presentMail,
  find: async (_input, { services, key }) => {
    const sent = await findOwnMail(key, "sent", services);
    return sent && { data: describeSent(sent) };
  },
  run: async (_input, { plan, services, key }) => {
    const sent = await sendOnce(buildMail(plan, key), services);
    return { data: { ...describeSent(sent), recipients: listAddresses(plan) } };
  },
});

/** The tool `gmail_create_draft`. */
export const createDraft = writeTool<ComposeInput, MailPlan>({
  name: "gmail_create_draft",
  description:
    "Keeps a mail as a draft in the mailbox; nothing is sent. Use it when a person wants to look at a mail before it goes. recipients may be empty. Gives draft_id.",
  group: "email",
  properties: COMPOSE_PROPERTIES,
  required: ["recipients", "subject", "body"],
  outbound: false,
  check: findMailFault,
  plan: planMail,
  reaches: listAddresses,
  risk: () => "medium",
  present: presentMail,
  find: async ({ subject }, { services, key }) => {
    const kept = await findOwnMail(key, "draft", services);
    if (!kept) return null;
    const recipients = kept.delivery.recipients.map(({ address }) => address);
    return { data: { draft_id: kept.id, recipients, subject } };
  },
  run: async ({ subject }, { plan, services, key }) => {
    const message = buildMail(plan, key);
    const { id } = await services.mail(
      (mail, signal) => mail.draft(message, signal),
      async (mail, signal) => {
        const kept = await mail.findByMessageId(message.messageId, "draft", signal);
        return kept && { id: kept.id, messageId: message.messageId };
      },
    );
    return { data: { draft_id: id, recipients: listAddresses(plan), subject } };
  },
});

/** The tool `gmail_reply_to_message`. */
export const replyToMessage = writeTool<ReplyInput, ReplyPlan>({
  name: "gmail_reply_to_message",
  description:
    "Answers a mail in its thread, at once: to its Reply-To address if it has one, else to its sender; with reply_all also to everybody else who got it. message_id comes from gmail_search_messages or gmail_get_message. The subject follows from the mail, and its text is not quoted. Gives the same fields as gmail_send_email, and in_reply_to.",
  ...SENDING,
  properties: {
    message_id: { type: "string", minLength: 1, maxLength: 1_000, description: "The mail to answer." },
    body: { type: "string", maxLength: 100_000, description: "The whole text of the answer, plain." },
    reply_all: { type: "boolean", description: "Also to everybody else who got it; false by default." },
  },
  required: ["message_id", "body"],
  plan: planReply,
  present: presentReply,
  find: async ({ message_id }, { services, key }) => {
    const sent = await findOwnMail(key, "sent", services);
    return sent && { data: { ...describeSent(sent), in_reply_to: message_id } };
  },
  run: async ({ message_id }, { plan, services, key }) => {
    const sent = await sendOnce({ ...buildMail(plan, key), ...joinThread(plan.original) }, services);
    return { data: { ...describeSent(sent), in_reply_to: message_id, recipients: listAddresses(plan) } };
  },
});

async function sendOnce(message: OutgoingMail, services: Services): Promise<SentMail> {
  return services.mail(
    (mail, signal) => mail.send(message, signal),
    (mail, signal) => mail.findByMessageId(message.messageId, "sent", signal),
  );
}

/** What is told of a message that was handed over. */
function describeSent({ id, delivery }: SentMail) {
  return {
    email_sent: true,
    message_id: id,
    recipients: delivery.recipients.map(({ address }) => address),
    delivery_status: delivery.status,
    timestamp: delivery.timestamp,
  };
}

async function planReply(
  { message_id, body, reply_all = false }: ReplyInput,
  services: Services,
): Promise<ReplyPlan> {
  const from = await services.mail((mail, signal) => mail.self(signal));
  const original = await services.mail((mail, signal) => mail.get(message_id, signal));
  const self = { address: from.address };
  const isOwn = isSameAddress(original.from.address, self.address);
  const asked = isOwn ? original.to : original.replyTo.length > 0 ? original.replyTo : [original.from];
  const to = dropRepeated(asked.map(toRecipient));
  const others = reply_all ? [...original.to, ...original.cc].map(toRecipient) : [];
  const cc = dropRepeated(others, [...to, self]);
  if (to.length === 0) throw new ToolFault("params", "this mail names nobody to answer");
  refuseBulk([...to, ...cc]);
  const household = { self: self.address, internalDomains: services.assistant.internalDomains };
  return { from, to, cc, bcc: [], subject: writeReplySubject(original), text: body, household, original };
}

/** The name in a mail is the sender's own word, so that only the address counts. */
function toRecipient({ address }: Address): Recipient {
  return { address: parseAddress(address) };
}

function writeReplySubject({ subject }: MailMessage): string {
  const clean = subject.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return cutAt(/^re:/i.test(clean) ? clean : `Re: ${clean}`, 900);
}

function joinThread({ messageId, references, threadId }: MailMessage) {
  const isId = (id: string) => /^<[!-;=?-~]{1,500}>$/.test(id);
  if (!isId(messageId)) return { threadId };
  return { threadId, inReplyTo: messageId, references: [...references.filter(isId), messageId].slice(-50) };
}

async function presentReply(plan: ReplyPlan, services: Services): Promise<string> {
  const { original, household } = plan;
  return [
    `Answers: '${visibleLine(original.subject)}' of ${original.date}, from ${showAddress(original.from)}`,
    ...presentRedirection(original, household.self),
    await presentMail(plan, services),
  ].join("\n");
}

/** Where the address came from, and a warning if the answer goes elsewhere than the mail seems to come from. */
function presentRedirection({ from, replyTo }: MailMessage, self: string): string[] {
  if (isSameAddress(from.address, self))
    return ["The mail says that it is from you: the answer goes to those it names as recipients."];
  if (replyTo.length === 0) return ["The address is the mail's From."];
  const elsewhere = replyTo.filter(({ address }) => !isSameAddress(address, from.address));
  if (elsewhere.length === 0) return ["The address is the mail's Reply-To, the same as its From."];
  const domains = elsewhere.some(({ address }) => readDomain(address) !== readDomain(from.address));
  const where = domains ? "to another domain than" : "elsewhere than";
  return [`[warning: the mail's Reply-To sends the answer ${where} its From (${visibleLine(from.address)})]`];
}
