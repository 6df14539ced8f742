import type { Risk } from "@retinue/core/tools/tool";
import type { Services } from "../service-tools/call-service.ts";
import { warnOfLookAlike } from "./look-alike.ts";
import { isSameAddress, readDomain, showAddress } from "./parse-address.ts";
import type { Recipient } from "./recipients.ts";

/** Who is inside, and the domains that a look-alike may imitate. */
type KnownDomains = Household & { readonly knownDomains: readonly string[] };

const MAX_CONTACTS = 5_000;

/** Domains where anybody can have a mailbox: sharing one says nothing about belonging together. */
export const PUBLIC_DOMAINS: ReadonlySet<string> = new Set(
  `gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com yahoo.co.uk ymail.com icloud.com me.com mac.com
  aol.com proton.me protonmail.com pm.me gmx.de gmx.net gmx.com web.de t-online.de freenet.de posteo.de mailbox.org
  fastmail.com zoho.com mail.com yandex.com mail.ru qq.com 163.com tutanota.com hey.com orange.fr free.fr laposte.net
  libero.it wanadoo.fr comcast.net verizon.net att.net btinternet.com`.split(/\s+/),
);

/** Whose mail it is, and which domains are inside besides. */
export type Household = { readonly self: string; readonly internalDomains: readonly string[] };

/** The owner's surroundings: own domains, and those of the address book as far as it can be asked. */
export async function findKnownDomains(self: string, services: Services): Promise<KnownDomains> {
  const { internalDomains } = services.assistant;
  const ofContacts = await listContactDomains(services).catch(() => []);
  const knownDomains = [...new Set([readDomain(self).toLowerCase(), ...internalDomains, ...ofContacts])];
  return { self, internalDomains, knownDomains };
}

/** Every domain in the address book, in lower case. */
export async function listContactDomains(services: Services): Promise<readonly string[]> {
  const { contacts } = await services.contacts((book, signal) =>
    book.search({ limit: MAX_CONTACTS }, signal),
  );
  const domains = contacts.flatMap(({ emails }) => emails.map((email) => readDomain(email).toLowerCase()));
  return [...new Set(domains)];
}

/** The risk of reaching these people: several, or anybody outside, is high. */
export function rateReach(recipients: readonly Recipient[], household: Household): Risk {
  return explainHighRisk(recipients, household) === null ? "medium" : "high";
}

/** Why reaching these people needs a person's word; null if it does not. */
export function explainHighRisk(recipients: readonly Recipient[], household: Household): string | null {
  const outside = recipients.filter(({ address }) => !isInternal(address, household));
  const reasons = [
    recipients.length > 1 && `it reaches ${recipients.length} people`,
    outside.length > 0 &&
      `outside the organisation: ${outside.map(({ address }) => showAddress({ address })).join(", ")}`,
  ].filter(Boolean);
  return reasons.length > 0 ? reasons.join("; ") : null;
}

/** One line for each address under a heading, with what a person must notice about it; none without addresses. */
export function presentPeople(
  heading: string,
  recipients: readonly Recipient[],
  known: KnownDomains,
): string[] {
  if (recipients.length === 0) return [];
  return [`${heading}:`, ...recipients.map((each) => `  ${presentPerson(each, known)}`)];
}

function presentPerson(recipient: Recipient, known: KnownDomains): string {
  const { address } = recipient;
  const warning = warnOfLookAlike(readDomain(address), known.knownDomains);
  return [
    showAddress(recipient),
    !isInternal(address, known) && "[external]",
    warning && `[warning: ${warning}]`,
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * Whether an address is inside: the owner's own, one of the owner's domain, or one of a domain the owner named; of a
 * public domain only the owner's own is.
 */
export function isInternal(address: string, { self, internalDomains }: Household): boolean {
  if (isSameAddress(address, self)) return true;
  const domain = readDomain(address).toLowerCase();
  if (PUBLIC_DOMAINS.has(domain)) return false;
  return internalDomains.includes(domain) || domain === readDomain(self).toLowerCase();
}
