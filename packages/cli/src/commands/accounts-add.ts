import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fetchSlackIdentity } from "@retinue/assistant/accounts/check-account";
import { signInGoogle } from "@retinue/assistant/accounts/google-sign-in";
import { findKnownServers, findMailDomain, parseServer } from "@retinue/assistant/accounts/known-servers";
import { refusePlain } from "@retinue/assistant/accounts/post-form";
import { RetinueError } from "@retinue/core/schema/error";
import { parseObject, readObject } from "@retinue/core/schema/json-object";
import { Option } from "commander";
import { askFor, askHidden, readSecret, readStdinLines } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { openBrowser } from "../open-browser.ts";
import { omitAbsent } from "../options.ts";
import {
  type AddOptions,
  chooseAccountId,
  parseMailAddress,
  parseServices,
  proveAccount,
  refuseBadAccountId,
  saveAccount,
} from "../save-account.ts";
import type { Cli, Terminal } from "../terminal.ts";

/** Declares `retinue accounts add` for every kind of account. Secrets are never taken as flags: others can see those. */
export function registerAccountsAdd(accounts: CliCommand): void {
  const add = accounts
    .command("add")
    .description("sign in to an account")
    .helpCommand(false)
    .examples("retinue accounts add google", "retinue accounts add caldav --url https://dav.example.org/");
  registerGoogle(add);
  registerSlack(add);
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
    .examples("retinue accounts add imap --address ada@example.org --imap imap.example.org")
    .performs(addImap);
  withPassword(
    add
      .command("caldav")
      .description("calendars and address books by CalDAV and CardDAV")
      .option("--url <address>", "the server, such as https://dav.example.org/")
      .option("--address <mail>", "your mail address")
      .option("--user <user>", "the name to sign in with; the address if absent")
      .option("--services <list>", "calendar, contacts or both, separated by commas"),
  )
    .examples("retinue accounts add caldav --url https://dav.example.org/ --user ada")
    .performs(addCaldav);
}

function registerGoogle(add: CliCommand): void {
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
    .examples("retinue accounts add google --client-file client.json --services mail,calendar")
    .performs(addGoogle);
}

function registerSlack(add: CliCommand): void {
  withId(add.command("slack"))
    .description("a Slack workspace, by a token of your own app")
    .option("--token-stdin", "read the token from stdin; a second line is a person's token for searching")
    .option("--token-env <name>", "the environment variable that holds the token")
    .option("--user-token-env <name>", "the one that holds a person's token, which searching needs")
    .addOption(new Option("--api-url <address>").hideHelp())
    .examples("retinue accounts add slack --token-env SLACK_TOKEN")
    .performs(addSlack);
}

function withPassword(command: CliCommand): CliCommand {
  return withId(command)
    .option("--password-stdin", "read the password from stdin")
    .option("--password-env <name>", "the environment variable that holds the password");
}

function withId(command: CliCommand): CliCommand {
  return command.option("--id <id>", "what to call the account; its kind if absent");
}

type PasswordOptions = AddOptions & {
  address?: string;
  user?: string;
  passwordStdin?: boolean;
  passwordEnv?: string;
};

type AddImapOptions = PasswordOptions & { name?: string; imap?: string; smtp?: string; caFile?: string };

/** `retinue accounts add imap`: the mailbox is opened once before the account is kept. */
async function addImap(cli: Cli<AddImapOptions>): Promise<void> {
  refuseBadAccountId(cli.options.id);
  const address = await askAddress(cli);
  const known = findKnownServers(address);
  const imap = await askServer({ kind: "imap", usualPort: 993, known: known?.imap }, address, cli);
  const smtp = await askServer({ kind: "smtp", usualPort: 465, known: known?.smtp }, address, cli);
  if (known?.hint) cli.tell(`${findMailDomain(address)}: ${known.hint}`);
  const user = await askUser(address, cli);
  const password = await readPassword(user, cli);
  const id = await chooseAccountId({ kind: "imap", address }, cli);
  const { name, caFile } = cli.options;
  const account = {
    ...{ id, kind: "imap" as const, address, services: ["mail" as const], user, imap, smtp },
    ...omitAbsent({ name, caFile: caFile === undefined ? undefined : resolve(cli.cwd, caFile) }),
  };
  await proveAccount(account, { password }, cli);
  await saveAccount(account, { password }, cli);
}

async function askAddress(cli: Cli<PasswordOptions>): Promise<string> {
  const wanted = { value: cli.options.address, flag: "--address", question: "your mail address" };
  return parseMailAddress(await askFor(wanted, cli));
}

/** The name to sign in with; the address is a good guess, so nobody has to answer. */
async function askUser(address: string, cli: Cli<PasswordOptions>): Promise<string> {
  const value = cli.options.user ?? (cli.interactive ? undefined : address);
  return askFor({ value, flag: "--user", question: "the name to sign in with", proposal: address }, cli);
}

/** The password, by stdin, a variable or a prompt. */
function readPassword(user: string, cli: Cli<PasswordOptions>): Promise<string> {
  const { passwordStdin, passwordEnv } = cli.options;
  const flags = "--password-stdin or --password-env";
  return readSecret({ question: `password of ${user}`, stdin: passwordStdin, env: passwordEnv, flags }, cli);
}

type MailServer = ReturnType<typeof parseServer>;

async function askServer(
  { kind, usualPort, known }: { kind: "imap" | "smtp"; usualPort: number; known: MailServer | undefined },
  address: string,
  cli: Cli<AddImapOptions>,
): Promise<MailServer> {
  const value = cli.options[kind];
  if (value === undefined && known) return known;
  const question = `the ${kind.toUpperCase()} server of ${findMailDomain(address)}`;
  const proposal = `${kind}.${findMailDomain(address)}`;
  return parseServer(await askFor({ value, flag: `--${kind}`, question, proposal }, cli), usualPort);
}

type AddCaldavOptions = PasswordOptions & { url?: string; services?: string };

/** `retinue accounts add caldav`: calendars and address books are looked for before the account is kept. */
async function addCaldav(cli: Cli<AddCaldavOptions>): Promise<void> {
  refuseBadAccountId(cli.options.id);
  const services = parseServices(cli.options.services, "caldav");
  const url = await askFor(
    { value: cli.options.url, flag: "--url", question: "the server, such as https://dav.example.org/" },
    cli,
  );
  refusePlain(url);
  const address = await askAddress(cli);
  const user = await askUser(address, cli);
  const password = await readPassword(user, cli);
  const id = await chooseAccountId({ kind: "caldav", address }, cli);
  const account = { id, kind: "caldav" as const, address, services, user, url };
  await proveAccount(account, { password }, cli);
  await saveAccount(account, { password }, cli);
}

type AddGoogleOptions = AddOptions & {
  clientId?: string;
  clientFile?: string;
  services?: string;
  address?: string;
  browser: boolean;
  authUrl?: string;
  tokenUrl?: string;
  rootUrl?: string;
};

/** How long a person may take for the page. */
const PATIENCE_MS = 5 * 60_000;

/** `retinue accounts add google`: the person consents in their browser. */
async function addGoogle(cli: Cli<AddGoogleOptions>): Promise<void> {
  refuseBadAccountId(cli.options.id);
  const services = parseServices(cli.options.services, "google");
  const client = await findClient(cli);
  const { address, authUrl, tokenUrl, rootUrl } = cli.options;
  const signedIn = await signInGoogle({
    ...client,
    ...{ services, address, authUrl, tokenUrl, now: Date.now },
    signal: AbortSignal.timeout(PATIENCE_MS),
    visit(url) {
      const isOpened = cli.options.browser && cli.interactive && openBrowser(url, cli.env);
      cli.tell(`${isOpened ? "your browser shows" : "open"} this page to give your consent:\n${url}`);
    },
  });
  for (const service of services)
    if (!signedIn.services.includes(service))
      cli.tell(`warning: ${service} was not consented to, and is left out`);
  const id = await chooseAccountId({ kind: "google", address: signedIn.address }, cli);
  const account = {
    id,
    kind: "google" as const,
    address: signedIn.address,
    services: signedIn.services,
    clientId: client.clientId,
    scopes: signedIn.scopes,
    ...omitAbsent({ tokenUrl, rootUrl }),
  };
  await saveAccount(account, signedIn.secrets, cli);
}

type Client = { clientId: string; clientSecret?: string | undefined };

async function findClient(cli: Cli<AddGoogleOptions>): Promise<Client> {
  const { clientId, clientFile } = cli.options;
  if (clientFile !== undefined) {
    const client = readClient(await readText(resolve(cli.cwd, clientFile)), clientFile);
    if (clientId !== undefined && clientId !== client.clientId)
      throw new RetinueError("usage", "--client-id and --client-file name two clients", "give one of them");
    return client;
  }
  const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET } = cli.env;
  const id = await askFor(
    {
      value: clientId ?? (GOOGLE_CLIENT_ID || undefined),
      flag: "--client-id or --client-file",
      question: "id of your OAuth client (of the kind 'Desktop app', from console.cloud.google.com)",
    },
    cli,
  );
  if (GOOGLE_CLIENT_SECRET || !cli.interactive)
    return { clientId: id, clientSecret: GOOGLE_CLIENT_SECRET || undefined };
  const secret = await askHidden("its secret; empty if it has none", cli);
  return { clientId: id, clientSecret: secret.trim() || undefined };
}

/** The client in a file as Google's console gives it; no error quotes the file. */
function readClient(text: string, file: string): Client {
  const { installed, web } = parseObject(text) ?? {};
  const { client_id: clientId, client_secret: secret } = readObject(installed ?? web);
  if (typeof clientId === "string")
    return { clientId, ...(typeof secret === "string" && { clientSecret: secret }) };
  throw new RetinueError(
    "input",
    `${file} is not the file of an OAuth client`,
    "download it from console.cloud.google.com",
  );
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw new RetinueError("input", `${path} cannot be read (${thrown.code})`);
  });
}

type AddSlackOptions = AddOptions & {
  tokenStdin?: boolean;
  tokenEnv?: string;
  userTokenEnv?: string;
  apiUrl?: string;
};

/** `retinue accounts add slack`: the token is shown to Slack before it is kept. */
async function addSlack(cli: Cli<AddSlackOptions>): Promise<void> {
  refuseBadAccountId(cli.options.id);
  const { token, userToken } = await readTokens(cli);
  const { apiUrl } = cli.options;
  const signal = new AbortController().signal;
  const { user, team, scopes } = await fetchSlackIdentity(token, { apiUrl, signal });
  if (userToken !== undefined) {
    const person = await fetchSlackIdentity(userToken, { apiUrl, signal });
    if (person.team !== team)
      throw new RetinueError("input", `the two tokens are of two workspaces: ${team} and ${person.team}`);
  }
  const address = `${user}@${team}`;
  const id = await chooseAccountId({ kind: "slack", address }, cli);
  const account = {
    ...{ id, kind: "slack" as const, address, team, scopes, services: ["slack" as const] },
    ...omitAbsent({ apiUrl }),
  };
  await saveAccount(account, { token, ...omitAbsent({ userToken }) }, cli);
}

type Tokens = { token: string; userToken?: string | undefined };

async function readTokens(cli: Cli<AddSlackOptions>): Promise<Tokens> {
  const { tokenStdin, tokenEnv, userTokenEnv } = cli.options;
  const person = userTokenEnv === undefined ? undefined : readTokenVariable(userTokenEnv, cli);
  if (tokenStdin && tokenEnv === undefined) {
    const [first = "", second = ""] = await readStdinLines(cli);
    if (first.trim() === "") throw new RetinueError("input", "stdin holds no token");
    return { token: first.trim(), userToken: person ?? (second.trim() || undefined) };
  }
  const source = {
    question: "token of your app (xoxb-… or xoxp-…)",
    stdin: tokenStdin,
    env: tokenEnv,
    flags: "--token-stdin or --token-env",
  };
  const token = (await readSecret(source, cli)).trim();
  if (person !== undefined || tokenEnv !== undefined) return { token, userToken: person };
  const asked = await askHidden("a person's token for searching (xoxp-…); empty for none", cli);
  return { token, userToken: asked.trim() || undefined };
}

function readTokenVariable(name: string, { env }: Terminal): string {
  const value = env[name]?.trim();
  if (value) return value;
  throw new RetinueError("input", `the environment variable ${name} holds no token`);
}
