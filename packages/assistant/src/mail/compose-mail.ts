import { readDomain, showAddress } from "../recipients/parse-address.ts";
import { findKnownDomains, type Household, presentPeople } from "../recipients/reach.ts";
import {
  dropRepeated,
  findEntryFault,
  type Recipient,
  refuseBulk,
  resolveRecipients,
} from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import { hasHiddenText, visibleLine, visibleText } from "../service-tools/tool-output.ts";
import type { Address, OutgoingMail, SentMail } from "./mail-provider.ts";

/** What a caller gives for a new message. */
export type ComposeInput = {
  recipients: string[];
  subject: string;
  body: string;
  cc?: string[];
  bcc?: string[];
};

/** A message with everybody it reaches. */
export type MailPlan = {
  readonly from: Address;
  readonly to: readonly Recipient[];
  readonly cc: readonly Recipient[];
  readonly bcc: readonly Recipient[];
  readonly subject: string;
  readonly text: string;
  readonly household: Household;
};

const PEOPLE = {
  type: "array",
  maxItems: 100,
  items: { type: "string", minLength: 1, maxLength: 400 },
} as const;

/** The input of the tools that compose a message. */
export const COMPOSE_PROPERTIES = {
  recipients: {
    ...PEOPLE,
    description:
      "Whom the message is to: one mail address, contact's name or list's name (such as team) for each entry. A name must mean exactly one contact.",
  },
  subject: { type: "string", maxLength: 900, description: "One line." },
  body: { type: "string", maxLength: 100_000, description: "The whole text, plain." },
  cc: { ...PEOPLE, description: "Copies that everybody sees." },
  bcc: { ...PEOPLE, description: "Copies that the other recipients do not see." },
} as const;

/** What is wrong with the addresses or the subject of a message; null if nothing. */
export function findMailFault({ subject, recipients, cc = [], bcc = [] }: ComposeInput): string | null {
  if (/[\r\n]/.test(subject) || hasHiddenText(subject))
    return "subject must be one line without control or invisible characters";
  return findEntryFault([...recipients, ...cc, ...bcc]);
}

/** Finds out whom a message reaches. An address that stands in several fields counts where it is seen first. */
export async function planMail(input: ComposeInput, services: Services): Promise<MailPlan> {
  const from = await services.mail((mail, signal) => mail.self(signal));
  const around = { services, self: from.address };
  const to = await resolveRecipients(input.recipients, "recipients", around);
  const cc = dropRepeated(await resolveRecipients(input.cc ?? [], "cc", around), to);
  const bcc = dropRepeated(await resolveRecipients(input.bcc ?? [], "bcc", around), [...to, ...cc]);
  refuseBulk([...to, ...cc, ...bcc]);
  const household = { self: from.address, internalDomains: services.assistant.internalDomains };
  return { from, to, cc, bcc, subject: input.subject, text: input.body, household };
}

/** Everybody a message reaches. */
export function listEverybody({ to, cc, bcc }: Pick<MailPlan, "to" | "cc" | "bcc">): readonly Recipient[] {
  return [...to, ...cc, ...bcc];
}

/** The addresses of everybody a message reaches. */
export function listAddresses(plan: Pick<MailPlan, "to" | "cc" | "bcc">): string[] {
  return listEverybody(plan).map(({ address }) => address);
}

/** A message as a person must see it: every address, the whole text, and what hides in it. */
export async function presentMail(plan: MailPlan, services: Services): Promise<string> {
  const surroundings = await findKnownDomains(plan.household.self, services);
  return [
    `From: ${showAddress(plan.from)}`,
    ...presentPeople("To", plan.to, surroundings),
    ...presentPeople("Cc", plan.cc, surroundings),
    ...presentPeople("Bcc", plan.bcc, surroundings),
    `Subject: ${visibleLine(plan.subject)}`,
    "",
    visibleText(plan.text),
  ].join("\n");
}

/** The Message-ID by which a call's message is found again. */
function buildMessageId(key: string, self: string): string {
  return `<retinue-${key}@${readDomain(self)}>`;
}

/** The plan as a provider takes it. */
export function buildMail(plan: MailPlan, key: string): OutgoingMail {
  const addresses = (recipients: readonly Recipient[]) => recipients.map(({ address }) => address);
  return {
    messageId: buildMessageId(key, plan.household.self),
    to: addresses(plan.to),
    cc: addresses(plan.cc),
    bcc: addresses(plan.bcc),
    subject: plan.subject,
    text: plan.text,
  };
}

/** The message that a call handed over or kept, if it did. */
export async function findOwnMail(
  key: string,
  kind: "sent" | "draft",
  services: Services,
): Promise<SentMail | null> {
  const { address } = await services.mail((mail, signal) => mail.self(signal));
  return services.mail((mail, signal) => mail.findByMessageId(buildMessageId(key, address), kind, signal));
}
