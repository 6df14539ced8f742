import { ToolFault } from "../errors/tool-fault.ts";
import type { SlackChannel, SlackProvider } from "../slack/slack-provider.ts";
import { type Answer, numberIn, recordIn, recordsIn, textIn } from "./answer.ts";
import { fetchHistory } from "./history.ts";
import { inBatches } from "./many-calls.ts";
import { folded } from "./near-names.ts";
import type { Person } from "./people.ts";
import { type Directory, type RawMessage, readMessages, textOf } from "./read-message.ts";
import type { SlackApi } from "./slack-api.ts";

type Wanted = {
  readonly terms: readonly string[];
  readonly channel: SlackChannel | undefined;
  readonly from: Person | undefined;
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
      terms: searchTerms(query.text),
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
      if (!(thrown instanceof ToolFault) || thrown.type !== "permission") throw thrown;
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
  const query = queryText(wanted);
  const matches: Answer[] = [];
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
  const placed = raws.map((raw) => ({ raw, channel: placeOf(raw, directory) }));
  return { messages: await readMessages(placed, directory, signal), total };
}

/** A direct conversation is called by its partner's id. */
function placeOf(raw: Answer, { people }: Directory): RawMessage["channel"] {
  const channel = recordIn(raw.channel);
  const id = textIn(channel.id) ?? "";
  const name = textIn(channel.name) ?? id;
  const partner = people.nameOf(name);
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
  const pages = await inBatches(joined.slice(0, SCANNED_CHANNELS), AT_ONCE, async ({ id, name }) => {
    try {
      const { raws } = await fetchHistory(api, { channelId: id, range, isKnown: true }, signal);
      return raws
        .filter((raw) => isMatch(raw, wanted, directory))
        .map((raw) => ({ raw, channel: { id, name } }));
    } catch (thrown) {
      if (wanted.channel || !(thrown instanceof ToolFault) || thrown.type !== "permission") throw thrown;
      return undefined;
    }
  });
  const read = pages.filter((page) => page !== undefined);
  const matches = read.flat().sort((a, b) => Number(b.raw.ts) - Number(a.raw.ts));
  const place = wanted.channel
    ? wanted.channel.name.replace(/^(?!@)/, "#")
    : `${read.length} of the ${joined.length} joined channels`;
  const extent = `looked only at the newest ${SCANNED_MESSAGES} messages, without replies in threads, of ${place}`;
  const messages = await readMessages(matches.slice(0, wanted.limit), directory, signal);
  return { messages, total: matches.length, note: `${why}; ${extent}` };
}

function isMatch(raw: Answer, { terms, from }: Wanted, directory: Directory): boolean {
  if (from && raw.user !== from.id) return false;
  const text = folded(textOf(raw, directory));
  return terms.every((term) => text.includes(folded(term)));
}

/** Words and quoted phrases of a query; what would end a quotation or a line is left out. */
export function searchTerms(text: string): string[] {
  return [...text.matchAll(/["“”„]([^"“”„]*)["“”„]|([^\s"“”„]+)/gu)]
    .map(([, phrase, word]) => (phrase ?? word ?? "").replace(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim())
    .filter((term) => /[\p{L}\p{N}\p{S}]/u.test(term));
}

/** A query in Slack's language: every word of the person is quoted, so that none is taken for an operator. */
export function queryText(wanted: {
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
