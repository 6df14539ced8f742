import type { Account } from "../../packs/assistant/accounts/account.ts";
import { accountNamed, loadAccounts } from "../../packs/assistant/accounts/account-file.ts";
import type { Check } from "../../packs/assistant/accounts/check-account.ts";
import { keeperOf } from "../../packs/assistant/accounts/open-account.ts";
import { secretStoreOf } from "../../packs/assistant/accounts/secret-store.ts";
import { RetinueError } from "../../schema/error.ts";
import { EXIT } from "../exit-code.ts";
import type { CommonOptions } from "../open-project.ts";
import { table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { hidden, tryAccount } from "./prove-account.ts";
import { accountPlaces } from "./save-account.ts";

type Row = Check & { account: string };

/** `retinue accounts test`: its exit code says whether all is well, or that a sign-in is needed. */
export async function testAccounts(
  id: string | undefined,
  options: CommonOptions,
  terminal: Terminal,
): Promise<number> {
  const kept = await loadAccounts(accountPlaces(terminal).configDir);
  const chosen = id === undefined ? kept.accounts : [accountNamed(kept, id)];
  const rows: Row[] = [];
  for (const account of chosen) {
    terminal.tell(`trying ${account.id} …`);
    rows.push(...(await testOne(account, terminal)));
  }
  if (options.json) terminal.print(JSON.stringify(rows, null, 2));
  else if (rows.length === 0) terminal.print("there are no accounts; the local store needs no test");
  else terminal.print(draw(rows));
  const bad = rows.filter(({ ok }) => !ok);
  return bad.length === 0 ? EXIT.ok : bad.some(({ auth }) => auth) ? EXIT.auth : EXIT.failed;
}

/** One that cannot even be opened has a row for each of its services. */
async function testOne(account: Account, terminal: Terminal): Promise<Row[]> {
  const places = accountPlaces(terminal);
  try {
    const store = await secretStoreOf(account, places);
    const secrets = await store.read(account.id);
    if (!secrets)
      throw new RetinueError(
        "auth",
        "no secrets are kept for it",
        `run: retinue accounts add ${account.kind}`,
      );
    let known = secrets;
    const keep = keeperOf(store, account, secrets);
    const checks = await tryAccount(account, secrets, {
      onSecrets: async (changed) => {
        known = { ...known, ...changed };
        await keep(changed);
      },
    });
    return checks.map(({ fault, ...check }) => ({
      account: account.id,
      ...check,
      ...(fault !== undefined && { fault: hidden(fault, known) }),
    }));
  } catch (thrown) {
    if (!(thrown instanceof RetinueError)) throw thrown;
    const { message: fault, hint: remedy, code } = thrown;
    return account.services.map((service) => ({
      ...{ account: account.id, service, ok: false, fault, auth: code === "auth" },
      ...(remedy !== undefined && { remedy }),
    }));
  }
}

function draw(rows: readonly Row[]): string {
  const lines = table(
    rows.map(({ account, service, ok, fault }) => [account, service, ok ? "ok" : `failed: ${fault}`]),
  );
  const remedies = new Set(rows.flatMap(({ remedy }) => remedy ?? []));
  return [...lines, ...[...remedies].map((remedy) => `hint: ${remedy}`)].join("\n");
}
