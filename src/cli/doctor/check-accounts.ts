import { SERVICES } from "../../packs/assistant/accounts/account.ts";
import { loadAccounts } from "../../packs/assistant/accounts/account-file.ts";
import { openKeyring } from "../../packs/assistant/accounts/keyring.ts";
import { accountFor } from "../../packs/assistant/accounts/pick-account.ts";
import { fileStore } from "../../packs/assistant/accounts/secret-store.ts";
import { findPlaces } from "../../runtime/project/places.ts";
import { RetinueError } from "../../schema/error.ts";
import type { Settings } from "../../schema/settings.ts";
import { countOf } from "../measures.ts";
import { plainLine } from "../plain-text.ts";
import { type Finding, ok, problem, warning } from "./check.ts";

/** Which accounts there are for mail, calendar, contacts and Slack, and whether their secrets are; nobody is asked. */
export async function checkAccounts(env: NodeJS.ProcessEnv, settings: Settings): Promise<Finding> {
  const places = findPlaces(env);
  try {
    const kept = await loadAccounts(places.configDir);
    const serving = SERVICES.map((service) => {
      const account = accountFor(service, settings.assistant ?? {}, kept);
      return `${service}: ${account?.id ?? "local"}`;
    });
    const facts = { accounts: kept.accounts.map(({ id, kind }) => ({ id, kind })), serving };
    for (const { id, kind, tokens } of kept.accounts) {
      if (tokens === "file" && (await fileStore(places).read(id)) === null)
        return problem(`account '${id}' has no secrets any more`, `retinue accounts add ${kind} --id ${id}`, {
          facts,
        });
    }
    const count = kept.accounts.length;
    const summary =
      count === 0 ? "no accounts; mail, calendar and so on use the local store" : countOf(count, "account");
    return ok(`${summary}${count > 0 ? ` (${serving.join(", ")})` : ""}`, { facts });
  } catch (thrown) {
    if (!(thrown instanceof RetinueError)) throw thrown;
    return problem(plainLine(thrown.message, 300), thrown.hint ?? "retinue accounts list");
  }
}

/** Whether secrets can go into the system's keyring. */
export async function checkKeyring(env: NodeJS.ProcessEnv): Promise<Finding> {
  const places = findPlaces(env);
  if (/^(?:off|0|no|false)$/i.test(env.RETINUE_KEYRING ?? ""))
    return ok("keyring: off (RETINUE_KEYRING); secrets go into files that only you can read");
  const keyring = await openKeyring({ ...places, env });
  const facts = { works: keyring !== null };
  if (keyring) return ok("keyring works", { facts });
  const { accounts } = await loadAccounts(places.configDir).catch(() => ({ accounts: [] }));
  const lost = accounts.filter(({ tokens }) => tokens === "keyring");
  if (lost.length > 0)
    return warning(
      `the keyring cannot be reached, and ${lost.map(({ id }) => id).join(", ")} need it`,
      "unlock it, or: retinue accounts add … again, with RETINUE_KEYRING=off",
      { facts },
    );
  return ok("no keyring here; secrets go into files that only you can read", { facts });
}
