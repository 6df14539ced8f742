import {
  type Account,
  chooseAccount,
  findAccount,
  LOCAL,
  loadAccounts,
  SERVICES,
  type Service,
  saveAccounts,
} from "@retinue/assistant/accounts/accounts";
import type { AccountCheck } from "@retinue/assistant/accounts/check-account";
import { createSecretKeeper } from "@retinue/assistant/accounts/open-account";
import { findSecretStore } from "@retinue/assistant/accounts/secret-store";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { cutToLine } from "@retinue/core/text/plain-text";
import { Argument } from "commander";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { openProject, openSoundProject } from "../open-project.ts";
import { findAccountPlaces, redactWords, tryAccount } from "../save-account.ts";
import { type Cli, printResult, type Terminal } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";
import { registerAccountsAdd } from "./accounts-add.ts";
import { registerStore } from "./accounts-store.ts";

/** Declares `retinue accounts` with everything below it. */
export default function registerAccounts(accounts: CliCommand): void {
  accounts
    .description("the accounts for mail, calendar, contacts and Slack, and the local store")
    .helpCommand(false)
    .examples("retinue accounts add imap --address ada@example.org", "retinue accounts test");
  accounts
    .command("list")
    .description("list the accounts, and who serves what")
    .examples("retinue accounts list")
    .performs(listAccounts);
  registerAccountsAdd(accounts);
  accounts
    .command("test")
    .description("read a little from each service of an account, or of all")
    .argument("[id]", "only this account")
    .examples("retinue accounts test", "retinue accounts test google")
    .performs(testAccounts);
  accounts
    .command("remove")
    .description("forget an account and delete its secrets from this machine")
    .argument("<id>", "the account")
    .examples("retinue accounts remove slack")
    .performs(removeAccount);
  accounts
    .command("default")
    .description("choose who serves mail, calendar, contacts or Slack")
    .addArgument(new Argument("<service>", "what is served").choices(SERVICES))
    .argument("<id>", "the account, or `local` for the local store")
    .examples("retinue accounts default mail imap", "retinue accounts default calendar local")
    .performs(chooseDefault);
  registerStore(accounts);
}

async function listAccounts(cli: Cli): Promise<void> {
  const { settings } = await openSoundProject(cli);
  const kept = await loadAccounts(findAccountPlaces(cli).configDir);
  const serving: Partial<Record<Service, string>> = {};
  for (const service of SERVICES) {
    try {
      serving[service] = chooseAccount(service, settings.assistant ?? {}, kept)?.id ?? LOCAL;
    } catch (thrown) {
      cli.tell(`warning: nobody serves ${service}: ${messageOf(thrown)}`);
    }
  }
  const { accounts } = kept;
  printResult(cli, {
    value: { accounts, serving },
    text: () => drawAccounts(accounts, serving),
  });
}

function drawAccounts(accounts: readonly Account[], serving: Partial<Record<Service, string>>): string[] {
  const listServed = (id: string) => SERVICES.filter((service) => serving[service] === id).join(", ") || "-";
  const rows = accounts.map(({ id, kind, address, services, tokens, addedAt }) => [
    id,
    kind,
    cutToLine(address, 60),
    listServed(id),
    services.join(", "),
    tokens,
    addedAt.slice(0, 10),
  ]);
  const local = [LOCAL, "store", "this machine", listServed(LOCAL), SERVICES.join(", "), "-", "-"];
  return drawTable([["id", "kind", "address", "serves", "can serve", "secrets", "added"], ...rows, local]);
}

type CheckedService = AccountCheck & { account: string };

/** `retinue accounts test`: its exit code says whether all is well, or that a sign-in is needed. */
async function testAccounts(id: string | undefined, cli: Cli): Promise<number> {
  const kept = await loadAccounts(findAccountPlaces(cli).configDir);
  const chosen = id === undefined ? kept.accounts : [findAccount(kept, id)];
  const rows: CheckedService[] = [];
  for (const account of chosen) {
    cli.tell(`trying ${account.id} …`);
    rows.push(...(await testOne(account, cli)));
  }
  printResult(cli, { value: rows, text: () => drawChecks(rows) });
  const bad = rows.filter(({ ok }) => !ok);
  return bad.length === 0 ? EXIT.ok : bad.some(({ auth }) => auth) ? EXIT.auth : EXIT.failed;
}

/** One that cannot even be opened has a row for each of its services. */
async function testOne(account: Account, terminal: Terminal): Promise<CheckedService[]> {
  const places = findAccountPlaces(terminal);
  try {
    const store = await findSecretStore(account, places);
    const secrets = await store.read(account.id);
    if (!secrets)
      throw new RetinueError(
        "auth",
        "no secrets are kept for it",
        `run: retinue accounts add ${account.kind}`,
      );
    let known = secrets;
    const keep = createSecretKeeper(store, account, secrets);
    const checks = await tryAccount(account, secrets, {
      onSecrets: async (changed) => {
        known = { ...known, ...changed };
        await keep(changed);
      },
    });
    return checks.map(({ fault, ...check }) => ({
      account: account.id,
      ...check,
      ...(fault !== undefined && { fault: redactWords(fault, known) }),
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

function drawChecks(rows: readonly CheckedService[]): string[] {
  if (rows.length === 0) return ["there are no accounts; the local store needs no test"];
  const lines = drawTable(
    rows.map(({ account, service, ok, fault }) => [account, service, ok ? "ok" : `failed: ${fault}`]),
  );
  const remedies = new Set(rows.flatMap(({ remedy }) => remedy ?? []));
  return [...lines, ...[...remedies].map((remedy) => `hint: ${remedy}`)];
}

async function chooseDefault(service: Service, id: string, cli: Cli): Promise<void> {
  const { configDir } = findAccountPlaces(cli);
  const kept = await loadAccounts(configDir);
  if (id !== LOCAL) {
    const { services } = findAccount(kept, id);
    if (!services.includes(service))
      throw new RetinueError("input", `'${id}' cannot serve ${service}, only ${services.join(", ")}`);
  }
  const { settings } = await openProject(cli);
  await saveAccounts(configDir, { ...kept, defaults: { ...kept.defaults, [service]: id } });
  const said = settings.assistant?.accounts?.[service];
  if (said !== undefined && said !== id)
    cli.tell(`warning: your settings say assistant.accounts.${service} = '${said}', which counts for more`);
  printResult(cli, {
    value: { service, id },
    text: () => `${id === LOCAL ? "the local store" : id} serves ${service}`,
  });
}

/** Where a person ends what the service itself still grants. */
const WITHDRAW: Readonly<Record<Account["kind"], string>> = {
  google: "Google still trusts your client until you remove it at https://myaccount.google.com/permissions",
  slack: "the token stays good until you revoke it in your app's settings at https://api.slack.com/apps",
  imap: "the password stays good; if it was an app password, delete it at your provider",
  caldav: "the password stays good; if it was an app password, delete it at your provider",
};

/** `retinue accounts remove`: what the service grants is not touched, and the person is told how to end it. */
async function removeAccount(id: string, cli: Cli): Promise<void> {
  const places = findAccountPlaces(cli);
  const kept = await loadAccounts(places.configDir);
  const account = findAccount(kept, id);
  await (await findSecretStore(account, places)).remove(id);
  const served = Object.entries(kept.defaults).flatMap(([service, by]) => (by === id ? [service] : []));
  await saveAccounts(places.configDir, {
    accounts: kept.accounts.filter((each) => each.id !== id),
    defaults: Object.fromEntries(Object.entries(kept.defaults).filter(([, by]) => by !== id)),
  });
  printResult(cli, {
    value: { removed: id, served },
    text: () => [
      `removed ${id} and its secrets`,
      ...(served.length > 0 ? [`the local store serves ${served.join(", ")} from now on`] : []),
    ],
  });
  if (!cli.options.json) cli.tell(`note: ${WITHDRAW[account.kind]}`);
}
