import type { Tool } from "../../../tools/tool.ts";
import { reachRisk, whyHigh } from "../risk/reach.ts";
import { writeTool } from "../tool/service-tool.ts";
import type { Desk } from "../tool/services.ts";
import {
  addressesOf,
  COMPOSE_PROPERTIES,
  type ComposeInput,
  composeFault,
  everybody,
  findMail,
  type MailPlan,
  outgoing,
  planMail,
  presentMail,
} from "./compose-mail.ts";
import type { SentMail } from "./mail-provider.ts";

/** The tool `gmail_send_email`. */
export function sendEmail(desk: Desk): Tool<ComposeInput> {
  return writeTool<ComposeInput, MailPlan>(desk, {
    name: "gmail_send_email",
    description:
      "Sends a new mail at once; to answer one, use gmail_reply_to_message, and to prepare one, gmail_create_draft. Several recipients, or one outside the organisation, need a person's confirmation. Gives message_id, all recipients (cc and bcc among them) and delivery_status: sent or queued is not yet delivered.",
    group: "email",
    properties: { ...COMPOSE_PROPERTIES, recipients: { ...COMPOSE_PROPERTIES.recipients, minItems: 1 } },
    required: ["recipients", "subject", "body"],
    outbound: true,
    check: composeFault,
    plan: planMail,
    reaches: addressesOf,
    risk: (plan) => reachRisk(everybody(plan), plan.household),
    confirm: (plan) => whyHigh(everybody(plan), plan.household),
    present: presentMail,
    find: async (_input, { services, key }) => {
      const sent = await findMail(key, "sent", services);
      return sent && { data: sentData(sent) };
    },
    run: async (_input, { plan, services, key }) => {
      const message = outgoing(plan, key);
      const sent = await services.mail(
        (mail, signal) => mail.send(message, signal),
        (mail, signal) => mail.findByMessageId(message.messageId, "sent", signal),
      );
      return { data: { ...sentData(sent), recipients: addressesOf(plan) } };
    },
  });
}

/** What is told of a message that was handed over. */
export function sentData({ id, delivery }: SentMail) {
  return {
    email_sent: true,
    message_id: id,
    recipients: delivery.recipients.map(({ address }) => address),
    delivery_status: delivery.status,
    timestamp: delivery.timestamp,
  };
}
