import { slackIdentity } from "../../packs/assistant/accounts/slack-identity.ts";
import { RetinueError } from "../../schema/error.ts";
import type { Terminal } from "../terminal.ts";
import { askHidden, linesOfStdin, secretFrom } from "./ask.ts";
import { type AddOptions, idFor, refuseBadId, saveAccount } from "./save-account.ts";

/** Options of `accounts add slack`. */
export type AddSlackOptions = AddOptions & {
  tokenStdin?: boolean;
  tokenEnv?: string;
  userTokenEnv?: string;
  apiUrl?: string;
};

/** `retinue accounts add slack`: the token is shown to Slack before it is kept. */
export async function addSlack(options: AddSlackOptions, terminal: Terminal): Promise<void> {
  refuseBadId(options.id);
  const { token, userToken } = await tokensOf(options, terminal);
  const { apiUrl } = options;
  const signal = new AbortController().signal;
  const { user, team, scopes } = await slackIdentity(token, { apiUrl, signal });
  if (userToken !== undefined) {
    const person = await slackIdentity(userToken, { apiUrl, signal });
    if (person.team !== team)
      throw new RetinueError("input", `the two tokens are of two workspaces: ${team} and ${person.team}`);
  }
  const address = `${user}@${team}`;
  const id = await idFor(options, { kind: "slack", address }, terminal);
  const account = {
    ...{ id, kind: "slack" as const, address, team, scopes, services: ["slack" as const] },
    addedAt: new Date().toISOString(),
    ...(apiUrl !== undefined && { apiUrl }),
  };
  await saveAccount(account, { token, ...(userToken !== undefined && { userToken }) }, options, terminal);
}

type Tokens = { token: string; userToken?: string | undefined };

async function tokensOf(options: AddSlackOptions, terminal: Terminal): Promise<Tokens> {
  const { tokenStdin, tokenEnv, userTokenEnv } = options;
  const person = userTokenEnv === undefined ? undefined : fromEnv(userTokenEnv, terminal);
  if (tokenStdin && tokenEnv === undefined) {
    const [first = "", second = ""] = await linesOfStdin(terminal);
    if (first.trim() === "") throw new RetinueError("input", "stdin holds no token");
    return { token: first.trim(), userToken: person ?? (second.trim() || undefined) };
  }
  const source = {
    question: "token of your app (xoxb-… or xoxp-…)",
    stdin: tokenStdin,
    env: tokenEnv,
    flags: "--token-stdin or --token-env",
  };
  const token = (await secretFrom(source, terminal)).trim();
  if (person !== undefined || tokenEnv !== undefined) return { token, userToken: person };
  const asked = await askHidden("a person's token for searching (xoxp-…); empty for none", terminal);
  return { token, userToken: asked.trim() || undefined };
}

function fromEnv(name: string, { env }: Terminal): string {
  const value = env[name]?.trim();
  if (value) return value;
  throw new RetinueError("input", `the environment variable ${name} holds no token`);
}
