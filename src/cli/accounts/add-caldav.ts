import { refusePlain } from "../../packs/assistant/accounts/post-form.ts";
import type { Terminal } from "../terminal.ts";
import { askUser, passwordOf } from "./add-imap.ts";
import { askFor } from "./ask.ts";
import { proveAccount } from "./prove-account.ts";
import { type AddOptions, idFor, mailAddress, refuseBadId, saveAccount, servicesIn } from "./save-account.ts";

/** Options of `accounts add caldav`. */
export type AddCaldavOptions = AddOptions & {
  url?: string;
  address?: string;
  user?: string;
  services?: string;
  passwordStdin?: boolean;
  passwordEnv?: string;
};

/** `retinue accounts add caldav`: calendars and address books are looked for before the account is kept. */
export async function addCaldav(options: AddCaldavOptions, terminal: Terminal): Promise<void> {
  refuseBadId(options.id);
  const services = servicesIn(options.services, "caldav");
  const url = await askFor(
    { value: options.url, flag: "--url", question: "the server, such as https://dav.example.org/" },
    terminal,
  );
  refusePlain(url);
  const address = mailAddress(
    await askFor({ value: options.address, flag: "--address", question: "your mail address" }, terminal),
  );
  const user = await askUser(options.user, address, terminal);
  const password = await passwordOf(options, user, terminal);
  const id = await idFor(options, { kind: "caldav", address }, terminal);
  const account = {
    ...{ id, kind: "caldav" as const, address, services, user, url },
    addedAt: new Date().toISOString(),
  };
  await proveAccount(account, { password }, terminal);
  await saveAccount(account, { password }, options, terminal);
}
