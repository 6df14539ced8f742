// A workspace of Slack through its Web API: searching and posting.

import { refusePlain } from "../accounts/post-form.ts";
import { foldText, splitPhrases } from "../service-tools/search-words.ts";
import {
  type JsonObject,
  mapLimited,
  numberIn,
  recordIn,
  recordsIn,
  textIn,
} from "../service-tools/service-requests.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import type { SlackChannel, SlackProvider } from "../slack/slack-provider.ts";
import { CALL_EVENT, isSlackTs, readCallKey } from "../slack/slack-text.ts";
import { createChannels } from "./channels.ts";
import {
  createHistory,
  fetchHistory,
  fetchThread,
  isKnown,
  type RawMessage,
  readSlackMessage,
  readSlackMessages,
  readSlackText,
  type Workspace,
} from "./history.ts";
import { createPeople, type SlackPeople, type SlackPerson } from "./people.ts";
import { createSlackApi, type SlackConfig } from "./slack-api.ts";

export type { SlackConfig, SlackTokens } from "./slack-api.ts";

/** A workspace of Slack through its Web API. Nothing is loaded or asked before the first call. */
export function openSlack(config: SlackConfig): SlackProvider {
  if (config.apiUrl !== undefined) refusePlain(config.apiUrl);
  const api = createSlackApi(config);
  const people = createPeople(api);
  const channels = createChannels(api, people);
  const workspace = { api, people, channels };
  return {
    kind: "slack",
    channel: channels.find,
    async user(who, signal) {
      const { isOutside, handle, ...user } = await people.find(who, signal);
      return user;
    },
    ...createHistory(workspace),
    search: createSearch(workspace),
    ...createPosting(workspace),
    refresh: api.refresh,
  };
}

type Wanted = {
  readonly terms: readonly string[];
  readonly channel: SlackChannel | undefined;
  readonly from: SlackPerson | undefined;
  readonly limit: number;
};
type Found = Awaited<ReturnType<SlackProvider["search"]>>;

const PAGE = 100;
const SCANNED_CHANNELS = 20;
const SCANNED_MESSAGES = 200;
const AT_ONCE = 4;

/**
 * Creates the search. Slack's own needs a user's token with `search:read`. Without one the newest messages of the channels
 * that the app has joined are looked through, and `note` says how far.
 */
function createSearch(workspace: Workspace): SlackProvider["search"] {
  const { api, people, channels } = workspace;
  return async (query, signal) => {
    const wanted: Wanted = {
      terms: splitSearchTerms(query.text),
      channel: query.channel === undefined ? undefined : await channels.find(query.channel, signal),
      from: query.from === undefined ? undefined : await people.find(query.from, signal),
      limit: query.limit,
    };
    if (wanted.terms.length === 0 && !wanted.channel && !wanted.from) {
      throw new ToolFault("params", "nothing to search for: the query has no words");
    }
    if (!api.canSearch) return scanChannels(workspace, wanted, signal, "Slack's search needs a user token");
    try {
      return await searchSlack(workspace, wanted, signal);
    } catch (thrown) {
      if (!isServiceFault(thrown, "permission")) throw thrown;
      return scanChannels(workspace, wanted, signal, thrown.message);
    }
  };
}

async function searchSlack(workspace: Workspace, wanted: Wanted, signal: AbortSignal): Promise<Found> {
  const { api, people } = workspace;
  const query = buildSlackQuery(wanted);
  const matches: JsonObject[] = [];
  let total = 0;
  for (let page = 1; matches.length < wanted.limit; page++) {
    const args = { query, sort: "timestamp", sort_dir: "desc", count: Math.min(PAGE, wanted.limit), page };
    const answer = recordIn((await api.call("search.messages", args, signal, { asUser: true })).messages);
    const found = recordsIn(answer.matches);
    matches.push(...found);
    total = numberIn(answer.total) ?? matches.length;
    if (found.length === 0 || page >= (numberIn(recordIn(answer.paging).pages) ?? 1)) break;
  }
  const raws = matches.slice(0, wanted.limit);
  const names = raws.map((raw) => textIn(recordIn(raw.channel).name) ?? "");
  await people.learn(names, signal);
  const placed = raws.map((raw) => ({ raw, channel: readPlace(raw, people) }));
  return { messages: await readSlackMessages(placed, workspace, signal), total };
}

/** A direct conversation is called by its partner's id. */
function readPlace(raw: JsonObject, people: SlackPeople): RawMessage["channel"] {
  const channel = recordIn(raw.channel);
  const id = textIn(channel.id) ?? "";
  const name = textIn(channel.name) ?? id;
  const partner = people.getName(name);
  return { id, name: partner === undefined ? name : `@${partner}` };
}

async function scanChannels(
  workspace: Workspace,
  wanted: Wanted,
  signal: AbortSignal,
  why: string,
): Promise<Found> {
  const joined = wanted.channel ? [wanted.channel] : await workspace.channels.joined(signal);
  const range = { limit: SCANNED_MESSAGES };
  const pages = await mapLimited(joined.slice(0, SCANNED_CHANNELS), AT_ONCE, async ({ id, name }) => {
    try {
      const { raws } = await fetchHistory(workspace, { channelId: id, range }, signal);
      return raws
        .filter((raw) => isMatch(raw, wanted, workspace))
        .map((raw) => ({ raw, channel: { id, name } }));
    } catch (thrown) {
      if (wanted.channel || !isServiceFault(thrown, "permission")) throw thrown;
      return undefined;
    }
  });
  const read = pages.filter((page) => page !== undefined);
  const matches = read.flat().sort((a, b) => Number(b.raw.ts) - Number(a.raw.ts));
  const place = wanted.channel
    ? wanted.channel.name.replace(/^(?!@)/, "#")
    : `${read.length} of the ${joined.length} joined channels`;
  const extent = `looked only at the newest ${SCANNED_MESSAGES} messages, without replies in threads, of ${place}`;
  const messages = await readSlackMessages(matches.slice(0, wanted.limit), workspace, signal);
  return { messages, total: matches.length, note: `${why}; ${extent}` };
}

function isMatch(raw: JsonObject, { terms, from }: Wanted, workspace: Workspace): boolean {
  if (from && raw.user !== from.id) return false;
  const text = foldText(readSlackText(raw, workspace));
  return terms.every((term) => text.includes(foldText(term)));
}

/** Words and quoted phrases of a query that Slack can find. */
export function splitSearchTerms(query: string): string[] {
  return splitPhrases(query)
    .map(({ text }) => text)
    .filter((term) => /[\p{L}\p{N}\p{S}]/u.test(term));
}

/** A query in Slack's language: every word of the person is quoted, so that none is taken for an operator. */
export function buildSlackQuery(wanted: {
  readonly terms: readonly string[];
  readonly channel: { readonly id: string; readonly name: string } | undefined;
  readonly from: { readonly id: string } | undefined;
}): string {
  return [
    ...wanted.terms.map((term) => `"${term}"`),
    ...(wanted.channel ? [`in:<#${wanted.channel.id}>`] : []),
    ...(wanted.from ? [`from:<@${wanted.from.id}>`] : []),
  ].join(" ");
}

/** Beyond this Slack would cut the text and still post it. */
const MAX_TEXT = 40_000;
const LOOKED_AT = 200;
const LOOKED_AT_IN_THREAD = 2_000;
/** Slack's own marks and entities, which stay, or one of the three characters that it would take for one. */
const MARKS =
  /<(?:@[UW][A-Z0-9]+|#[CG][A-Z0-9]+(?:\|[^<>|]*)?|![a-z]+(?:\^[^<>|]*)?(?:\|[^<>|]*)?|(?:https?|mailto):[^<>|\s]+(?:\|[^<>|]*)?)>|&(?:amp|lt|gt);|[&<>]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** A text as Slack shows it unchanged: `a<b` is no link. */
export function escapeText(text: string): string {
  return text.replace(MARKS, (found) => ENTITIES[found] ?? found);
}

/** Creates what posts a message and finds it again. */
function createPosting(workspace: Workspace): Pick<SlackProvider, "post" | "findByCallKey"> {
  const { api, channels } = workspace;
  /** The message is posted; if reading names for it fails, it must not look lost. */
  async function describe(raw: JsonObject, channelId: string, signal: AbortSignal) {
    try {
      const channel = { id: channelId, name: await channels.learn(channelId, signal) };
      const [message] = await readSlackMessages([{ raw, channel }], workspace, signal);
      if (message) return message;
    } catch {}
    const channel = { id: channelId, name: channels.getName(channelId) ?? channelId };
    return readSlackMessage({ raw, channel }, workspace);
  }

  return {
    async post({ channelId, text, threadTs, callKey }, signal) {
      if (text.length > MAX_TEXT) {
        throw new ToolFault(
          "params",
          `the text has ${text.length} characters; Slack takes at most ${MAX_TEXT}`,
        );
      }
      if (threadTs !== undefined && !isSlackTs(threadTs))
        throw new ToolFault("params", "thread_ts names no thread");
      const args = {
        channel: channelId,
        text: escapeText(text),
        thread_ts: threadTs,
        mrkdwn: true,
        link_names: false,
        unfurl_links: false,
        unfurl_media: false,
        metadata: { event_type: CALL_EVENT, event_payload: { key: callKey } },
      };
      const answer = await api.call("chat.postMessage", args, signal, {
        knownChannel: isKnown(workspace, channelId),
      });
      const ts = textIn(answer.ts);
      if (ts === undefined) throw new ToolFault("tool_error", "Slack did not say which message it posted");
      const raw = { thread_ts: threadTs, text, ...recordIn(answer.message), ts };
      return describe(raw, textIn(answer.channel) ?? channelId, signal);
    },

    async findByCallKey({ channelId, threadTs, callKey }, signal) {
      const place = { channelId, withMetadata: true };
      const { raws } =
        threadTs === undefined
          ? await fetchHistory(workspace, { ...place, range: { limit: LOOKED_AT } }, signal)
          : await fetchThread(workspace, { ...place, threadTs, limit: LOOKED_AT_IN_THREAD }, signal);
      const raw = raws.find((one) => readCallKey(one.metadata) === callKey);
      return raw ? describe(raw, channelId, signal) : null;
    },
  };
}
