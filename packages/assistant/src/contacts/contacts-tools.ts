// The tools of the contacts agent.

import { measureDistance } from "@retinue/core/text/edit-distance";
import {
  findAddressFault,
  isSameAddress,
  parseAddress,
  readDomain,
  warnOfLookAlike,
} from "../recipients/mail-address.ts";
import { listContactDomains, PUBLIC_DOMAINS } from "../recipients/recipients.ts";
import type { Services } from "../service-tools/call-service.ts";
import { describeLimit, describeText, readTool } from "../service-tools/service-tool.ts";
import { cutText, fitItems } from "../service-tools/tool-output.ts";
import type { Contact } from "./contacts-provider.ts";

type Field = "name" | "email" | "phone" | "organization" | "title";

/** Characters of an address or a phone number that are shown. */
const MAX_WAY = 260;
const FIELDS: readonly Field[] = ["name", "email", "phone", "organization", "title"];

/** The tool `contacts_search`. */
export const searchContacts = readTool({
  name: "contacts_search",
  description:
    "Finds people and lists in the address book; every given field must match. Use it to learn somebody's mail address, or who belongs to an organisation. Each hit has contact_id (for contacts_get_by_id) and the wanted fields; email is the preferred address, emails all if there are several.",
  group: "contacts",
  properties: {
    query: describeText(300, "Words anywhere in the contact."),
    name: describeText(300, "Name, or a part of it."),
    organization: describeText(300, "Organisation, or a part of its name."),
    email: describeText(300, "Mail address, or a part of it."),
    fields: {
      type: "array",
      items: { type: "string", enum: FIELDS },
      description: "Only these fields besides contact_id and name; all by default.",
    },
    limit: describeLimit(200, 25),
  },
  run: async ({ query, name, organization, email, fields = [], limit = 25 }, services) => {
    const wanted = { text: query, name, organization, email, limit };
    const { contacts, total } = await services.contacts((book, signal) => book.search(wanted, signal));
    const shown = new Set<Field>(fields.length > 0 ? fields : FIELDS);
    return {
      data: fitItems(contacts, (kept) => ({
        contacts: kept.map((contact) => describeContact(contact, shown)),
        total,
      })),
    };
  },
});

/** The tool `contacts_get_by_id`. */
export const getContact = readTool({
  name: "contacts_get_by_id",
  description:
    "Gives everything the address book has on one person or list: all addresses and phone numbers, notes, and the members of a list. contact_id comes from contacts_search.",
  group: "contacts",
  properties: { contact_id: describeText(1_000) },
  required: ["contact_id"],
  run: async ({ contact_id }, services) => {
    const contact = await services.contacts((book, signal) => book.get(contact_id, signal));
    const { id, name, emails, phones, organization, title, notes, members } = contact;
    const build = (kept: readonly string[]) => ({
      contact: {
        contact_id: id,
        name: cutText(name, 300),
        emails: emails.slice(0, 20).map(cutShort),
        phones: phones.slice(0, 20).map(cutShort),
        organization: organization && cutText(organization, 300),
        title: title && cutText(title, 300),
        notes: notes && cutText(notes, 4_000),
        members: members && kept,
      },
    });
    return { data: fitItems(members ?? [], build) };
  },
});

/** The author of a card may write anything into it. */
function cutShort(text: string): string {
  return cutText(text, MAX_WAY);
}

function describeContact(
  { id, name, emails, phones, organization, title }: Contact,
  fields: ReadonlySet<Field>,
) {
  const ifWanted = (field: Field, text: string | undefined, limit: number) =>
    fields.has(field) && text ? cutText(text, limit) : undefined;
  return {
    contact_id: id,
    name: cutText(name, 200),
    email: ifWanted("email", emails[0], MAX_WAY),
    emails: fields.has("email") && emails.length > 1 ? emails.slice(0, 10).map(cutShort) : undefined,
    phone: ifWanted("phone", phones[0], MAX_WAY),
    organization: ifWanted("organization", organization, 200),
    title: ifWanted("title", title, 200),
  };
}

/** The tool `contacts_list_organizations`. */
export const listOrganizations = readTool({
  name: "contacts_list_organizations",
  description:
    "Lists the organisations that people in the address book belong to, those with most people first, with the number of contacts of each. For the people themselves use contacts_search with organization.",
  group: "contacts",
  properties: {
    query: describeText(300, "A part of the name."),
    limit: describeLimit(500, 50),
  },
  run: async ({ query = "", limit = 50 }, services) => {
    const all = await services.contacts((book, signal) => book.organizations(signal));
    const wanted = query.trim().toLowerCase();
    const matching = all.filter(({ name }) => name.toLowerCase().includes(wanted));
    const build = (kept: readonly (typeof matching)[number][]) => ({
      organizations: kept.map(({ name, contacts }) => ({ name: cutText(name, 300), contacts })),
      total: matching.length,
    });
    return { data: fitItems(matching.slice(0, limit), build) };
  },
});

/** Letters that a mistyped domain may be off. */
const MOST_TYPOS = 2;

/** The tool `contacts_validate_email`. */
export const validateEmail = readTool({
  name: "contacts_validate_email",
  description:
    "Checks one mail address by its form and against the address book; no request goes to its server, so valid does not mean that the mailbox exists. known says whether a contact has it, reason what is wrong or suspicious, suggestion the address that may have been meant.",
  group: "contacts",
  properties: { email: describeText(400) },
  required: ["email"],
  run: async ({ email }, services) => {
    const wrong = findAddressFault(email);
    const domains = await listContactDomains(services);
    if (wrong !== null) {
      const suggestion = suggestAddress(email.trim(), domains);
      const usable = suggestion && findAddressFault(suggestion) === null ? suggestion : undefined;
      return { data: { email, valid: false, known: false, reason: wrong, suggestion: usable } };
    }
    const address = parseAddress(email);
    const contact = await findOwner(address, services);
    if (contact) {
      const shown = { contact_id: contact.id, name: cutText(contact.name, 300) };
      return { data: { email: address, valid: true, known: true, contact: shown } };
    }
    const suggestion = suggestAddress(address, domains);
    const reason = warnOfLookAlike(readDomain(address), domains) ?? undefined;
    return { data: { email: address, valid: true, known: false, reason, suggestion } };
  },
});

async function findOwner(address: string, services: Services): Promise<Contact | undefined> {
  const { contacts } = await services.contacts((book, signal) =>
    book.search({ email: address.toLowerCase(), limit: 25 }, signal),
  );
  return contacts.find(({ emails }) => emails.some((each) => isSameAddress(each, address)));
}

/** The same address at the nearest well-known domain, or one of the address book; undefined if it is already at one, or near none. */
function suggestAddress(address: string, ofContacts: readonly string[]): string | undefined {
  const at = address.lastIndexOf("@");
  const domain = address.slice(at + 1).toLowerCase();
  const known = [...new Set([...ofContacts, ...PUBLIC_DOMAINS])];
  if (at < 1 || known.includes(domain)) return undefined;
  const near = known
    .map((name) => ({ name, off: measureDistance(domain, name, MOST_TYPOS) }))
    .filter(({ name, off }) => off <= (name.length < 8 ? 1 : MOST_TYPOS))
    .toSorted((a, b) => a.off - b.off)[0];
  return near && `${address.slice(0, at)}@${near.name}`;
}
