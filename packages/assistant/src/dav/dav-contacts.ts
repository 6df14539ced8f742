import {
  type Contact,
  type ContactsProvider,
  countOrganizations,
  matchesContact,
} from "../contacts/contacts-provider.ts";
import { type Card, parseCards, resolveMembers } from "../contacts/vcard.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { createDavFetch, type DavServer, rememberFound, runDavCall } from "./dav-fetch.ts";
import { findAddressBooks, readObjectText } from "./dav-objects.ts";

const MAX_CARDS = 10_000;
/** One request for several look-ups in a row, as a call with many names makes them. */
const FRESH_MS = 30_000;

/** An address book on a CardDAV server; all books of the account are read, and searched here. */
export function createDavContacts(server: DavServer & { now?(): number }): ContactsProvider {
  const books = rememberFound((signal) => findAddressBooks(server, signal));
  const now = () => server.now?.() ?? Date.now();
  let read: { at: number; contacts: readonly Contact[] } | undefined;

  async function all(signal: AbortSignal): Promise<readonly Contact[]> {
    if (read && Math.abs(now() - read.at) < FRESH_MS) return read.contacts;
    const cards: Card[] = [];
    for (const book of await books(signal)) cards.push(...(await fetchCards(server, book, signal)));
    const contacts = resolveMembers(cards.slice(0, MAX_CARDS)).map(dropCardFields);
    read = { at: now(), contacts };
    return contacts;
  }

  return {
    kind: "carddav",
    search: (query, signal) =>
      runDavCall(signal, async () => {
        const found = (await all(signal)).filter((contact) => matchesContact(contact, query));
        found.sort((a, b) => a.name.localeCompare(b.name, "en"));
        return { contacts: found.slice(0, query.limit), total: found.length };
      }),
    get: (id, signal) =>
      runDavCall(signal, async () => {
        const contact = (await all(signal)).find((one) => one.id === id);
        if (contact) return contact;
        throw new ToolFault("params", `there is no contact '${id.slice(0, 200)}' in this address book`);
      }),
    organizations: (signal) => runDavCall(signal, async () => countOrganizations(await all(signal))),
  };
}

function dropCardFields({ uid: _, memberRefs: __, ...contact }: Card): Contact {
  return contact;
}

async function fetchCards(server: DavServer, book: string, signal: AbortSignal): Promise<Card[]> {
  const { addressBookQuery } = await import("tsdav");
  const responses = await addressBookQuery({
    url: book,
    props: { "d:getetag": {}, "card:address-data": {} },
    filters: { "prop-filter": { _attributes: { name: "FN" } } },
    depth: "1",
    fetch: createDavFetch(server, signal),
  });
  const cards: Card[] = [];
  for (const response of responses) {
    const found = readObjectText(response, "addressData", book);
    if (found) cards.push(...(await parseCards(found.data)).cards);
  }
  return cards;
}
