// Opens the three services of a Google account.

import type { ServiceProviders } from "../accounts/accounts.ts";
import { refusePlain } from "../accounts/post-form.ts";
import { guardProvider } from "../service-tools/tool-fault.ts";
import { createGmail } from "./gmail.ts";
import { createGoogleCalendar } from "./google-calendar.ts";
import { createGoogleContacts } from "./google-contacts.ts";
import { type GoogleCredentials, type GoogleTokens, openApi, openGoogleSession } from "./google-session.ts";

/** A Google account as it is opened. */
export type GoogleConfig = {
  readonly credentials: GoogleCredentials;
  /** The owner's address; asked of Gmail if absent. */
  readonly address?: string;
  /** Another place for all three services than Google's own; https, or loopback. */
  readonly rootUrl?: string;
  readonly tokenUrl?: string;
  /** Keeps new tokens; awaited before the next request. */
  onTokens?(tokens: GoogleTokens): Promise<void> | void;
  /** IANA name of the zone for events that name none. */
  readonly zone: string;
  /** Longest time for one request; 30 s. */
  readonly timeoutMs?: number;
};

/** The three services of one account. */
export type Google = Pick<ServiceProviders, "mail" | "calendar" | "contacts">;

const TOKEN_URL = "https://oauth2.googleapis.com/token";
const TIMEOUT_MS = 30_000;

/** Opens an account of Google; nothing is loaded or requested before a method is called. */
export function openGoogle(config: GoogleConfig): Google {
  const { rootUrl, tokenUrl = TOKEN_URL, timeoutMs = TIMEOUT_MS, credentials, onTokens } = config;
  for (const url of [rootUrl, tokenUrl]) if (url) refusePlain(url);
  const session = openGoogleSession({ credentials, tokenUrl, timeoutMs, onTokens });
  const place = { rootUrl, timeoutMs };
  const mail = createGmail(openApi("gmail", session, place), config.address);
  const owner = async (signal: AbortSignal) => (await mail.self(signal)).address;
  const calendar = createGoogleCalendar(openApi("calendar", session, place), { owner, zone: config.zone });
  const contacts = createGoogleContacts(openApi("people", session, place));
  return {
    mail: guardProvider(mail, "Google's answer about the mailbox could not be read"),
    calendar: guardProvider(calendar, "Google's answer about the calendar could not be read"),
    contacts: guardProvider(contacts, "Google's answer about the contacts could not be read"),
  };
}
