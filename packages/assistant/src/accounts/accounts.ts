// The accounts of a person: what each kind holds, the file they are in, and which one serves a domain.

import { join } from "node:path";
import { readPrivate, writePrivate } from "@retinue/core/files/private-file";
import { RetinueError } from "@retinue/core/schema/error";
import type { AssistantSettings } from "@retinue/core/schema/settings";
import {
  flag,
  list,
  oneOf,
  type Shape,
  shape,
  type TypeIn,
  textWith,
  whole,
} from "@retinue/core/schema/shape";
import type { HostPlaces } from "@retinue/core/tools/tool";
import type { CalendarProvider } from "../calendar/calendar-provider.ts";
import type { ContactsProvider } from "../contacts/contacts-provider.ts";
import type { MailProvider } from "../mail/mail-provider.ts";
import type { SlackProvider } from "../slack/slack-provider.ts";

/** What an account can serve; each is one domain of the assistant. */
export const SERVICES = ["mail", "calendar", "contacts", "slack"] as const;

/** Name of one domain of the assistant. */
export type Service = (typeof SERVICES)[number];

/** What serves each domain. */
export type ServiceProviders = {
  readonly mail: MailProvider;
  readonly calendar: CalendarProvider;
  readonly contacts: ContactsProvider;
  readonly slack: SlackProvider;
};

/** Where accounts can be, and what each kind can serve. */
export const SERVICES_OF = {
  google: ["mail", "calendar", "contacts"],
  slack: ["slack"],
  imap: ["mail"],
  caldav: ["calendar", "contacts"],
} as const satisfies Readonly<Record<string, readonly Service[]>>;

/** Kind of a place where accounts can be. */
export type AccountKind = keyof typeof SERVICES_OF;

/** What an account may be called; the name of the local store is taken. */
export const ACCOUNT_ID = /^(?!local$)[a-z0-9][a-z0-9-]{0,39}$/;

/** The name by which the local store is chosen. */
export const LOCAL = "local";

const TEXT = textWith({ minLength: 1, maxLength: 2_000 });
const COMMON = {
  id: textWith({ pattern: ACCOUNT_ID.source }),
  address: TEXT,
  /** ISO 8601 in UTC. */
  addedAt: TEXT,
  /** Where its secrets are. */
  tokens: oneOf("keyring", "file"),
};
const MAIL_SERVER = shape({ host: TEXT, port: { ...whole, minimum: 1, maximum: 65_535 }, secure: flag });
const GOOGLE = shape({
  ...COMMON,
  kind: oneOf("google"),
  services: list<Service>(oneOf(...SERVICES_OF.google)),
  clientId: TEXT,
  scopes: list(TEXT),
  /** Other places than Google's own. */
  "tokenUrl?": TEXT,
  "rootUrl?": TEXT,
});
const SLACK = shape({
  ...COMMON,
  kind: oneOf("slack"),
  services: list<Service>(oneOf(...SERVICES_OF.slack)),
  team: TEXT,
  scopes: list(TEXT),
  /** Another place than Slack's own. */
  "apiUrl?": TEXT,
});
const IMAP = shape({
  ...COMMON,
  kind: oneOf("imap"),
  services: list<Service>(oneOf(...SERVICES_OF.imap)),
  user: TEXT,
  "name?": TEXT,
  imap: MAIL_SERVER,
  smtp: MAIL_SERVER,
  /** PEM file of an authority that is trusted besides the usual ones. */
  "caFile?": TEXT,
});
const CALDAV = shape({
  ...COMMON,
  kind: oneOf("caldav"),
  services: list<Service>(oneOf(...SERVICES_OF.caldav)),
  user: TEXT,
  url: TEXT,
});
const ACCOUNT: Shape<GoogleAccount | SlackAccount | ImapAccount | CaldavAccount> = {
  anyOf: [GOOGLE, SLACK, IMAP, CALDAV],
};
const ACCOUNTS = shape({
  accounts: list(ACCOUNT),
  /** The account of each domain; one that is not named has none. */
  defaults: shape({ "mail?": TEXT, "calendar?": TEXT, "contacts?": TEXT, "slack?": TEXT }),
});

/** A server as mail programs name it; `secure`: TLS from the first byte. */
export type MailServer = TypeIn<typeof MAIL_SERVER>;

/** An account of Google. */
export type GoogleAccount = TypeIn<typeof GOOGLE>;

/** A workspace of Slack; its address is `user@team`. */
export type SlackAccount = TypeIn<typeof SLACK>;

/** A mailbox reached by IMAP and SMTP. */
export type ImapAccount = TypeIn<typeof IMAP>;

/** Calendars and address books reached by CalDAV and CardDAV. */
export type CaldavAccount = TypeIn<typeof CALDAV>;

/** An account as it is kept; secrets are elsewhere. */
export type Account = TypeIn<typeof ACCOUNT>;

/** What the file of accounts holds. */
export type Accounts = TypeIn<typeof ACCOUNTS>;

/** Secrets of one account, by name: `refreshToken`, `accessToken`, `clientSecret`, `token`, `password` and the like. */
export type Secrets = Readonly<Record<string, string>>;

/** Who serves a domain: an account, or null for the local store; `hasAny`: an account serves at least one domain. */
export type Picked = { readonly account: Account | null; readonly hasAny: boolean };

/** The path of the file of accounts. */
export function locateAccountFile(configDir: string): string {
  return join(configDir, "accounts.json");
}

/** The accounts of the user; none if there is no file. */
export async function loadAccounts(configDir: string): Promise<Accounts> {
  const file = locateAccountFile(configDir);
  const text = await readPrivate(file, "write");
  if (text === null) return { accounts: [], defaults: {} };
  const value = parseJson(text, file);
  const { Validator } = await import("@cfworker/json-schema");
  const { valid, errors } = new Validator(ACCOUNTS, "2020-12", true).validate(value);
  if (!valid || !isAccounts(value)) {
    const where = errors
      .map(({ instanceLocation }) => instanceLocation)
      .toSorted((a, b) => b.length - a.length)[0];
    throw refuseFile(file, `${where ?? "#"} is not as Retinue writes it`);
  }
  const ids = value.accounts.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw refuseFile(file, `two accounts are called '${twice}'`);
  return value;
}

/** Writes the file of accounts, whole or not at all. */
export function saveAccounts(configDir: string, accounts: Accounts): Promise<void> {
  return writePrivate(locateAccountFile(configDir), `${JSON.stringify(accounts, null, 2)}\n`);
}

/** The account of this id; an error that lists the others if there is none. */
export function findAccount({ accounts }: Accounts, id: string): Account {
  const found = accounts.find((account) => account.id === id);
  if (found) return found;
  const known = accounts.map((account) => account.id).join(", ") || "none";
  throw new RetinueError(
    "input",
    `there is no account '${id}'; there are: ${known}`,
    "see: retinue accounts list",
  );
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuseFile(file, "it is no JSON");
  }
}

/** The schema has checked everything; this only tells the compiler. */
function isAccounts(value: unknown): value is Accounts {
  return typeof value === "object" && value !== null && "accounts" in value && "defaults" in value;
}

function refuseFile(file: string, why: string): RetinueError {
  return new RetinueError(
    "config",
    `${file} cannot be used: ${why}`,
    "correct it, or remove it and add the accounts again",
  );
}

/** Picks who serves a domain: by the settings, else by the default of the accounts, else the local store. */
export async function pickAccount(
  service: Service,
  settings: AssistantSettings,
  { configDir }: Pick<HostPlaces, "configDir">,
): Promise<Picked> {
  const accounts = await loadAccounts(configDir);
  const account = chooseAccount(service, settings, accounts);
  return { account, hasAny: hasAnyAccount(settings, accounts) };
}

/** Whether an account, and not the local store, serves any domain. */
export function hasAnyAccount(settings: AssistantSettings, accounts: Accounts): boolean {
  return SERVICES.some((service) => chooseId(service, settings, accounts) !== LOCAL);
}

/** The account that serves a domain; null for the local store. A named account that is missing is an error. */
export function chooseAccount(
  service: Service,
  settings: AssistantSettings,
  accounts: Accounts,
): Account | null {
  const id = chooseId(service, settings, accounts);
  if (id === LOCAL) return null;
  const account = findAccount(accounts, id);
  if (account.services.includes(service)) return account;
  throw new RetinueError(
    "config",
    `account '${id}' is chosen for ${service}, but serves only ${account.services.join(", ")}`,
    `choose another: retinue accounts default ${service} ID|local`,
  );
}

function chooseId(service: Service, settings: AssistantSettings, { defaults }: Accounts): string {
  return settings.accounts?.[service] ?? defaults[service] ?? LOCAL;
}
