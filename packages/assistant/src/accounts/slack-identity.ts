import { RetinueError } from "@retinue/core/schema/error";
import { postForm } from "./post-form.ts";

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
      "that is no token",
      "a token of a bot begins with xoxb-, of a person with xoxp-",
    );
  const { value, headers } = await postForm(
    new URL("auth.test", apiUrl.replace(/\/?$/, "/")).href,
    {},
    { token, signal },
  );
  if (value.ok === true)
    return {
      user: nameIn(value.user),
      team: nameIn(value.team),
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

function nameIn(value: unknown): string {
  return typeof value === "string" && value !== "" ? value.slice(0, 200) : "unknown";
}
