import { type Command, Option } from "commander";
import type { AddCaldavOptions } from "../../accounts/add-caldav.ts";
import type { AddGoogleOptions } from "../../accounts/add-google.ts";
import type { AddImapOptions } from "../../accounts/add-imap.ts";
import type { AddSlackOptions } from "../../accounts/add-slack.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue accounts add` for every kind of account. Secrets are never taken as flags: others can see those. */
export function registerAccountsAdd(accounts: Command, cli: Cli): void {
  const add = accounts.command("add").description("sign in to an account").helpCommand(false);
  addGoogle(add, cli);
  addSlack(add, cli);
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
  ).action(async (_options: unknown, command: Command) => {
    const { addImap } = await import("../../accounts/add-imap.ts");
    await addImap(command.optsWithGlobals<AddImapOptions>(), cli.terminal);
  });
  withPassword(
    add
      .command("caldav")
      .description("calendars and address books by CalDAV and CardDAV")
      .option("--url <address>", "the server, such as https://dav.example.org/")
      .option("--address <mail>", "your mail address")
      .option("--user <user>", "the name to sign in with; the address if absent")
      .option("--services <list>", "calendar, contacts or both, parted by commas"),
  ).action(async (_options: unknown, command: Command) => {
    const { addCaldav } = await import("../../accounts/add-caldav.ts");
    await addCaldav(command.optsWithGlobals<AddCaldavOptions>(), cli.terminal);
  });
}

function addGoogle(add: Command, cli: Cli): void {
  withId(add.command("google"))
    .description("Gmail, Google Calendar and Google Contacts, by your own OAuth client")
    .option("--client-id <id>", "the client's id; else GOOGLE_CLIENT_ID")
    .option("--client-file <json>", "the client's file as Google gives it, with id and secret")
    .option("--services <list>", "mail, calendar, contacts, parted by commas; all if absent")
    .option("--address <mail>", "the account that the page is to propose")
    .option("--no-browser", "only print the page's address")
    .addOption(new Option("--auth-url <address>").hideHelp())
    .addOption(new Option("--token-url <address>").hideHelp())
    .addOption(new Option("--root-url <address>").hideHelp())
    .addHelpText("after", "\nThe client's secret comes from --client-file, GOOGLE_CLIENT_SECRET or a prompt.")
    .action(async (_options: unknown, command: Command) => {
      const { addGoogle: signIn } = await import("../../accounts/add-google.ts");
      await signIn(command.optsWithGlobals<AddGoogleOptions>(), cli.terminal);
    });
}

function addSlack(add: Command, cli: Cli): void {
  withId(add.command("slack"))
    .description("a Slack workspace, by a token of your own app")
    .option("--token-stdin", "read the token from stdin; a second line is a person's token for searching")
    .option("--token-env <name>", "the environment variable that holds the token")
    .option("--user-token-env <name>", "the one that holds a person's token, which searching needs")
    .addOption(new Option("--api-url <address>").hideHelp())
    .action(async (_options: unknown, command: Command) => {
      const { addSlack: signIn } = await import("../../accounts/add-slack.ts");
      await signIn(command.optsWithGlobals<AddSlackOptions>(), cli.terminal);
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
