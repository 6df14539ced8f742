import { Argument, type Command } from "commander";
import { SERVICES } from "../../packs/assistant/accounts/account.ts";
import type { CommonOptions } from "../open-project.ts";
import type { Cli } from "../program.ts";
import { registerAccountsAdd } from "./accounts/accounts-add.ts";

/** Registers `retinue accounts` with everything below it. */
export function registerAccounts(program: Command, cli: Cli): void {
  const accounts = program
    .command("accounts")
    .description("the accounts for mail, calendar, contacts and Slack, and the local store")
    .helpCommand(false);
  accounts
    .command("list")
    .description("list the accounts, and who serves what")
    .action(async (_options: unknown, command: Command) => {
      const { listAccounts } = await import("../accounts/list-accounts.ts");
      await listAccounts(command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  registerAccountsAdd(accounts, cli);
  accounts
    .command("test")
    .description("read a little from each service of an account, or of all")
    .argument("[id]", "only this account")
    .action(async (id: string | undefined, _options: unknown, command: Command) => {
      const { testAccounts } = await import("../accounts/test-accounts.ts");
      cli.exitCode = await testAccounts(id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  accounts
    .command("remove")
    .description("forget an account and delete its secrets from this machine")
    .argument("<id>", "the account")
    .action(async (id: string, _options: unknown, command: Command) => {
      const { removeAccount } = await import("../accounts/remove-account.ts");
      await removeAccount(id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  accounts
    .command("default")
    .description("choose who serves mail, calendar, contacts or Slack")
    .addArgument(new Argument("<service>", "what is served").choices(SERVICES))
    .argument("<id>", "the account, or `local` for the local store")
    .action(async (service: (typeof SERVICES)[number], id: string, _options: unknown, command: Command) => {
      const { chooseDefault } = await import("../accounts/choose-default.ts");
      await chooseDefault(service, id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  registerStore(accounts, cli);
}

function registerStore(accounts: Command, cli: Cli): void {
  accounts
    .command("import")
    .description("take .eml, .mbox, .ics and .vcf files and Slack exports into the local store")
    .argument("<paths...>", "files and folders")
    .action(async (paths: string[], _options: unknown, command: Command) => {
      const { importIntoStore } = await import("../accounts/local-store.ts");
      cli.exitCode = await importIntoStore(paths, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  accounts
    .command("export")
    .description("write the local store as files into a new or empty folder")
    .argument("<dir>", "the folder")
    .action(async (dir: string, _options: unknown, command: Command) => {
      const { exportStore } = await import("../accounts/local-store.ts");
      await exportStore(dir, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}
