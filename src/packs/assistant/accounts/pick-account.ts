import { RetinueError } from "../../../schema/error.ts";
import type { AssistantSettings } from "../../../schema/settings.ts";
import type { HostPlaces } from "../../../tools/tool.ts";
import { type Account, SERVICES, type Service } from "./account.ts";
import { type Accounts, accountNamed, loadAccounts } from "./account-file.ts";

/** The name by which the local store is chosen. */
export const LOCAL = "local";

/** Who serves a domain: an account, or the local store if null; `hasAny` if an account serves any domain at all. */
export type Picked = { readonly account: Account | null; readonly hasAny: boolean };

/** Picks who serves a domain: the settings' word, else the default of the accounts, else the local store. */
export async function pickAccount(
  service: Service,
  settings: AssistantSettings,
  { configDir }: Pick<HostPlaces, "configDir">,
): Promise<Picked> {
  const accounts = await loadAccounts(configDir);
  const account = accountFor(service, settings, accounts);
  return { account, hasAny: hasAnyAccount(settings, accounts) };
}

/** Whether an account, and not the local store, serves any domain. */
export function hasAnyAccount(settings: AssistantSettings, accounts: Accounts): boolean {
  return SERVICES.some((service) => idFor(service, settings, accounts) !== LOCAL);
}

/** The account that serves a domain; null for the local store. One that is named and missing is never passed over. */
export function accountFor(
  service: Service,
  settings: AssistantSettings,
  accounts: Accounts,
): Account | null {
  const id = idFor(service, settings, accounts);
  if (id === LOCAL) return null;
  const account = accountNamed(accounts, id);
  if (account.services.includes(service)) return account;
  throw new RetinueError(
    "config",
    `account '${id}' is chosen for ${service}, but serves only ${account.services.join(", ")}`,
    `choose another: retinue accounts default ${service} ID|local`,
  );
}

function idFor(service: Service, settings: AssistantSettings, { defaults }: Accounts): string {
  return settings.accounts?.[service] ?? defaults[service] ?? LOCAL;
}
