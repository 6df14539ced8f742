// The address book of the local store.

import { type ContactsProvider, createAddressBook } from "../contacts/contacts-provider.ts";
import { type Card, resolveMembers } from "../contacts/vcard.ts";
import { cleanColumn, type EmbeddedDatabase, parseStored } from "./embedded-database.ts";

/** The address book in the store. */
export function createEmbeddedContacts(database: EmbeddedDatabase): ContactsProvider {
  return createAddressBook({
    kind: "embedded",
    freshMs: 0,
    async load() {
      const rows = database.db.prepare("SELECT contact FROM contacts ORDER BY name, id").all();
      return resolveMembers(rows.map(({ contact }) => parseStored<Card>(contact)));
    },
  });
}

/** Keeps a contact with the text it was read from; says whether anything is new. A newer text replaces an older one. */
export function putContact(database: EmbeddedDatabase, card: Card, vcard: string): boolean {
  const { changes } = database.db
    .prepare(
      `INSERT INTO contacts (id, name, contact, vcard) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, contact = excluded.contact, vcard = excluded.vcard
       WHERE vcard <> excluded.vcard`,
    )
    .run(cleanColumn(card.id), cleanColumn(card.name), cleanColumn(JSON.stringify(card)), cleanColumn(vcard));
  return Number(changes) > 0;
}
