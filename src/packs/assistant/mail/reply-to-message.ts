import type { Tool } from "../../../tools/tool.ts";
import { cutAt } from "../../../tools/truncate.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { domainOf, parseAddress, sameAddress, showAddress } from "../risk/parse-address.ts";
import { reachRisk, whyHigh } from "../risk/reach.ts";
import { distinct, type Recipient, refuseBulk } from "../risk/recipients.ts";
import { writeTool } from "../tool/service-tool.ts";
import type { Desk, Services } from "../tool/services.ts";
import { visibleLine } from "../tool/visible-text.ts";
import { addressesOf, everybody, findMail, type MailPlan, outgoing, presentMail } from "./compose-mail.ts";
import type { Address, MailMessage } from "./mail-provider.ts";
import { sentData } from "./send-email.ts";

type ReplyInput = { message_id: string; body: string; reply_all?: boolean };
type ReplyPlan = MailPlan & { readonly original: MailMessage };

/** The tool `gmail_reply_to_message`. */
export function replyToMessage(desk: Desk): Tool<ReplyInput> {
  return writeTool<ReplyInput, ReplyPlan>(desk, {
    name: "gmail_reply_to_message",
    description:
      "Answers a mail in its thread, at once: to its Reply-To address if it has one, else to its sender; with reply_all also to everybody else who got it. message_id comes from gmail_search_messages or gmail_get_message. The subject follows from the mail, and its text is not quoted. Gives the same fields as gmail_send_email, and in_reply_to.",
    group: "email",
    properties: {
      message_id: { type: "string", minLength: 1, maxLength: 1_000, description: "The mail to answer." },
      body: { type: "string", maxLength: 100_000, description: "The whole text of the answer, plain." },
      reply_all: { type: "boolean", description: "Also to everybody else who got it; false by default." },
    },
    required: ["message_id", "body"],
    outbound: true,
    plan: planReply,
    reaches: addressesOf,
    risk: (plan) => reachRisk(everybody(plan), plan.household),
    confirm: (plan) => whyHigh(everybody(plan), plan.household),
    present: presentReply,
    find: async ({ message_id }, { services, key }) => {
      const sent = await findMail(key, "sent", services);
      return sent && { data: { ...sentData(sent), in_reply_to: message_id } };
    },
    run: async ({ message_id }, { plan, services, key }) => {
      const message = { ...outgoing(plan, key), ...threading(plan.original) };
      const sent = await services.mail(
        (mail, signal) => mail.send(message, signal),
        (mail, signal) => mail.findByMessageId(message.messageId, "sent", signal),
      );
      return { data: { ...sentData(sent), in_reply_to: message_id, recipients: addressesOf(plan) } };
    },
  });
}

async function planReply(
  { message_id, body, reply_all = false }: ReplyInput,
  services: Services,
): Promise<ReplyPlan> {
  const from = await services.mail((mail, signal) => mail.self(signal));
  const original = await services.mail((mail, signal) => mail.get(message_id, signal));
  const self = { address: from.address };
  const isOwn = sameAddress(original.from.address, self.address);
  const asked = isOwn ? original.to : original.replyTo.length > 0 ? original.replyTo : [original.from];
  const to = distinct(asked.map(toRecipient));
  const others = reply_all ? [...original.to, ...original.cc].map(toRecipient) : [];
  const cc = distinct(others, [...to, self]);
  if (to.length === 0) throw new ToolFault("params", "this mail names nobody to answer");
  refuseBulk([...to, ...cc]);
  const household = { self: self.address, internalDomains: services.assistant.internalDomains };
  return { from, to, cc, bcc: [], subject: replySubject(original), text: body, household, original };
}

/** The name in a mail is the sender's own word, so that only the address counts. */
function toRecipient({ address }: Address): Recipient {
  return { address: parseAddress(address) };
}

function replySubject({ subject }: MailMessage): string {
  const clean = subject.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return cutAt(/^re:/i.test(clean) ? clean : `Re: ${clean}`, 900);
}

function threading({ messageId, references, threadId }: MailMessage) {
  const isId = (id: string) => /^<[!-;=?-~]{1,500}>$/.test(id);
  if (!isId(messageId)) return { threadId };
  return { threadId, inReplyTo: messageId, references: [...references.filter(isId), messageId].slice(-50) };
}

async function presentReply(plan: ReplyPlan, services: Services): Promise<string> {
  const { original, household } = plan;
  return [
    `Answers: '${visibleLine(original.subject)}' of ${original.date}, from ${showAddress(original.from)}`,
    ...redirection(original, household.self),
    await presentMail(plan, services),
  ].join("\n");
}

/** Where the address came from, and a warning if the answer goes elsewhere than the mail seems to come from. */
function redirection({ from, replyTo }: MailMessage, self: string): string[] {
  if (sameAddress(from.address, self))
    return ["The mail says that it is from you: the answer goes to those it names as recipients."];
  if (replyTo.length === 0) return ["The address is the mail's From."];
  const elsewhere = replyTo.filter(({ address }) => !sameAddress(address, from.address));
  if (elsewhere.length === 0) return ["The address is the mail's Reply-To, the same as its From."];
  const domains = elsewhere.some(({ address }) => domainOf(address) !== domainOf(from.address));
  const where = domains ? "to another domain than" : "elsewhere than";
  return [`[warning: the mail's Reply-To sends the answer ${where} its From (${visibleLine(from.address)})]`];
}
