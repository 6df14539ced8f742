import { mapLimited } from "../service-tools/bounded-requests.ts";
import { type JsonObject, numberIn, recordIn, recordsIn, textIn } from "../service-tools/read-json.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import type { SlackChannel, SlackProvider } from "../slack/slack-provider.ts";
import { foldName } from "../slack/slack-text.ts";
import { fetchHistory } from "./history.ts";
import type { SlackPerson } from "./people.ts";
import { type Directory, type RawMessage, readSlackMessages, readSlackText } from "./read-message.ts";
import type { SlackApi } from "./slack-api.ts";

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
export function createSearch(api: SlackApi, directory: Directory): SlackProvider["search"] {
  return async (query, signal) => {
    const wanted: Wanted = {
      terms: splitSearchTerms(query.text),
      channel: query.channel === undefined ? undefined : await directory.channels.find(query.channel, signal),
      from: query.from === undefined ? undefined : await directory.people.find(query.from, signal),
      limit: Math.max(1, Math.floor(query.limit)),
    };
    if (wanted.terms.length === 0 && !wanted.channel && !wanted.from) {
      throw new ToolFault("params", "nothing to search for: the query has no words");
    }
    if (!api.canSearch) return scan(api, directory, wanted, signal, "Slack's search needs a user token");
    try {
      return await searchSlack(api, directory, wanted, signal);
    } catch (thrown) {
      if (!isServiceFault(thrown, "permission")) throw thrown;
      return scan(api, directory, wanted, signal, thrown.message);
    }
  };
}

async function searchSlack(
  api: SlackApi,
  directory: Directory,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Found> {
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
  await directory.people.learn(
    raws.map((raw) => textIn(recordIn(raw.channel).name) ?? ""),
    signal,
  );
  const placed = raws.map((raw) => ({ raw, channel: readPlace(raw, directory) }));
  return { messages: await readSlackMessages(placed, directory, signal), total };
}

/** A direct conversation is called by its partner's id. */
function readPlace(raw: JsonObject, { people }: Directory): RawMessage["channel"] {
  const channel = recordIn(raw.channel);
  const id = textIn(channel.id) ?? "";
  const name = textIn(channel.name) ?? id;
  const partner = people.getName(name);
  return { id, name: partner === undefined ? name : `@${partner}` };
}

async function scan(
  api: SlackApi,
  directory: Directory,
  wanted: Wanted,
  signal: AbortSignal,
  why: string,
): Promise<Found> {
  const joined = wanted.channel ? [wanted.channel] : await directory.channels.joined(signal);
  const range = { limit: SCANNED_MESSAGES };
  const pages = await mapLimited(joined.slice(0, SCANNED_CHANNELS), AT_ONCE, async ({ id, name }) => {
    try {
      const { raws } = await fetchHistory(api, { channelId: id, range, isKnown: true }, signal);
      return raws
        .filter((raw) => isMatch(raw, wanted, directory))
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
  const messages = await readSlackMessages(matches.slice(0, wanted.limit), directory, signal);
  return { messages, total: matches.length, note: `${why}; ${extent}` };
}

function isMatch(raw: JsonObject, { terms, from }: Wanted, directory: Directory): boolean {
  if (from && raw.user !== from.id) return false;
  const text = foldName(readSlackText(raw, directory));
  return terms.every((term) => text.includes(foldName(term)));
}

/** Words and quoted phrases of a query; what would end a quotation or a line is left out. */
export function splitSearchTerms(text: string): string[] {
  return [...text.matchAll(/["“”„]([^"“”„]*)["“”„]|([^\s"“”„]+)/gu)]
    .map(([, phrase, word]) => (phrase ?? word ?? "").replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim())
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
