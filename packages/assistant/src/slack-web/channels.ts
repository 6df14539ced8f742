// The channels of a workspace at Slack.

import { type JsonObject, numberIn, recordIn, textIn } from "../service-tools/service-requests.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import type { SlackChannel } from "../slack/slack-provider.ts";
import { hintNearNames } from "../slack/slack-text.ts";
import { isWord, type SlackPeople, tryOr } from "./people.ts";
import { listAll, type SlackApi } from "./slack-api.ts";

/** A channel, with whether the token's owner is in it. */
type ListedChannel = SlackChannel & { readonly isMember: boolean };

/** The channels of a workspace, kept for a while. */
export type Channels = {
  /** By `#name`, name or id; `@person` opens the direct conversation. */
  find(name: string, signal: AbortSignal): Promise<SlackChannel>;
  /** Those that the token's owner is in. */
  joined(signal: AbortSignal): Promise<readonly ListedChannel[]>;
  /** Gets the name of a channel that is not known yet; its id if Slack will not tell. */
  learn(id: string, signal: AbortSignal): Promise<string>;
  /** As far as it was learnt. */
  getName(id: string): string | undefined;
};

const LISTED = 5_000;
const KEPT_MS = 5 * 60_000;
/** A name that is not in a list older than this is looked for once more: the channel may be new. */
const FRESH_MS = 30_000;

type Listing = {
  readonly at: number;
  readonly channels: readonly ListedChannel[];
  readonly isWhole: boolean;
  /** Private channels are in it too. */
  readonly hasPrivate: boolean;
};

/** Creates the directory of channels. */
export function createChannels(api: SlackApi, people: SlackPeople): Channels {
  const names = new Map<string, string>();
  let listing: Listing | undefined;

  function remember(channel: SlackChannel): void {
    names.set(channel.id, channel.name);
  }

  async function list(maxAgeMs: number, signal: AbortSignal): Promise<Listing> {
    if (listing && api.now() - listing.at < maxAgeMs) return listing;
    listing = await listChannels(api, signal);
    listing.channels.forEach(remember);
    return listing;
  }

  async function byId(id: string, signal: AbortSignal): Promise<SlackChannel> {
    const listed =
      listing && api.now() - listing.at < KEPT_MS && listing.channels.find((one) => one.id === id);
    if (listed) return dropMembership(listed);
    const answer = recordIn((await api.call("conversations.info", { channel: id }, signal)).channel);
    const partner = textIn(answer.user);
    const channel =
      answer.is_im === true && partner !== undefined
        ? buildDirect(id, await people.find(partner, signal))
        : dropMembership(readChannel(answer));
    remember(channel);
    return channel;
  }

  async function byName(given: string, signal: AbortSignal): Promise<SlackChannel> {
    const wanted = given.replace(/^#/, "").toLowerCase().slice(0, 80);
    if (wanted === "") throw new ToolFault("params", "no channel is named");
    const found = findOnlyMatch(wanted, await list(KEPT_MS, signal));
    if (found) return dropMembership(found);
    const fresh = await list(FRESH_MS, signal);
    const foundNow = findOnlyMatch(wanted, fresh);
    if (!foundNow) throw refuseUnknownChannel(wanted, fresh);
    return dropMembership(foundNow);
  }

  async function direct(who: string, signal: AbortSignal): Promise<SlackChannel> {
    const person = await people.find(who, signal);
    const answer = await api.call("conversations.open", { users: person.id }, signal);
    const id = textIn(recordIn(answer.channel).id);
    if (id === undefined) throw new ToolFault("tool_error", "Slack opened no conversation");
    const channel = buildDirect(id, person);
    remember(channel);
    return channel;
  }

  return {
    async find(given, signal) {
      const name = given.trim();
      if (name.startsWith("@") || name.startsWith("<@")) return direct(name, signal);
      const id = /^(?:<?#)?([CGD][A-Z0-9]{6,20})(?:\|[^<>]*)?>?$/.exec(name)?.[1];
      if (id === undefined) return byName(name, signal);
      return tryOr(byId(id, signal), isWord(id) ? () => byName(id, signal) : undefined);
    },
    joined: async (signal) => (await list(KEPT_MS, signal)).channels.filter((one) => one.isMember),
    async learn(id, signal) {
      const known = names.get(id);
      if (known !== undefined) return known;
      try {
        return (await byId(id, signal)).name;
      } catch (thrown) {
        if (!isServiceFault(thrown, "params", "permission")) throw thrown;
        names.set(id, id);
        return id;
      }
    },
    getName: (id) => names.get(id),
  };
}

/** Without `groups:read` the private channels cannot be listed; then the public ones are. */
async function listChannels(api: SlackApi, signal: AbortSignal): Promise<Listing> {
  const from = async (types: string) => {
    const wanted = {
      method: "conversations.list",
      field: "channels",
      cap: LISTED,
      exclude_archived: true,
      types,
    };
    const { items, isWhole } = await listAll(api, wanted, signal);
    return {
      at: api.now(),
      channels: items.map(readChannel),
      isWhole,
      hasPrivate: types.includes("private"),
    };
  };
  try {
    return await from("public_channel,private_channel");
  } catch (thrown) {
    if (!isServiceFault(thrown, "permission")) throw thrown;
    return from("public_channel");
  }
}

function findOnlyMatch(wanted: string, { channels }: Listing): ListedChannel | undefined {
  const matches = channels.filter((one) => one.name.toLowerCase() === wanted);
  if (matches.length < 2) return matches[0];
  const ids = matches.map(({ id }) => id).join(", ");
  throw new ToolFault("params", `several channels are called '#${wanted}': ${ids}`);
}

function refuseUnknownChannel(wanted: string, { channels, isWhole, hasPrivate }: Listing): ToolFault {
  const limits = [
    ...(isWhole ? [] : [`only the first ${LISTED} channels were looked at`]),
    ...(hasPrivate
      ? []
      : ["private channels are found by id only, for the app lacks the scope 'groups:read'"]),
  ];
  const near = hintNearNames(
    wanted,
    channels.map(({ name }) => name),
    "#",
  );
  const limit = limits.length === 0 ? "" : ` (${limits.join("; ")})`;
  return new ToolFault("params", `there is no channel '#${wanted}'${near}${limit}`);
}

function readChannel(answer: JsonObject): ListedChannel {
  const id = textIn(answer.id);
  if (id === undefined) throw new ToolFault("tool_error", "Slack described a channel without an id");
  const members = numberIn(answer.num_members);
  return {
    id,
    name: textIn(answer.name) ?? id,
    isPrivate: answer.is_private === true || answer.is_im === true || answer.is_mpim === true,
    isShared: isShared(answer),
    isMember: answer.is_member === true,
    ...(members === undefined ? {} : { members }),
  };
}

/** Also while an invitation to another organisation is open; shared within one's own enterprise does not count. */
function isShared(answer: JsonObject): boolean {
  if (answer.is_ext_shared === true || answer.is_pending_ext_shared === true) return true;
  return answer.is_shared === true && answer.is_org_shared !== true;
}

function buildDirect(
  id: string,
  person: { readonly name: string; readonly isOutside: boolean },
): SlackChannel {
  return { id, name: `@${person.name}`, isPrivate: true, isShared: person.isOutside, members: 2 };
}

function dropMembership({ isMember, ...channel }: ListedChannel): SlackChannel {
  return channel;
}
