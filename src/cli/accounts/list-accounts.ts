import { type Account, SERVICES, type Service } from "../../packs/assistant/accounts/account.ts";
import { loadAccounts } from "../../packs/assistant/accounts/account-file.ts";
import { accountFor, LOCAL } from "../../packs/assistant/accounts/pick-account.ts";
import { messageOf } from "../../schema/error.ts";
import { type CommonOptions, openSoundProject } from "../open-project.ts";
import { plainLine, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { accountPlaces } from "./save-account.ts";

/** `retinue accounts list`. */
export async function listAccounts(options: CommonOptions, terminal: Terminal): Promise<void> {
  const { settings } = await openSoundProject(options, terminal);
  const kept = await loadAccounts(accountPlaces(terminal).configDir);
  const serving: Partial<Record<Service, string>> = {};
  for (const service of SERVICES) {
    try {
      serving[service] = accountFor(service, settings.assistant ?? {}, kept)?.id ?? LOCAL;
    } catch (thrown) {
      terminal.tell(`warning: nobody serves ${service}: ${messageOf(thrown)}`);
    }
  }
  if (options.json) terminal.print(JSON.stringify({ accounts: kept.accounts, serving }, null, 2));
  else terminal.print(draw(kept.accounts, serving).join("\n"));
}

function draw(accounts: readonly Account[], serving: Partial<Record<Service, string>>): string[] {
  const servesOf = (id: string) => SERVICES.filter((service) => serving[service] === id).join(", ") || "-";
  const rows = accounts.map(({ id, kind, address, services, tokens, addedAt }) => [
    id,
    kind,
    plainLine(address, 60),
    servesOf(id),
    services.join(", "),
    tokens,
    addedAt.slice(0, 10),
  ]);
  const local = [LOCAL, "store", "this machine", servesOf(LOCAL), SERVICES.join(", "), "-", "-"];
  return table([["id", "kind", "address", "serves", "can serve", "secrets", "added"], ...rows, local]);
}
