import type { Service } from "../../packs/assistant/accounts/account.ts";
import { accountNamed, loadAccounts, saveAccounts } from "../../packs/assistant/accounts/account-file.ts";
import { LOCAL } from "../../packs/assistant/accounts/pick-account.ts";
import { RetinueError } from "../../schema/error.ts";
import { type CommonOptions, openProject } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import { accountPlaces } from "./save-account.ts";

/** `retinue accounts default`: who serves a domain from now on. */
export async function chooseDefault(
  service: Service,
  id: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<void> {
  const { configDir } = accountPlaces(terminal);
  const kept = await loadAccounts(configDir);
  if (id !== LOCAL) {
    const { services } = accountNamed(kept, id);
    if (!services.includes(service))
      throw new RetinueError("input", `'${id}' cannot serve ${service}, only ${services.join(", ")}`);
  }
  const { settings } = await openProject(options, terminal);
  await saveAccounts(configDir, { ...kept, defaults: { ...kept.defaults, [service]: id } });
  const said = settings.assistant?.accounts?.[service];
  if (said !== undefined && said !== id)
    terminal.tell(
      `warning: your settings say assistant.accounts.${service} = '${said}', which counts for more`,
    );
  if (options.json) terminal.print(JSON.stringify({ service, id }));
  else terminal.print(`${id === LOCAL ? "the local store" : id} serves ${service}`);
}
