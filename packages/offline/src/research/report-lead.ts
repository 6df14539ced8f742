import { join } from "node:path";
import {
  findAnswer,
  findNextCalls,
  listFaults,
  type OfflineCall,
  type OfflineMove,
  type Procedure,
  readResults,
  type Situation,
  taskText,
} from "../conversation.ts";
import { withoutLabel } from "../offline-words.ts";
import { REPORT_EXPERT } from "./report-expert.ts";
import { findUrls, type Hit, listHits, listTopicWords, readHits, readTopic } from "./report-topic.ts";

const WANTED_HITS = 20;
const MOST_PASSED_ON = 12;
/** Fewer results than this, and the words of the topic are searched for one by one. */
const TOO_FEW = 8;
const MORE_WORDS = 3;
const MORE_TITLES = 4;
/** Results of a search for what one result is about: itself, and others on it. */
const VOICES = 3;

/** The main agent with a request that must become a report: it searches, and hands what it found to the expert. */
export const reportLead: Procedure = {
  agents: ["main"],
  takes: ({ demanded, delegates }) =>
    demanded.includes(REPORT_EXPERT) && delegates.some(({ name }) => name === REPORT_EXPERT),
  next(situation) {
    const request = taskText(situation.task);
    const topic = readTopic(request);
    const first = makeSearch(topic, WANTED_HITS);
    const more = planSearches(topic, readFound(first, situation));
    const hits = () => mergeHits(request, first, situation);
    const canSearch = situation.tools.includes("web_search");
    const move = findNextCalls(situation, [
      () => (canSearch ? [first] : []),
      () => (canSearch ? more : []),
      () => (hits().length > 0 ? [makeDelegation(request, hits(), situation)] : []),
    ]);
    return move ?? reportResult(topic, hits(), situation);
  },
};

/** With little found, the words of the topic one by one; else a second voice on what the best results are about. */
function planSearches(topic: string, found: readonly Hit[]): OfflineCall[] {
  const queries = found.length < TOO_FEW ? listTopicWords(topic) : found.map(({ title }) => title);
  return queries
    .filter((query) => query !== topic)
    .slice(0, found.length < TOO_FEW ? MORE_WORDS : MORE_TITLES)
    .map((query) => makeSearch(query, found.length < TOO_FEW ? TOO_FEW : VOICES));
}

function makeSearch(query: string, limit: number): OfflineCall {
  return { tool: "web_search", input: { query, limit } };
}

function readFound(call: OfflineCall, { calls }: Situation): Hit[] {
  const past = findAnswer(calls, call);
  return past && !past.failed ? readHits(past.result) : [];
}

/**
 * What the request names itself comes first, then the results. Each of the best is followed by another on the same
 * thing: what two sources speak of can be compared, what only one says must be believed.
 */
function mergeHits(request: string, first: OfflineCall, situation: Situation): Hit[] {
  const named = findUrls(request).map((url) => ({ title: url, url, snippet: "" }));
  const found = readFound(first, situation);
  const more = planSearches(String(first.input.query), found).map((call) => readFound(call, situation));
  const byUrl = new Map<string, Hit>(named.map((hit) => [hit.url, hit]));
  const take = (hit: Hit | undefined) => hit && !byUrl.has(hit.url) && byUrl.set(hit.url, hit);
  for (const [at, hit] of found.entries()) {
    take(hit);
    take(more[at]?.find(({ url }) => url !== hit.url && !byUrl.has(url)));
  }
  for (const hit of more.flat()) take(hit);
  return [...byUrl.values()].slice(0, MOST_PASSED_ON);
}

function makeDelegation(request: string, hits: readonly Hit[], { workspace }: Situation): OfflineCall {
  const sections = [
    request,
    `## Search results\n${listHits(hits)}`,
    ...(workspace ? [`## Workspace\nCURRENT_SESSION_WORKSPACE: ${workspace}`] : []),
  ];
  return { tool: "delegate", input: { agent: REPORT_EXPERT, task: sections.join("\n\n") } };
}

function reportResult(topic: string, hits: readonly Hit[], situation: Situation): OfflineMove {
  const results = [...situation.calls.map(({ result }) => result), ...situation.later].flatMap(readResults);
  const result = results.findLast(({ agent }) => agent === REPORT_EXPERT);
  const faults = listFaults(situation.calls);
  if (!result) {
    const why = hits.length === 0 ? `nothing was found on “${topic}”` : "the report was not begun";
    const remedy = hits.length === 0 ? "; `search.folders` in the settings names folders with documents" : "";
    return { cannot: `${why}${remedy}${faults.length > 0 ? ` (${faults.join("; ")})` : ""}` };
  }
  if (!result.success && !result.partial)
    return { cannot: result.error || result.summary || `the report on “${topic}” failed` };
  const body = withoutLabel(result.details)
    .replace(/^\s*\*\*Summary\*\*:?\s*/i, "")
    .replace(/^\*\*(?:Details|Warnings)\*\*\s*$/gim, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
  const path = /work_products\/\S+?\.html/.exec(body)?.[0];
  const where = path && situation.workspace ? `Report: ${join(situation.workspace, path)}` : "";
  const partial = result.partial ? "(The expert was cut short by a limit.)" : "";
  return { say: [where, partial, body].filter(Boolean).join("\n\n") };
}
