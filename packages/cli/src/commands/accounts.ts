import { SERVICES } from "@retinue/assistant/accounts/accounts";
import { Argument, type Command, Option } from "commander";
import type { CommonOptions } from "../open-project.ts";
import type {
  AddCaldavOptions,
  AddGoogleOptions,
  AddImapOptions,
  AddSlackOptions,
} from "../sign-in/add-account.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue accounts` with everything below it. */
export function registerAccounts(program: Command, cli: Cli): void {
  const accounts = program
    .command("accounts")
    .summary("mail, calendar, contacts and Slack")
    .description("the accounts for mail, calendar, contacts and Slack, and the local store")
    .helpCommand(false)
    .addHelpText(
      "after",
      listExamples("retinue accounts add imap --address ada@example.org", "retinue accounts test"),
    );
  accounts
    .command("list")
    .description("list the accounts, and who serves what")
    .addHelpText("after", listExamples("retinue accounts list"))
    .action(async (_options: unknown, command: Command) => {
      const { listAccounts } = await import("../sign-in/kept-accounts.ts");
      await listAccounts(command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  registerAccountsAdd(accounts, cli);
  accounts
    .command("test")
    .description("read a little from each service of an account, or of all")
    .argument("[id]", "only this account")
    .addHelpText("after", listExamples("retinue accounts test", "retinue accounts test google"))
    .action(async (id: string | undefined, _options: unknown, command: Command) => {
      const { testAccounts } = await import("../sign-in/kept-accounts.ts");
      cli.exitCode = await testAccounts(id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  accounts
    .command("remove")
    .description("forget an account and delete its secrets from this machine")
    .argument("<id>", "the account")
    .addHelpText("after", listExamples("retinue accounts remove slack"))
    .action(async (id: string, _options: unknown, command: Command) => {
      const { removeAccount } = await import("../sign-in/kept-accounts.ts");
      await removeAccount(id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  accounts
    .command("default")
    .description("choose who serves mail, calendar, contacts or Slack")
    .addArgument(new Argument("<service>", "what is served").choices(SERVICES))
    .argument("<id>", "the account, or `local` for the local store")
    .addHelpText(
      "after",
      listExamples("retinue accounts default mail imap", "retinue accounts default calendar local"),
    )
    .action(async (service: (typeof SERVICES)[number], id: string, _options: unknown, command: Command) => {
      const { chooseDefault } = await import("../sign-in/kept-accounts.ts");
      await chooseDefault(service, id, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  registerStore(accounts, cli);
}

function registerStore(accounts: Command, cli: Cli): void {
  accounts
    .command("import")
    .description("take .eml, .mbox, .ics and .vcf files and Slack exports into the local store")
    .argument("<paths...>", "files and folders")
    .addHelpText("after", listExamples("retinue accounts import mail.mbox calendar.ics"))
    .action(async (paths: string[], _options: unknown, command: Command) => {
      const { importIntoStore } = await import("../sign-in/local-store.ts");
      cli.exitCode = await importIntoStore(paths, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
  accounts
    .command("export")
    .description("write the local store as files into a new or empty folder")
    .argument("<dir>", "the folder")
    .addHelpText("after", listExamples("retinue accounts export ./backup"))
    .action(async (dir: string, _options: unknown, command: Command) => {
      const { exportStore } = await import("../sign-in/local-store.ts");
      await exportStore(dir, command.optsWithGlobals<CommonOptions>(), cli.terminal);
    });
}

/** Registers `retinue accounts add` for every kind of account. Secrets are never taken as flags: others can see those. */
function registerAccountsAdd(accounts: Command, cli: Cli): void {
  const add = accounts
    .command("add")
    .description("sign in to an account")
    .helpCommand(false)
    .addHelpText(
      "after",
      listExamples(
        "retinue accounts add google",
        "retinue accounts add caldav --url https://dav.example.org/",
      ),
    );
  registerGoogle(add, cli);
  registerSlack(add, cli);
  withPassword(
    add
      .command("imap")
      .description("a mailbox by IMAP and SMTP")
      .option("--address <mail>", "your mail address")
      .option("--name <name>", "your name as recipients see it")
      .option("--user <user>", "the name to sign in with; the address if absent")
      .option("--imap <host[:port]>", "the server that mail is read from; 993 if no port is named")
      .option("--smtp <host[:port]>", "the server that mail is sent by; 465 if no port is named")
      .option("--ca-file <pem>", "trust this authority too"),
  )
    .addHelpText(
      "after",
      listExamples("retinue accounts add imap --address ada@example.org --imap imap.example.org"),
    )
    .action(async (_options: unknown, command: Command) => {
      const { addImap } = await import("../sign-in/add-account.ts");
      await addImap(command.optsWithGlobals<AddImapOptions>(), cli.terminal);
    });
  withPassword(
    add
      .command("caldav")
      .description("calendars and address books by CalDAV and CardDAV")
      .option("--url <address>", "the server, such as https://dav.example.org/")
      .option("--address <mail>", "your mail address")
      .option("--user <user>", "the name to sign in with; the address if absent")
      .option("--services <list>", "calendar, contacts or both, separated by commas"),
  )
    .addHelpText(
      "after",
      listExamples("retinue accounts add caldav --url https://dav.example.org/ --user ada"),
    )
    .action(async (_options: unknown, command: Command) => {
      const { addCaldav } = await import("../sign-in/add-account.ts");
      await addCaldav(command.optsWithGlobals<AddCaldavOptions>(), cli.terminal);
    });
}

function registerGoogle(add: Command, cli: Cli): void {
  withId(add.command("google"))
    .description("Gmail, Google Calendar and Google Contacts, by your own OAuth client")
    .option("--client-id <id>", "the client's id; else GOOGLE_CLIENT_ID")
    .option("--client-file <json>", "the client's file as Google gives it, with id and secret")
    .option("--services <list>", "mail, calendar, contacts, separated by commas; all if absent")
    .option("--address <mail>", "the account that the page proposes")
    .option("--no-browser", "only print the page's address")
    .addOption(new Option("--auth-url <address>").hideHelp())
    .addOption(new Option("--token-url <address>").hideHelp())
    .addOption(new Option("--root-url <address>").hideHelp())
    .addHelpText("after", "\nThe client's secret comes from --client-file, GOOGLE_CLIENT_SECRET or a prompt.")
    .addHelpText(
      "after",
      listExamples("retinue accounts add google --client-file client.json --services mail,calendar"),
    )
    .action(async (_options: unknown, command: Command) => {
      const { addGoogle } = await import("../sign-in/add-account.ts");
      await addGoogle(command.optsWithGlobals<AddGoogleOptions>(), cli.terminal);
    });
}

function registerSlack(add: Command, cli: Cli): void {
  withId(add.command("slack"))
    .description("a Slack workspace, by a token of your own app")
    .option("--token-stdin", "read the token from stdin; a second line is a person's token for searching")
    .option("--token-env <name>", "the environment variable that holds the token")
    .option("--user-token-env <name>", "the one that holds a person's token, which searching needs")
    .addOption(new Option("--api-url <address>").hideHelp())
    .addHelpText("after", listExamples("retinue accounts add slack --token-env SLACK_TOKEN"))
    .action(async (_options: unknown, command: Command) => {
      const { addSlack } = await import("../sign-in/add-account.ts");
      await addSlack(command.optsWithGlobals<AddSlackOptions>(), cli.terminal);
    });
}

function withPassword(command: Command): Command {
  return withId(command)
    .option("--password-stdin", "read the password from stdin")
    .option("--password-env <name>", "the environment variable that holds the password");
}

function withId(command: Command): Command {
  return command.option("--id <id>", "what to call the account; its kind if absent");
}
