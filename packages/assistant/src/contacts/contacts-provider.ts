// An address book: its contacts, how they are searched, and the interface of what serves it.

import { foldText, hasWords } from "../service-tools/search-words.ts";
import { keepFresh } from "../service-tools/service-requests.ts";
import { type ServiceProvider, ToolFault } from "../service-tools/tool-fault.ts";

/** One person or list of the address book. */
export type Contact = {
  readonly id: string;
  readonly name: string;
  /** The preferred one first. */
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly organization?: string;
  readonly title?: string;
  readonly notes?: string;
  /** Set for a list such as "team": the addresses of its members. */
  readonly members?: readonly string[];
};

/** What to look for; all given fields must match. */
type ContactQuery = {
  /** Anywhere in the contact. */
  readonly text?: string;
  readonly name?: string;
  readonly organization?: string;
  readonly email?: string;
  readonly limit: number;
};

/** An address book. */
export type ContactsProvider = ServiceProvider<"embedded" | "google" | "carddav"> & {
  search(
    query: ContactQuery,
    signal: AbortSignal,
  ): Promise<{ readonly contacts: readonly Contact[]; readonly total: number }>;
  get(id: string, signal: AbortSignal): Promise<Contact>;
  organizations(
    signal: AbortSignal,
  ): Promise<readonly { readonly name: string; readonly contacts: number }[]>;
};

/** Where the contacts of an address book come from. */
type ContactSource = Pick<ContactsProvider, "kind" | "refresh"> & {
  /** All people and lists, in the order in which they are given. */
  load(signal: AbortSignal): Promise<readonly (Contact & Partial<CardFields>)[]>;
  /** How long they are cached: recipients of one message are looked up one by one. */
  readonly freshMs: number;
  /** Milliseconds since any moment. */
  readonly now?: (() => number) | undefined;
};

/** What a card has besides its contact. */
export type CardFields = { readonly uid: string; readonly memberRefs: readonly string[] };

/** An address book that is read as a whole, and searched here. */
export function createAddressBook(source: ContactSource): ContactsProvider {
  const { load, freshMs, kind, refresh, now } = source;
  const loadContacts = async (signal: AbortSignal): Promise<readonly Contact[]> =>
    (await load(signal)).map(({ uid: _uid, memberRefs: _refs, ...contact }) => contact);
  const readAll = keepFresh(loadContacts, freshMs, now);
  return {
    kind,
    ...(refresh && { refresh }),
    async search(query, signal) {
      const found = (await readAll(signal)).filter((contact) => matchesContact(contact, query));
      return { contacts: found.slice(0, query.limit), total: found.length };
    },
    async get(id, signal) {
      const contact = (await readAll(signal)).find((each) => each.id === id);
      if (contact) return contact;
      const shown = JSON.stringify(id.slice(0, 100));
      throw new ToolFault(
        "params",
        `there is no contact ${shown} in this address book; search gives the ids`,
      );
    },
    organizations: async (signal) => countOrganizations(await readAll(signal)),
  };
}

/** Whether a contact has every word a query asks for in the right field. */
export function matchesContact(contact: Contact, query: ContactQuery): boolean {
  const { name, emails, phones, organization, title, notes, members = [] } = contact;
  return (
    hasWords([name, ...emails, ...phones, organization, title, notes, ...members], query.text) &&
    hasWords([name], query.name) &&
    hasWords([organization], query.organization) &&
    hasWords(emails, query.email)
  );
}

/** The organisations of contacts, those with most contacts first. */
export function countOrganizations(
  contacts: readonly Contact[],
): { readonly name: string; readonly contacts: number }[] {
  const groups = Map.groupBy(contacts, ({ organization = "" }) => foldText(organization));
  groups.delete("");
  return [...groups.values()]
    .map((group) => ({ name: group[0]?.organization ?? "", contacts: group.length }))
    .sort((a, b) => b.contacts - a.contacts || (a.name < b.name ? -1 : 1));
}
