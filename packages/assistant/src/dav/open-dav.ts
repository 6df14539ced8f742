import type { CalendarProvider } from "../calendar/calendar-provider.ts";
import type { ContactsProvider } from "../contacts/contacts-provider.ts";
import { createDavCalendar } from "./dav-calendar.ts";
import { createDavContacts } from "./dav-contacts.ts";

/** An account on a server for calendars, contacts or both. */
type DavOptions = {
  /** The server, or a path on it; the rest is found by asking it. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The owner's mail address, as organizer of events. */
  readonly address: string;
  /** IANA name of the owner's zone. */
  readonly zone: string;
  readonly kinds: readonly ("calendar" | "contacts")[];
  /** Milliseconds since 1970. */
  now?(): number;
};

/** The wanted providers of a DAV account. Nothing is connected or loaded before the first call. */
export function openDav(options: DavOptions): {
  readonly calendar?: CalendarProvider;
  readonly contacts?: ContactsProvider;
} {
  return {
    ...(options.kinds.includes("calendar") && { calendar: createDavCalendar(options) }),
    ...(options.kinds.includes("contacts") && { contacts: createDavContacts(options) }),
  };
}
