// The local store: four services in one database file, for people without an account.

import type { ServiceProviders } from "../accounts/accounts.ts";
import { guardProvider } from "../service-tools/tool-fault.ts";
import { createEmbeddedCalendar } from "./embedded-calendar.ts";
import { createEmbeddedContacts } from "./embedded-contacts.ts";
import { EmbeddedDatabase, type EmbeddedOptions } from "./embedded-database.ts";
import { createEmbeddedMail } from "./embedded-mail.ts";
import { createEmbeddedSlack } from "./embedded-slack.ts";

/** All four services in one database file. */
export type EmbeddedStore = ServiceProviders & {
  /** The database itself, for import and export. */
  database(): EmbeddedDatabase;
  close(): void;
};

/** Opens the store; its file is made or read at the first call of a provider. */
export function openEmbedded(options: EmbeddedOptions): EmbeddedStore {
  const database = new EmbeddedDatabase(options);
  const failure = "The local store failed";
  return {
    mail: guardProvider(createEmbeddedMail(database), failure),
    calendar: guardProvider(createEmbeddedCalendar(database), failure),
    contacts: guardProvider(createEmbeddedContacts(database), failure),
    slack: guardProvider(createEmbeddedSlack(database), failure),
    database: () => database,
    close: () => database.close(),
  };
}
