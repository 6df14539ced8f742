// Tries an account out: one cheap read of everything it serves.

import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { checkSmtp } from "../imap/smtp.ts";
import { textIn } from "../service-tools/service-requests.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import type { Account, Secrets, Service } from "./accounts.ts";
import {
  buildImapOptions,
  closeProviders,
  type Opening,
  openAccountWith,
  type Providers,
} from "./open-account.ts";
import { postForm } from "./post-form.ts";

/** How one cheap read of a domain ended. */
export type AccountCheck = {
  readonly service: Service;
  readonly ok: boolean;
  /** What is wrong, and what helps. */
  readonly fault?: string;
  readonly remedy?: string;
  /** Whether a sign-in would help. */
  readonly auth?: boolean;
};

const DAY_MS = 86_400_000;

/** Reads a little of every domain of an account; nothing is changed, and no failure is thrown. */
export async function checkAccount(
  account: Account,
  secrets: Secrets,
  { signal, ...opening }: Opening & { readonly signal: AbortSignal },
): Promise<AccountCheck[]> {
  let providers: Providers = {};

  async function tryService(service: Service): Promise<unknown> {
    if (service === "mail") {
      await requireProvider(providers.mail).search({ limit: 1 }, signal);
      return account.kind === "imap" ? checkSmtp(await buildImapOptions(account, secrets)) : undefined;
    }
    if (service === "contacts") return requireProvider(providers.contacts).search({ limit: 1 }, signal);
    if (service === "calendar") {
      const day = { from: opening.now(), to: opening.now() + DAY_MS };
      return requireProvider(providers.calendar).list({ ...day, limit: 1 }, signal);
    }
    const apiUrl = account.kind === "slack" ? account.apiUrl : undefined;
    return fetchSlackIdentity(secrets.token ?? "", { apiUrl, signal });
  }

  /** An expired token is not a fault if it can be renewed. */
  async function checkService(service: Service): Promise<AccountCheck> {
    try {
      await tryService(service).catch(async (thrown: unknown) => {
        const provider = providers[service];
        if (!isServiceFault(thrown, "auth") || !provider?.refresh) throw thrown;
        await provider.refresh(signal);
        return tryService(service);
      });
      return { service, ok: true };
    } catch (thrown) {
      return describeFailure(account, service, thrown);
    }
  }

  try {
    providers = await openAccountWith(account, secrets, opening);
    const checks: AccountCheck[] = [];
    for (const service of account.services) checks.push(await checkService(service));
    return checks;
  } catch (thrown) {
    return account.services.map((service) => describeFailure(account, service, thrown));
  } finally {
    await closeProviders(providers);
  }
}

function describeFailure({ kind, id }: Account, service: Service, thrown: unknown): AccountCheck {
  const fault = messageOf(thrown);
  if (thrown instanceof RetinueError)
    return { service, ok: false, fault, remedy: thrown.hint, auth: thrown.code === "auth" };
  const type = thrown instanceof ToolFault ? thrown.type : "tool_error";
  const remedy = {
    auth: `sign in again: retinue accounts add ${kind} --id ${id}`,
    permission: "give the account or its app this right at the service, then sign in again",
    network: "check the network and the server's name",
    rate_limit: "wait a while",
    params: "check the account's address and server",
    tool_error: undefined,
  }[type];
  return { service, ok: false, fault, remedy, auth: type === "auth" };
}

function requireProvider<Provider>(provider: Provider | undefined): Provider {
  if (provider) return provider;
  throw new ToolFault("tool_error", "the account does not serve this");
}

/** Slack's own address for calls. */
const SLACK_API = "https://slack.com/api/";

/** Whom a token belongs to. */
type SlackIdentity = {
  readonly user: string;
  readonly team: string;
  readonly scopes: readonly string[];
};

/** Asks Slack whom a token belongs to. */
export async function fetchSlackIdentity(
  token: string,
  { apiUrl = SLACK_API, signal }: { apiUrl?: string | undefined; signal: AbortSignal },
): Promise<SlackIdentity> {
  if (!/^[\x21-\x7e]{8,500}$/.test(token))
    throw new RetinueError(
      "input",
      "that is not a token",
      "a token of a bot begins with xoxb-, of a person with xoxp-",
    );
  const { value, headers } = await postForm(
    new URL("auth.test", apiUrl.replace(/\/?$/, "/")).href,
    {},
    { token, signal },
  );
  if (value.ok === true)
    return {
      user: readName(value.user),
      team: readName(value.team),
      scopes: (headers.get("x-oauth-scopes") ?? "").split(",").flatMap((scope) => scope.trim() || []),
    };
  const code =
    typeof value.error === "string" && /^[a-z_]{1,40}$/.test(value.error) ? value.error : "no reason given";
  throw new RetinueError(
    "auth",
    `Slack refused the token: ${code}`,
    "copy it again from the page 'OAuth & Permissions' of your app at api.slack.com/apps",
  );
}

function readName(value: unknown): string {
  return textIn(value)?.slice(0, 200) ?? "unknown";
}
