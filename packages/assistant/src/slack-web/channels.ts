// The channels of a workspace at Slack.

import { type JsonObject, recordIn, textIn } from "../service-tools/service-requests.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import { findChannelNamed, refuseChannel } from "../slack/pick-name.ts";
import type { SlackChannel } from "../slack/slack-provider.ts";
import { isWord, type SlackPeople, type SlackPerson, tryOr } from "./people.ts";
import { listAll, type SlackApi } from "./slack-api.ts";

/** A channel, with whether the token's owner is in it. */
type ListedChannel = SlackChannel & { readonly isMember: boolean };

/** The channels of a workspace, kept for a while. */
export type Channels = {
  /** By `#name`, name or id; `@person` opens the direct conversation. */
  find(name: string, signal: AbortSignal): Promise<SlackChannel>;
  /** Those that the token's owner is in. */
  joined(signal: AbortSignal): Promise<readonly ListedChannel[]>;
  /** Gets the name of an unknown channel; its id if Slack does not resolve it. */
  learn(id: string, signal: AbortSignal): Promise<string>;
  /** Undefined until it was learnt. */
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
    for (const maxAgeMs of [KEPT_MS, FRESH_MS]) {
      const found = findChannelNamed(wanted, (await list(maxAgeMs, signal)).channels);
      if (found) return dropMembership(found);
    }
    throw refuseUnknownChannel(wanted, await list(FRESH_MS, signal));
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
    const listed = { method: "conversations.list", field: "channels", cap: LISTED };
    const { items, isWhole } = await listAll(api, { ...listed, exclude_archived: true, types }, signal);
    const hasPrivate = types.includes("private");
    return { at: api.now(), channels: items.map(readChannel), isWhole, hasPrivate };
  };
  try {
    return await from("public_channel,private_channel");
  } catch (thrown) {
    if (!isServiceFault(thrown, "permission")) throw thrown;
    return from("public_channel");
  }
}

function refuseUnknownChannel(wanted: string, { channels, isWhole, hasPrivate }: Listing): ToolFault {
  const limits = [
    ...(isWhole ? [] : [`only the first ${LISTED} channels were looked at`]),
    ...(hasPrivate
      ? []
      : ["private channels are found by id only, for the app lacks the scope 'groups:read'"]),
  ];
  const names = channels.map(({ name }) => name);
  return refuseChannel(wanted, names, limits.length === 0 ? "" : ` (${limits.join("; ")})`);
}

function readChannel(answer: JsonObject): ListedChannel {
  const id = textIn(answer.id);
  if (id === undefined) throw new ToolFault("tool_error", "Slack described a channel without an id");
  const isMember = answer.is_member === true;
  return { id, name: textIn(answer.name) ?? id, isShared: isShared(answer), isMember };
}

/** Also while an invitation to another organisation is open; shared within one's own enterprise does not count. */
function isShared(answer: JsonObject): boolean {
  if (answer.is_ext_shared === true || answer.is_pending_ext_shared === true) return true;
  return answer.is_shared === true && answer.is_org_shared !== true;
}

function buildDirect(id: string, { name, isOutside }: SlackPerson): SlackChannel {
  return { id, name: `@${name}`, isShared: isOutside };
}

function dropMembership({ isMember, ...channel }: ListedChannel): SlackChannel {
  return channel;
}
