import type { Tool } from "../../../tools/tool.ts";
import { writeTool } from "../tool/service-tool.ts";
import type { Desk } from "../tool/services.ts";
import {
  addressesOf,
  COMPOSE_PROPERTIES,
  type ComposeInput,
  composeFault,
  findMail,
  type MailPlan,
  outgoing,
  planMail,
  presentMail,
} from "./compose-mail.ts";

/** The tool `gmail_create_draft`. */
export function createDraft(desk: Desk): Tool<ComposeInput> {
  return writeTool<ComposeInput, MailPlan>(desk, {
    name: "gmail_create_draft",
    description:
      "Keeps a mail as a draft in the mailbox; nothing is sent. Use it when a person wants to look at a mail before it goes. recipients may be empty. Gives draft_id.",
    group: "email",
    properties: COMPOSE_PROPERTIES,
    required: ["recipients", "subject", "body"],
    outbound: false,
    check: composeFault,
    plan: planMail,
    reaches: addressesOf,
    risk: () => "medium",
    present: presentMail,
    find: async ({ subject }, { services, key }) => {
      const kept = await findMail(key, "draft", services);
      if (!kept) return null;
      const recipients = kept.delivery.recipients.map(({ address }) => address);
      return { data: { draft_id: kept.id, recipients, subject } };
    },
    run: async ({ subject }, { plan, services, key }) => {
      const message = outgoing(plan, key);
      const { id } = await services.mail(
        (mail, signal) => mail.draft(message, signal),
        async (mail, signal) => {
          const kept = await mail.findByMessageId(message.messageId, "draft", signal);
          return kept && { id: kept.id, messageId: message.messageId };
        },
      );
      return { data: { draft_id: id, recipients: addressesOf(plan), subject } };
    },
  });
}
