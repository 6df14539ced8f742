import { ToolFault } from "../errors/tool-fault.ts";
import { type Answer, textIn } from "./answer.ts";
import type { SlackApi } from "./slack-api.ts";

/** The workspace a token belongs to. */
export type Identity = {
  /** Where its pages are, with a slash at the end. */
  readonly url: string | undefined;
  readonly teamId: string | undefined;
  readonly enterpriseId: string | undefined;
};

/** Looks up once which workspace the token belongs to. */
export type Team = {
  identity(signal: AbortSignal): Promise<Identity>;
  /** The same, or nothing known while the service cannot say; only a refused token is raised. */
  identityIfKnown(signal: AbortSignal): Promise<Identity>;
};

const UNKNOWN: Identity = { url: undefined, teamId: undefined, enterpriseId: undefined };

/** Creates the lookup. */
export function createTeam(api: SlackApi): Team {
  let known: Identity | undefined;
  async function identity(signal: AbortSignal): Promise<Identity> {
    known ??= identityIn(await api.call("auth.test", {}, signal));
    return known;
  }
  return {
    identity,
    identityIfKnown: (signal) =>
      identity(signal).catch((thrown: unknown) => {
        if (thrown instanceof ToolFault && thrown.type !== "auth") return UNKNOWN;
        throw thrown;
      }),
  };
}

function identityIn(answer: Answer): Identity {
  const url = textIn(answer.url);
  const isSafe = url !== undefined && URL.parse(url)?.protocol === "https:";
  return {
    url: isSafe ? url.replace(/\/*$/, "/") : undefined,
    teamId: textIn(answer.team_id),
    enterpriseId: textIn(answer.enterprise_id),
  };
}

/** The address of a message in the browser, built without asking; undefined if the workspace's is not known. */
export function linkTo(
  { url }: Identity,
  message: { readonly channelId: string; readonly ts: string; readonly threadTs?: string | undefined },
): string | undefined {
  if (url === undefined) return undefined;
  const { channelId, ts, threadTs } = message;
  const link = `${url}archives/${channelId}/p${ts.replace(".", "")}`;
  if (threadTs === undefined || threadTs === ts) return link;
  return `${link}?${new URLSearchParams({ thread_ts: threadTs, cid: channelId })}`;
}
