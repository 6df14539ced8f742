import type { Risk } from "../../../tools/tool.ts";
import type { Services } from "../tool/services.ts";
import { type Household, isInternal } from "./internal.ts";
import { lookAlikeWarning } from "./look-alike.ts";
import { domainOf, showAddress } from "./parse-address.ts";
import type { Recipient } from "./recipients.ts";

/** Who is inside, and the domains that a look-alike may imitate. */
export type Surroundings = Household & { readonly knownDomains: readonly string[] };

const MAX_CONTACTS = 5_000;

/** The owner's surroundings: own domains, and those of the address book as far as it can be asked. */
export async function surroundingsOf(self: string, services: Services): Promise<Surroundings> {
  const { internalDomains } = services.assistant;
  const ofContacts = await contactDomains(services).catch(() => []);
  const knownDomains = [...new Set([domainOf(self).toLowerCase(), ...internalDomains, ...ofContacts])];
  return { self, internalDomains, knownDomains };
}

/** Every domain in the address book, in lower case. */
export async function contactDomains(services: Services): Promise<readonly string[]> {
  const { contacts } = await services.contacts((book, signal) =>
    book.search({ limit: MAX_CONTACTS }, signal),
  );
  const domains = contacts.flatMap(({ emails }) => emails.map((email) => domainOf(email).toLowerCase()));
  return [...new Set(domains)];
}

/** The risk of reaching these people: several, or anybody outside, is high. */
export function reachRisk(recipients: readonly Recipient[], household: Household): Risk {
  return whyHigh(recipients, household) === null ? "medium" : "high";
}

/** Why reaching these people needs a person's word; null if it does not. */
export function whyHigh(recipients: readonly Recipient[], household: Household): string | null {
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
  surroundings: Surroundings,
): string[] {
  if (recipients.length === 0) return [];
  return [`${heading}:`, ...recipients.map((each) => `  ${presentOne(each, surroundings)}`)];
}

function presentOne(recipient: Recipient, surroundings: Surroundings): string {
  const { address } = recipient;
  const warning = lookAlikeWarning(domainOf(address), surroundings.knownDomains);
  return [
    showAddress(recipient),
    !isInternal(address, surroundings) && "[external]",
    warning && `[warning: ${warning}]`,
  ]
    .filter(Boolean)
    .join(" ");
}
