import type { Account } from "../../packs/assistant/accounts/account.ts";
import { accountNamed, loadAccounts, saveAccounts } from "../../packs/assistant/accounts/account-file.ts";
import { secretStoreOf } from "../../packs/assistant/accounts/secret-store.ts";
import type { CommonOptions } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { accountPlaces } from "./save-account.ts";

/** Where a person ends what the service itself still grants. */
const WITHDRAW: Readonly<Record<Account["kind"], string>> = {
  google: "Google still trusts your client until you remove it at https://myaccount.google.com/permissions",
  slack: "the token stays good until you revoke it in your app's settings at https://api.slack.com/apps",
  imap: "the password stays good; if it was an app password, delete it at your provider",
  caldav: "the password stays good; if it was an app password, delete it at your provider",
};

/** `retinue accounts remove`: what the service grants is not touched, and the person is told how to end it. */
export async function removeAccount(id: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const places = accountPlaces(terminal);
  const kept = await loadAccounts(places.configDir);
  const account = accountNamed(kept, id);
  await (await secretStoreOf(account, places)).remove(id);
  const served = Object.entries(kept.defaults).flatMap(([service, by]) => (by === id ? [service] : []));
  await saveAccounts(places.configDir, {
    accounts: kept.accounts.filter((each) => each.id !== id),
    defaults: Object.fromEntries(Object.entries(kept.defaults).filter(([, by]) => by !== id)),
  });
  if (options.json) return terminal.print(JSON.stringify({ removed: id, served }, null, 2));
  terminal.print(`removed ${id} and its secrets`);
  if (served.length > 0) terminal.print(`the local store serves ${served.join(", ")} from now on`);
  terminal.tell(`note: ${WITHDRAW[account.kind]}`);
}
