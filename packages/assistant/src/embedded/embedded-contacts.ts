import {
  type Contact,
  type ContactsProvider,
  countOrganizations,
  matchesContact,
} from "../contacts/contacts-provider.ts";
import { type Card, resolveMembers } from "../contacts/vcard.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { cleanColumn, type EmbeddedDatabase, guarded } from "./embedded-database.ts";
import { parseStored } from "./embedded-mail.ts";

/** The address book in the store. */
export function createEmbeddedContacts(database: EmbeddedDatabase): ContactsProvider {
  return {
    kind: "embedded",
    search: (query, signal) =>
      guarded(signal, () => {
        const found = allContacts(database).filter((contact) => matchesContact(contact, query));
        return { contacts: found.slice(0, Math.max(0, Math.trunc(query.limit))), total: found.length };
      }),
    get: (id, signal) =>
      guarded(signal, () => {
        const contact = allContacts(database).find((each) => each.id === id);
        if (!contact)
          throw new ToolFault(
            "params",
            `There is no contact ${JSON.stringify(id.slice(0, 100))}; search gives the ids.`,
          );
        return contact;
      }),
    organizations: (signal) => guarded(signal, () => countOrganizations(allContacts(database))),
  };
}

function allContacts(database: EmbeddedDatabase): Contact[] {
  const rows = database.db.prepare("SELECT contact FROM contacts ORDER BY name, id").all();
  const cards = resolveMembers(rows.map(({ contact }) => parseStored<Card>(contact)));
  return cards.map(({ uid: _uid, memberRefs: _refs, ...contact }) => contact);
}

/** Keeps a contact with the text it was read from; says whether anything is new. A newer text goes before an older. */
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
