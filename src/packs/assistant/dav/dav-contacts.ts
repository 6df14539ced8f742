import type { Contact, ContactsProvider } from "../contacts/contacts-provider.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { matchContact, organizationsOf } from "../vcard/match-contact.ts";
import { type Card, parseCards, resolveMembers } from "../vcard/vcard.ts";
import { dataOf } from "./calendar-objects.ts";
import { findAddressBooks } from "./dav-collections.ts";
import { davCall, keptOnce } from "./dav-fault.ts";
import { type DavServer, davFetch } from "./dav-fetch.ts";

const MAX_CARDS = 10_000;
/** One request for several look-ups in a row, as a call with many names makes them. */
const FRESH_MS = 30_000;

/** An address book on a CardDAV server; all books of the account are read, and searched here. */
export function createDavContacts(server: DavServer & { now?(): number }): ContactsProvider {
  const books = keptOnce((signal) => findAddressBooks(server, signal));
  const now = () => server.now?.() ?? Date.now();
  let read: { at: number; contacts: readonly Contact[] } | undefined;

  async function all(signal: AbortSignal): Promise<readonly Contact[]> {
    if (read && Math.abs(now() - read.at) < FRESH_MS) return read.contacts;
    const cards: Card[] = [];
    for (const book of await books(signal)) cards.push(...(await cardsIn(server, book, signal)));
    const contacts = resolveMembers(cards.slice(0, MAX_CARDS)).map(contactOf);
    read = { at: now(), contacts };
    return contacts;
  }

  return {
    kind: "carddav",
    search: (query, signal) =>
      davCall(signal, async () => {
        const found = (await all(signal)).filter((contact) => matchContact(contact, query));
        found.sort((a, b) => a.name.localeCompare(b.name, "en"));
        return { contacts: found.slice(0, query.limit), total: found.length };
      }),
    get: (id, signal) =>
      davCall(signal, async () => {
        const contact = (await all(signal)).find((one) => one.id === id);
        if (contact) return contact;
        throw new ToolFault("params", `there is no contact '${id.slice(0, 200)}' in this address book`);
      }),
    organizations: (signal) => davCall(signal, async () => organizationsOf(await all(signal))),
  };
}

function contactOf({ uid: _, memberRefs: __, ...contact }: Card): Contact {
  return contact;
}

async function cardsIn(server: DavServer, book: string, signal: AbortSignal): Promise<Card[]> {
  const { addressBookQuery } = await import("tsdav");
  const responses = await addressBookQuery({
    url: book,
    props: { "d:getetag": {}, "card:address-data": {} },
    filters: { "prop-filter": { _attributes: { name: "FN" } } },
    depth: "1",
    fetch: davFetch(server, signal),
  });
  const cards: Card[] = [];
  for (const response of responses) {
    const found = dataOf(response, "addressData", book);
    if (found) cards.push(...(await parseCards(found.data)).cards);
  }
  return cards;
}
