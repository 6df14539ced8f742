import { SERVICES } from "./accounts/account.ts";
import type { CalendarProvider } from "./calendar/calendar-provider.ts";
import type { ContactsProvider } from "./contacts/contacts-provider.ts";
import type { MailProvider } from "./mail/mail-provider.ts";
import type { SlackProvider } from "./slack/slack-provider.ts";

/** What one account, or the local store, serves. */
export type Providers = {
  readonly mail?: MailProvider;
  readonly calendar?: CalendarProvider;
  readonly contacts?: ContactsProvider;
  readonly slack?: SlackProvider;
  close?(): Promise<void> | void;
};

/** Closes every provider, and then what they share. */
export async function closeProviders(providers: Providers): Promise<void> {
  for (const service of SERVICES) await providers[service]?.close?.();
  await providers.close?.();
}
