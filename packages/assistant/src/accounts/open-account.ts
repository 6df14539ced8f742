// Opens an account with its secrets, and keeps those that are renewed.

import { readFile } from "node:fs/promises";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { HostPlaces } from "@retinue/core/tools/tool";
import type { ImapOptions } from "../imap/imap-session.ts";
import {
  type Account,
  type CaldavAccount,
  type GoogleAccount,
  type ImapAccount,
  SERVICES,
  type Secrets,
  type ServiceProviders,
  type SlackAccount,
} from "./accounts.ts";
import { findSecretStore, type SecretStore } from "./secret-store.ts";

/** What an account is opened with besides its secrets. */
export type Opening = {
  readonly zone: string;
  readonly now: () => number;
  /** Keeps secrets that took the place of older ones. */
  readonly onSecrets?: (changed: Secrets) => Promise<void>;
};

/** Kept with the secrets, but none. */
const OPEN: ReadonlySet<string> = new Set(["expiryDate", "clientId"]);

/** What one account, or the local store, serves. */
export type Providers = Partial<ServiceProviders> & { close?(): Promise<void> | void };

/** Opens an account with the secrets that are kept for it; every one of them is hidden wherever the runtime writes. */
export async function openAccount(
  account: Account,
  places: HostPlaces,
  opening: Omit<Opening, "onSecrets">,
): Promise<Providers> {
  const store = await findSecretStore(account, places);
  const secrets = await store.read(account.id);
  if (!secrets) throw askForSignIn(account, "has no secrets kept for it");
  const hide = (values: Secrets) => {
    for (const [name, value] of Object.entries(values)) if (!OPEN.has(name)) places.hideSecret?.(value);
  };
  hide(secrets);
  const keep = createSecretKeeper(store, account, secrets);
  return openAccountWith(account, secrets, {
    ...opening,
    onSecrets: async (changed) => {
      hide(changed);
      await keep(changed);
    },
  });
}

/**
 * Keeps renewed secrets in place of those that were read. If the account was removed or signed in to again
 * meanwhile, by another program, what is there now stays.
 */
export function createSecretKeeper(
  store: SecretStore,
  { id }: Pick<Account, "id">,
  read: Secrets,
): (changed: Secrets) => Promise<void> {
  let kept = read;
  return async (changed) => {
    const there = await store.read(id);
    if (there?.refreshToken !== kept.refreshToken || there === null) return;
    kept = { ...there, ...changed };
    await store.write(id, kept);
  };
}

/** Opens an account with these secrets. Clients are loaded here and not before. */
export async function openAccountWith(
  account: Account,
  secrets: Secrets,
  opening: Opening,
): Promise<Providers> {
  switch (account.kind) {
    case "google":
      return openGoogleAccount(account, secrets, opening);
    case "slack":
      return openSlackAccount(account, secrets, opening);
    case "imap":
      return openImapAccount(account, secrets, opening);
    case "caldav":
      return openDavAccount(account, secrets, opening);
  }
}

async function openGoogleAccount(account: GoogleAccount, secrets: Secrets, { zone, onSecrets }: Opening) {
  const { openGoogle } = await import("../google/open-google.ts");
  const { clientId, address, rootUrl, tokenUrl } = account;
  const { clientSecret, accessToken } = secrets;
  const refreshToken = requireSecret(account, secrets, "refreshToken");
  const expiryDate = secrets.expiryDate === undefined ? undefined : Number(secrets.expiryDate);
  return openGoogle({
    credentials: { clientId, refreshToken, clientSecret, accessToken, expiryDate },
    ...{ address, zone, rootUrl, tokenUrl },
    onTokens: (tokens) => onSecrets?.(toSecrets(tokens)),
  });
}

async function openSlackAccount(account: SlackAccount, secrets: Secrets, { now, onSecrets }: Opening) {
  const { openSlack } = await import("../slack-web/open-slack.ts");
  const { userToken, refreshToken, clientId, clientSecret } = secrets;
  const slack = await openSlack({
    token: requireSecret(account, secrets, "token"),
    ...{ now, userToken, apiUrl: account.apiUrl },
    refresh: refreshToken && clientId && clientSecret ? { refreshToken, clientId, clientSecret } : undefined,
    onTokens: (tokens) => onSecrets?.(toSecrets(tokens)),
  });
  return { slack };
}

async function openImapAccount(account: ImapAccount, secrets: Secrets, { now }: Opening) {
  const { openImap } = await import("../imap/imap-mail.ts");
  return { mail: openImap({ ...(await buildImapOptions(account, secrets)), now }) };
}

/** A mailbox as its adapter wants it. */
export async function buildImapOptions(account: ImapAccount, secrets: Secrets): Promise<ImapOptions> {
  const { address, name, user, imap, smtp, caFile } = account;
  const password = requireSecret(account, secrets, "password");
  const tls = caFile === undefined ? undefined : { ca: await readAuthority(caFile) };
  return { address, name, user, password, imap, smtp, tls };
}

async function openDavAccount(account: CaldavAccount, secrets: Secrets, { zone, now }: Opening) {
  const { openDav } = await import("../dav/open-dav.ts");
  const { url, user, address, services } = account;
  const kinds = (["calendar", "contacts"] as const).filter((kind) => services.includes(kind));
  const password = requireSecret(account, secrets, "password");
  return openDav({ url, user, password, address, zone, kinds, now });
}

function toSecrets(tokens: Readonly<Record<string, unknown>>): Secrets {
  const given = Object.entries(tokens).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

async function readAuthority(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (thrown) {
    throw new RetinueError("config", `the authority's certificate cannot be read: ${messageOf(thrown)}`);
  }
}

function requireSecret(account: Account, secrets: Secrets, name: string): string {
  const value = secrets[name];
  if (value === undefined || value === "") throw askForSignIn(account, `has no ${name} kept for it`);
  return value;
}

function askForSignIn({ id, kind }: Account, why: string): RetinueError {
  return new RetinueError("auth", `account '${id}' ${why}`, `run: retinue accounts add ${kind} --id ${id}`);
}

/** Closes every provider, and then what they share. */
export async function closeProviders(providers: Providers): Promise<void> {
  for (const service of SERVICES) await providers[service]?.close?.();
  await providers.close?.();
}
