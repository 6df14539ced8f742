// Whom a call reaches: names and lists become addresses, and reaching outsiders or many is a high risk.

import type { Contact } from "../contacts/contacts-provider.ts";
import type { Services } from "../service-tools/call-service.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { revealLine } from "../service-tools/tool-output.ts";
import {
  findAddressFault,
  isSameAddress,
  parseAddress,
  readDomain,
  showAddress,
  warnOfLookAlike,
} from "./mail-address.ts";

/** Somebody a call reaches. */
export type Recipient = {
  readonly address: string;
  /** From the address book; a name that a caller gave is not kept. */
  readonly name?: string;
};

/** People one call may reach. */
const MAX_RECIPIENTS = 100;
const MAX_MATCHES = 1_000;

/** The addresses behind what a caller wrote: addresses, names of contacts, names of lists, or `me`. */
export async function resolveRecipients(
  written: readonly string[],
  field: string,
  { services, self }: { readonly services: Services; readonly self: string },
): Promise<readonly Recipient[]> {
  const found: Recipient[] = [];
  for (const each of written) found.push(...(await resolveEntry(each, { field, services, self })));
  const unique = dropRepeated(found);
  refuseBulk(unique);
  return unique;
}

/** What is wrong with the entries that are meant as addresses; null if nothing. */
export function findEntryFault(written: readonly string[]): string | null {
  for (const entry of written) {
    const wrong = isAddress(entry) ? findAddressFault(entry) : null;
    if (wrong) return `'${revealLine(entry)}' is not an address to write to: ${wrong}`;
  }
  return null;
}

/** Refuses a call that reaches more people than one may. */
export function refuseBulk(recipients: readonly Recipient[]): void {
  if (recipients.length > MAX_RECIPIENTS)
    throw new ToolFault("params", `it reaches ${recipients.length} people, more than ${MAX_RECIPIENTS}`);
}

/** Each address once, in its first place; without those in `except`. */
export function dropRepeated(
  recipients: readonly Recipient[],
  except: readonly Recipient[] = [],
): readonly Recipient[] {
  const seen = new Set(except.map(({ address }) => address.toLowerCase()));
  return recipients.filter(({ address }) => {
    const isNew = !seen.has(address.toLowerCase());
    seen.add(address.toLowerCase());
    return isNew;
  });
}

async function resolveEntry(
  written: string,
  { field, services, self }: { field: string; services: Services; self: string },
): Promise<readonly Recipient[]> {
  if (isAddress(written)) return [{ address: parseAddress(written) }];
  const name = written.trim().replace(/^the\s+/i, "");
  if (name === "") throw new ToolFault("params", `${field} holds an empty entry`);
  if (/^(?:me|myself)$/i.test(name)) return [{ address: self }];
  const { contacts, total } = await services.contacts((book, signal) =>
    book.search({ name, limit: MAX_MATCHES }, signal),
  );
  // Among those that were not given there may be another of this name.
  if (total > contacts.length)
    throw new ToolFault(
      "params",
      `${field}: '${revealLine(name)}' fits ${total} contacts; give a mail address`,
    );
  const contact = pickContact(name, contacts, field);
  const addresses = contact.members ?? contact.emails.slice(0, 1);
  if (addresses.length === 0)
    throw new ToolFault("params", `the contact '${revealLine(contact.name)}' has no mail address`);
  return addresses.map((address) => ({
    address: parseAddress(address),
    name: contact.members ? undefined : revealLine(contact.name),
  }));
}

function isAddress(written: string): boolean {
  return /[@<>＠]/u.test(written);
}

/** The one contact that a name means: the whole name, else all of its words; never a part of a word. */
function pickContact(name: string, contacts: readonly Contact[], field: string): Contact {
  const wanted = splitName(name);
  const exact = contacts.filter((contact) => splitName(contact.name).join(" ") === wanted.join(" "));
  const matching =
    exact.length > 0
      ? exact
      : contacts.filter((contact) => {
          const words = new Set(splitName(contact.name));
          return wanted.length > 0 && wanted.every((word) => words.has(word));
        });
  const [first, ...others] = matching;
  const shown = revealLine(name);
  if (!first) {
    const near = contacts.length > 0 ? `; near: ${listNames(contacts)}` : "; give a mail address";
    throw new ToolFault("params", `${field}: there is no contact '${shown}'${near}`);
  }
  if (others.length > 0)
    throw new ToolFault(
      "params",
      `${field}: '${shown}' may be ${listNames(matching)}; give the mail address of the one that is meant`,
    );
  return first;
}

function listNames(contacts: readonly Contact[]): string {
  return contacts
    .slice(0, 8)
    .map(({ name, emails: [address] }) => (address ? showAddress({ name, address }) : revealLine(name)))
    .join(", ");
}

function splitName(name: string): string[] {
  return (
    name
      .normalize("NFKC")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  );
}

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

/** Whose mail it is, and which other domains count as inside. */
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

/** Why reaching these people needs a person's confirmation: they are several, or outside; null if it does not. */
export function explainHighRisk(recipients: readonly Recipient[], household: Household): string | null {
  const outside = recipients.filter(({ address }) => !isInternal(address, household));
  return joinReasons([
    recipients.length > 1 && `it reaches ${recipients.length} people`,
    outside.length > 0 &&
      `outside the organisation: ${outside.map(({ address }) => showAddress({ address })).join(", ")}`,
  ]);
}

/** The reasons that apply, as one; null if none does. */
export function joinReasons(reasons: readonly (string | false | null)[]): string | null {
  return reasons.filter(Boolean).join("; ") || null;
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
