// The accounts of a person: what each kind holds, the file they are in, and which one serves a domain.

import { join } from "node:path";
import { RetinueError } from "@retinue/core/schema/error";
import type { JsonSchema } from "@retinue/core/schema/json-schema";
import type { AssistantSettings } from "@retinue/core/schema/settings";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { readPrivate, writePrivate } from "./private-file.ts";

/** What an account can serve; each is one domain of the assistant. */
export const SERVICES = ["mail", "calendar", "contacts", "slack"] as const;

/** Name of one domain of the assistant. */
export type Service = (typeof SERVICES)[number];

/** Where accounts can be, and what each kind can serve. */
export const SERVICES_OF = {
  google: ["mail", "calendar", "contacts"],
  slack: ["slack"],
  imap: ["mail"],
  caldav: ["calendar", "contacts"],
} as const satisfies Readonly<Record<string, readonly Service[]>>;

/** Kind of a place where accounts can be. */
export type AccountKind = keyof typeof SERVICES_OF;

/** A server as mail programs name it; `secure`: TLS from the first byte. */
export type MailServer = { readonly host: string; readonly port: number; readonly secure: boolean };

type Common = {
  readonly id: string;
  readonly address: string;
  readonly services: readonly Service[];
  /** ISO 8601 in UTC. */
  readonly addedAt: string;
  /** Where its secrets are. */
  readonly tokens: "keyring" | "file";
};

/** An account of Google. */
export type GoogleAccount = Common & {
  readonly kind: "google";
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** Other places than Google's own. */
  readonly tokenUrl?: string;
  readonly rootUrl?: string;
};

/** A workspace of Slack; its address is `user@team`. */
export type SlackAccount = Common & {
  readonly kind: "slack";
  readonly team: string;
  readonly scopes: readonly string[];
  /** Another place than Slack's own. */
  readonly apiUrl?: string;
};

/** A mailbox reached by IMAP and SMTP. */
export type ImapAccount = Common & {
  readonly kind: "imap";
  readonly user: string;
  readonly name?: string;
  readonly imap: MailServer;
  readonly smtp: MailServer;
  /** PEM file of an authority that is trusted besides the usual ones. */
  readonly caFile?: string;
};

/** Calendars and address books reached by CalDAV and CardDAV. */
export type CaldavAccount = Common & { readonly kind: "caldav"; readonly user: string; readonly url: string };

/** An account as it is kept; secrets are elsewhere. */
export type Account = GoogleAccount | SlackAccount | ImapAccount | CaldavAccount;

/** Secrets of one account, by name: `refreshToken`, `accessToken`, `clientSecret`, `token`, `password` and the like. */
export type Secrets = Readonly<Record<string, string>>;

/** The account of each domain; one that is not named has none. */
type Defaults = { readonly [Name in Service]?: string };

/** What the file of accounts holds. */
export type Accounts = { readonly accounts: readonly Account[]; readonly defaults: Defaults };

/** What an account may be called; the name of the local store is taken. */
export const ACCOUNT_ID = /^(?!local$)[a-z0-9][a-z0-9-]{0,39}$/;

const TEXT = { type: "string", minLength: 1, maxLength: 2_000 };
const TEXTS = { type: "array", items: TEXT };
const SERVER = {
  type: "object",
  properties: {
    host: TEXT,
    port: { type: "integer", minimum: 1, maximum: 65_535 },
    secure: { type: "boolean" },
  },
  required: ["host", "port", "secure"],
};
const NEEDED = {
  google: { clientId: TEXT, scopes: TEXTS },
  slack: { team: TEXT, scopes: TEXTS },
  imap: { user: TEXT, imap: SERVER, smtp: SERVER },
  caldav: { user: TEXT, url: TEXT },
} as const satisfies Record<Account["kind"], object>;
const OPTIONAL = { tokenUrl: TEXT, rootUrl: TEXT, apiUrl: TEXT, name: TEXT, caFile: TEXT };

/** The name by which the local store is chosen. */
export const LOCAL = "local";

/** Who serves a domain: an account, or the local store if null; `hasAny` if an account serves any domain at all. */
export type Picked = { readonly account: Account | null; readonly hasAny: boolean };

function buildSchema(kind: Account["kind"]): object {
  const needed = {
    id: { type: "string", pattern: ACCOUNT_ID.source },
    kind: { const: kind },
    address: TEXT,
    services: { type: "array", items: { enum: SERVICES_OF[kind] } },
    addedAt: TEXT,
    tokens: { enum: ["keyring", "file"] },
    ...NEEDED[kind],
  };
  return { type: "object", properties: { ...needed, ...OPTIONAL }, required: Object.keys(needed) };
}

const SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    accounts: {
      type: "array",
      items: {
        oneOf: [buildSchema("google"), buildSchema("slack"), buildSchema("imap"), buildSchema("caldav")],
      },
    },
    defaults: {
      type: "object",
      properties: Object.fromEntries(SERVICES.map((service) => [service, TEXT])),
      additionalProperties: false,
    },
  },
  required: ["accounts", "defaults"],
};

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
  const { valid, errors } = new Validator(SCHEMA, "2020-12", true).validate(value);
  if (!valid || !isAccounts(value)) {
    const where = errors
      .map(({ instanceLocation }) => instanceLocation)
      .toSorted((a, b) => b.length - a.length)[0];
    throw broken(file, `${where ?? "#"} is not as Retinue writes it`);
  }
  const ids = value.accounts.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) throw broken(file, `two accounts are called '${twice}'`);
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
    throw broken(file, "it is no JSON");
  }
}

/** The schema has seen to everything; this only tells the compiler. */
function isAccounts(value: unknown): value is Accounts {
  return typeof value === "object" && value !== null && "accounts" in value && "defaults" in value;
}

function broken(file: string, why: string): RetinueError {
  return new RetinueError(
    "config",
    `${file} cannot be used: ${why}`,
    "correct it, or remove it and add the accounts again",
  );
}

/** Picks who serves a domain: the settings' word, else the default of the accounts, else the local store. */
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

/** The account that serves a domain; null for the local store. One that is named and missing is never passed over. */
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
