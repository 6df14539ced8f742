// The address book of the local store.

import { type ContactsProvider, createAddressBook } from "../contacts/contacts-provider.ts";
import { type Card, resolveMembers } from "../contacts/vcard.ts";
import { type EmbeddedDatabase, parseStored } from "./embedded-database.ts";

/** The address book in the store. */
export function createEmbeddedContacts(database: EmbeddedDatabase): ContactsProvider {
  return createAddressBook({
    kind: "embedded",
    freshMs: 0,
    async load() {
      const rows = database.all("SELECT contact FROM contacts ORDER BY name, id");
      return resolveMembers(rows.map(({ contact }) => parseStored<Card>(contact)));
    },
  });
}

/** Keeps a contact with the text it was read from; says whether anything is new. A newer text replaces an older one. */
export function putContact(database: EmbeddedDatabase, card: Card, vcard: string): boolean {
  return database.run(
    `INSERT INTO contacts (id, name, contact, vcard) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, contact = excluded.contact, vcard = excluded.vcard
     WHERE vcard <> excluded.vcard`,
    [card.id, card.name, JSON.stringify(card), vcard],
  );
}
