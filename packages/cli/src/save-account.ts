import {
  ACCOUNT_ID,
  type Account,
  type AccountKind,
  type Accounts,
  loadAccounts,
  SERVICES_OF,
  type Secrets,
  saveAccounts,
} from "@retinue/assistant/accounts/accounts";
import { type AccountCheck, checkAccount } from "@retinue/assistant/accounts/check-account";
import type { Opening } from "@retinue/assistant/accounts/open-account";
import { chooseSecretStore, findSecretStore } from "@retinue/assistant/accounts/secret-store";
import { RetinueError } from "@retinue/core/schema/error";
import { findPlaces } from "@retinue/core/settings/places";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { Cli, Terminal } from "./terminal.ts";

/** Options that adding any account has. */
export type AddOptions = { id?: string };

/** The places of accounts on this machine. */
export function findAccountPlaces({ env }: Pick<Terminal, "env">) {
  return { ...findPlaces(env), env };
}

/** An account that is not kept yet: when it is, it gets its place for secrets and the time. */
type NewAccount = Account extends infer Each
  ? Each extends Account
    ? Omit<Each, "tokens" | "addedAt">
    : never
  : never;

/** What the account will be called: the wanted id, that of the same account when it is added again, or one of its kind. */
export async function chooseAccountId(
  { kind, address }: { kind: AccountKind; address: string },
  cli: Cli<AddOptions>,
): Promise<string> {
  const { id } = cli.options;
  const { accounts } = await loadAccounts(findAccountPlaces(cli).configDir);
  if (id === undefined) {
    const same = accounts.find((each) => each.kind === kind && each.address === address);
    if (same) return same.id;
    const taken = new Set(accounts.map((each) => each.id));
    for (let number = 1; ; number++) {
      const name = number === 1 ? kind : `${kind}-${number}`;
      if (!taken.has(name)) return name;
    }
  }
  refuseBadAccountId(id);
  const other = accounts.find((each) => each.id === id);
  if (other && (other.kind !== kind || !isSame(kind, other.address, address)))
    throw new RetinueError(
      "input",
      `'${id}' is another account: ${other.address} (${other.kind})`,
      "choose another --id, or remove that one",
    );
  return id;
}

/** Whether two addresses are of one account; in a workspace of Slack another token may be of another user. */
function isSame(kind: AccountKind, one: string, other: string): boolean {
  const place = (address: string) => address.slice(address.lastIndexOf("@"));
  return kind === "slack" ? place(one) === place(other) : one === other;
}

/** Refuses, before anything is asked, an id that no account can have. */
export function refuseBadAccountId(id: string | undefined): void {
  if (id === undefined || ACCOUNT_ID.test(id)) return;
  throw new RetinueError(
    "usage",
    `'${id}' cannot be an account's id`,
    "use up to 40 small letters, digits and -; 'local' is the local store",
  );
}

/** Keeps an account: its secrets first, then itself. It serves at once what nobody served before. */
export async function saveAccount(fresh: NewAccount, secrets: Secrets, cli: Cli<AddOptions>): Promise<void> {
  const places = findAccountPlaces(cli);
  const before = await loadAccounts(places.configDir);
  const known = before.accounts.find(({ id }) => id === fresh.id);
  const store = await chooseSecretStore(places);
  const account: Account = { ...fresh, tokens: store.where, addedAt: new Date().toISOString() };
  await store.write(account.id, secrets);
  try {
    await saveAccounts(places.configDir, withAccount(before, account));
  } catch (thrown) {
    if (!known) await store.remove(account.id);
    throw thrown;
  }
  if (known && known.tokens !== store.where) await forgetOld(known, cli);
  const after = await loadAccounts(places.configDir);
  const serving = account.services.filter((service) => after.defaults[service] === account.id);
  if (cli.options.json) cli.print(JSON.stringify({ ...account, default: serving }, null, 2));
  else cli.print(summary(account, known !== undefined, serving));
}

function withAccount({ accounts, defaults }: Accounts, account: Account): Accounts {
  const free = account.services.filter((service) => defaults[service] === undefined);
  const lost = Object.entries(defaults).filter(
    ([service, id]) => id === account.id && !account.services.some((each) => each === service),
  );
  const kept = Object.entries(defaults).filter((entry) => !lost.includes(entry));
  return {
    accounts: [...accounts.filter(({ id }) => id !== account.id), account],
    defaults: Object.fromEntries([...kept, ...free.map((service) => [service, account.id])]),
  };
}

async function forgetOld(known: Account, terminal: Terminal): Promise<void> {
  try {
    await (await findSecretStore(known, findAccountPlaces(terminal))).remove(known.id);
  } catch {
    terminal.tell(
      `warning: older secrets of '${known.id}' stay in the ${known.tokens}, which cannot be reached`,
    );
  }
}

function summary(
  { id, kind, address, services, tokens }: Account,
  isKnown: boolean,
  serving: readonly string[],
): string {
  const where = tokens === "keyring" ? "the system's keyring" : "a file that only you can read";
  const others = services.filter((service) => !serving.includes(service));
  return [
    `${isKnown ? "signed in again to" : "added"} ${id}: ${cutToLine(address, 200)} (${kind}); its secrets are in ${where}`,
    ...(serving.length > 0 ? [`it serves ${serving.join(", ")}`] : []),
    ...others.map((service) => `to use it for ${service}: retinue accounts default ${service} ${id}`),
  ].join("\n");
}

/** The services that a list names, of those that a kind of account can serve. */
export function parseServices<Kind extends AccountKind>(
  list: string | undefined,
  kind: Kind,
): (typeof SERVICES_OF)[Kind][number][] {
  const possible: readonly (typeof SERVICES_OF)[Kind][number][] = SERVICES_OF[kind];
  if (list === undefined) return [...possible];
  const names = new Set(list.split(",").flatMap((name) => name.trim().toLowerCase() || []));
  const found = possible.filter((service) => names.delete(service));
  if (names.size === 0 && found.length > 0) return found;
  const wrong = [...names].join(", ") || "nothing";
  throw new RetinueError("usage", `${kind} cannot serve ${wrong}`, `name some of: ${possible.join(",")}`);
}

/** An address as accounts have it. */
export function parseMailAddress(text: string): string {
  const address = text.trim();
  if (/^[^\s@<>"(),:;[\]\\]+@[^\s@<>"(),:;[\]\\]+$/.test(address) && address.length <= 254)
    return address.toLowerCase();
  throw new RetinueError(
    "usage",
    `'${address.slice(0, 100)}' is no mail address`,
    "write it like ada@example.org",
  );
}

const PATIENCE_MS = 60_000;

/** Refuses an account that cannot be read from; nothing is kept of it. */
export async function proveAccount(fresh: NewAccount, secrets: Secrets, terminal: Terminal): Promise<void> {
  terminal.tell(`trying ${fresh.address} …`);
  const checks = await tryAccount({ ...fresh, tokens: "file", addedAt: "" }, secrets);
  const bad = checks.find(({ ok }) => !ok);
  if (!bad) return;
  throw new RetinueError(
    bad.auth ? "auth" : "input",
    `${bad.service} of ${fresh.address} cannot be reached, and nothing was saved: ${redactWords(bad.fault ?? "", secrets)}`,
    bad.auth ? "check the name and the password" : (narrower(checks) ?? bad.remedy),
  );
}

/** A server may have calendars and no address books; the person can leave out what it does not have. */
function narrower(checks: readonly AccountCheck[]): string | undefined {
  const good = checks.flatMap(({ ok, service }) => (ok ? [service] : []));
  return good.length > 0 ? `leave it out with --services ${good.join(",")}` : undefined;
}

/** Reads a little from each service of an account; `onSecrets` keeps tokens that were renewed on the way. */
export function tryAccount(
  account: Account,
  secrets: Secrets,
  more: Pick<Opening, "onSecrets"> = {},
): Promise<AccountCheck[]> {
  return checkAccount(account, secrets, {
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    now: Date.now,
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...more,
  });
}

/** A service's words on one line, without any of the secrets: servers repeat what they were sent. */
export function redactWords(words: string, secrets: Secrets): string {
  let text = words;
  for (const secret of Object.values(secrets))
    if (secret.length > 3) text = text.replaceAll(secret, "[redacted]");
  return cutToLine(text, 500);
}
