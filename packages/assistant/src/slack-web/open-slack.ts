import { RetinueError } from "@retinue/core/schema/error";
import type { SlackProvider } from "../slack/slack-provider.ts";
import { createChannels } from "./channels.ts";
import { createHistory } from "./history.ts";
import { createPeople, createTeam } from "./people.ts";
import { createPosting } from "./posting.ts";
import { createSearch } from "./search.ts";
import { createSlackApi, type SlackConfig } from "./slack-api.ts";

export type { SlackConfig, SlackTokens } from "./slack-api.ts";

/** A workspace of Slack through its Web API. Nothing is loaded or asked before the first call. */
export function openSlack(config: SlackConfig): SlackProvider {
  if (config.apiUrl !== undefined) checkApiUrl(config.apiUrl);
  const api = createSlackApi(config);
  const team = createTeam(api);
  const people = createPeople(api, team);
  const channels = createChannels(api, people);
  const directory = { people, channels, team };
  return {
    kind: "slack",
    channel: channels.find,
    async user(who, signal) {
      const { isOutside, handle, ...user } = await people.find(who, signal);
      return user;
    },
    ...createHistory(api, directory),
    search: createSearch(api, directory),
    ...createPosting(api, directory),
    refresh: api.refresh,
  };
}

/** Tokens do not travel in the clear, except to this machine. */
function checkApiUrl(apiUrl: string): void {
  const url = URL.parse(apiUrl);
  const isHere = url !== null && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isHere)) return;
  throw new RetinueError(
    "config",
    `the address of Slack's API must begin with https://, not '${url ? `${url.protocol}//${url.host}` : "?"}'`,
    "leave it out to use Slack's own",
  );
}
