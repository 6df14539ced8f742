import type { Account, Secrets } from "../../packs/assistant/accounts/account.ts";
import { type Check, checkAccount } from "../../packs/assistant/accounts/check-account.ts";
import type { Opening } from "../../packs/assistant/accounts/open-account.ts";
import { RetinueError } from "../../schema/error.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import type { NewAccount } from "./save-account.ts";

const PATIENCE_MS = 60_000;

/** Refuses an account that cannot be read from; nothing is kept of it. */
export async function proveAccount(fresh: NewAccount, secrets: Secrets, terminal: Terminal): Promise<void> {
  terminal.tell(`trying ${fresh.address} …`);
  const checks = await tryAccount({ ...fresh, tokens: "file" }, secrets);
  const bad = checks.find(({ ok }) => !ok);
  if (!bad) return;
  throw new RetinueError(
    bad.auth ? "auth" : "input",
    `${bad.service} of ${fresh.address} cannot be reached, and nothing was saved: ${hidden(bad.fault ?? "", secrets)}`,
    bad.auth ? "check the name and the password" : (narrower(checks) ?? bad.remedy),
  );
}

/** A server may have calendars and no address books; the person can leave out what it does not have. */
function narrower(checks: readonly Check[]): string | undefined {
  const good = checks.flatMap(({ ok, service }) => (ok ? [service] : []));
  return good.length > 0 ? `leave it out with --services ${good.join(",")}` : undefined;
}

/** Reads a little from each service of an account; `onSecrets` keeps tokens that were renewed on the way. */
export function tryAccount(
  account: Account,
  secrets: Secrets,
  more: Pick<Opening, "onSecrets"> = {},
): Promise<Check[]> {
  return checkAccount(account, secrets, {
    zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    now: Date.now,
    signal: AbortSignal.timeout(PATIENCE_MS),
    ...more,
  });
}

/** A service's words on one line, without any of the secrets: servers repeat what they were sent. */
export function hidden(words: string, secrets: Secrets): string {
  let text = words;
  for (const secret of Object.values(secrets))
    if (secret.length > 3) text = text.replaceAll(secret, "[redacted]");
  return plainLine(text, 500);
}
