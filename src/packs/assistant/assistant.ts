import type { CalendarProvider } from "./calendar/calendar-provider.ts";
import type { ContactsProvider } from "./contacts/contacts-provider.ts";
import type { MailProvider } from "./mail/mail-provider.ts";
import type { SlackProvider } from "./slack/slack-provider.ts";

/** A person's services, as the tools reach them. A provider is opened at its first use and kept. */
export type Assistant = {
  mail(): Promise<MailProvider>;
  calendar(): Promise<CalendarProvider>;
  contacts(): Promise<ContactsProvider>;
  slack(): Promise<SlackProvider>;
  /** Domains that count as inside, besides the owner's own; lower case. */
  readonly internalDomains: readonly string[];
  /** IANA name of the zone that times without one are meant in. */
  readonly zone: string;
  /** Milliseconds since 1970. */
  now(): number;
  close(): Promise<void>;
};
