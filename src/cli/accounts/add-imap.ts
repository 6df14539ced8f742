import { resolve } from "node:path";
import { domainOf, knownServers, parseServer } from "../../packs/assistant/accounts/known-servers.ts";
import type { Terminal } from "../terminal.ts";
import { askFor, secretFrom } from "./ask.ts";
import { proveAccount } from "./prove-account.ts";
import { type AddOptions, idFor, mailAddress, refuseBadId, saveAccount } from "./save-account.ts";

/** Options of `accounts add imap`. */
export type AddImapOptions = AddOptions & {
  address?: string;
  name?: string;
  user?: string;
  imap?: string;
  smtp?: string;
  caFile?: string;
  passwordStdin?: boolean;
  passwordEnv?: string;
};

/** `retinue accounts add imap`: the mailbox is opened once before the account is kept. */
export async function addImap(options: AddImapOptions, terminal: Terminal): Promise<void> {
  refuseBadId(options.id);
  const address = mailAddress(
    await askFor({ value: options.address, flag: "--address", question: "your mail address" }, terminal),
  );
  const known = knownServers(address);
  const imap = await serverOf(
    { ...options, kind: "imap", usualPort: 993, known: known?.imap },
    address,
    terminal,
  );
  const smtp = await serverOf(
    { ...options, kind: "smtp", usualPort: 465, known: known?.smtp },
    address,
    terminal,
  );
  if (known?.hint) terminal.tell(`${domainOf(address)}: ${known.hint}`);
  const user = await askUser(options.user, address, terminal);
  const password = await passwordOf(options, user, terminal);
  const id = await idFor(options, { kind: "imap", address }, terminal);
  const account = {
    ...{ id, kind: "imap" as const, address, services: ["mail" as const], user, imap, smtp },
    addedAt: new Date().toISOString(),
    ...(options.name !== undefined && { name: options.name }),
    ...(options.caFile !== undefined && { caFile: resolve(terminal.cwd, options.caFile) }),
  };
  await proveAccount(account, { password }, terminal);
  await saveAccount(account, { password }, options, terminal);
}

/** The name to sign in with; the address is a good guess, so nobody has to answer. */
export async function askUser(
  user: string | undefined,
  address: string,
  terminal: Terminal,
): Promise<string> {
  const value = user ?? (terminal.interactive ? undefined : address);
  return askFor({ value, flag: "--user", question: "the name to sign in with", proposal: address }, terminal);
}

/** The password, by stdin, a variable or a prompt. */
export function passwordOf(
  { passwordStdin, passwordEnv }: { passwordStdin?: boolean; passwordEnv?: string },
  user: string,
  terminal: Terminal,
): Promise<string> {
  const flags = "--password-stdin or --password-env";
  return secretFrom(
    { question: `password of ${user}`, stdin: passwordStdin, env: passwordEnv, flags },
    terminal,
  );
}

async function serverOf(
  from: {
    kind: "imap" | "smtp";
    imap?: string;
    smtp?: string;
    usualPort: number;
    known: ReturnType<typeof parseServer> | undefined;
  },
  address: string,
  terminal: Terminal,
) {
  const { kind, usualPort, known } = from;
  const value = from[kind];
  if (value === undefined && known) return known;
  const question = `the ${kind.toUpperCase()} server of ${domainOf(address)}`;
  const proposal = `${kind}.${domainOf(address)}`;
  return parseServer(await askFor({ value, flag: `--${kind}`, question, proposal }, terminal), usualPort);
}
