import { join } from "node:path";
import { withoutLabel } from "../../../models/offline/offline-words.ts";
import { answerTo, faultsIn, nextCalls } from "../../../models/offline/past-calls.ts";
import type { Move, OfflineCall, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { readResults } from "../../../models/offline/read-results.ts";
import { taskText } from "../../../models/offline/task-text.ts";
import { addressesIn, type Hit, listHits, readHits } from "./read-hits.ts";
import { REPORT_EXPERT } from "./report-expert.ts";
import { topicOf, topicWords } from "./report-topic.ts";

const WANTED_HITS = 12;
/** Fewer results than this, and the words of the topic are searched for one by one. */
const TOO_FEW = 8;
const MORE_QUERIES = 3;

/** The main agent with a request that must become a report: it searches, and hands what it found to the expert. */
export const reportLead: Procedure = {
  agents: ["main"],
  takes: ({ demanded, delegates }) =>
    demanded.includes(REPORT_EXPERT) && delegates.some(({ name }) => name === REPORT_EXPERT),
  next(situation) {
    const request = taskText(situation.task);
    const topic = topicOf(request);
    const first = search(topic, WANTED_HITS);
    const more = topicWords(topic)
      .slice(0, MORE_QUERIES)
      .map((word) => search(word, TOO_FEW))
      .filter(({ input }) => input.query !== topic);
    const canSearch = situation.tools.includes("web_search");
    const hits = () => hitsFor(request, [first, ...more], situation);
    const move = nextCalls(situation, [
      () => (canSearch ? [first] : []),
      () => (canSearch && hits().length < TOO_FEW ? more : []),
      () => (hits().length > 0 ? [delegation(request, hits(), situation)] : []),
    ]);
    return move ?? answer(topic, hits(), situation);
  },
};

function search(query: string, limit: number): OfflineCall {
  return { tool: "web_search", input: { query, limit } };
}

/** What the request names itself comes first, then results in the order of their searches. */
function hitsFor(request: string, searches: readonly OfflineCall[], { calls }: Situation): Hit[] {
  const found = searches.flatMap((call) => {
    const past = answerTo(calls, call);
    return past && !past.failed ? readHits(past.result) : [];
  });
  const named = addressesIn(request).map((url) => ({ title: url, url, snippet: "" }));
  const byUrl = new Map<string, Hit>();
  for (const hit of [...named, ...found]) if (!byUrl.has(hit.url)) byUrl.set(hit.url, hit);
  return [...byUrl.values()].slice(0, WANTED_HITS);
}

function delegation(request: string, hits: readonly Hit[], { workspace }: Situation): OfflineCall {
  const sections = [
    request,
    `## Search results\n${listHits(hits)}`,
    ...(workspace ? [`## Workspace\nCURRENT_SESSION_WORKSPACE: ${workspace}`] : []),
  ];
  return { tool: "delegate", input: { agent: REPORT_EXPERT, task: sections.join("\n\n") } };
}

function answer(topic: string, hits: readonly Hit[], situation: Situation): Move {
  const results = [...situation.calls.map(({ result }) => result), ...situation.later].flatMap(readResults);
  const result = results.findLast(({ agent }) => agent === REPORT_EXPERT);
  const faults = faultsIn(situation.calls);
  if (!result) {
    const why = hits.length === 0 ? `nothing was found on “${topic}”` : "the report was not begun";
    const remedy = hits.length === 0 ? "; `search.folders` in the settings names folders with documents" : "";
    return { cannot: `${why}${remedy}${faults.length > 0 ? ` (${faults.join("; ")})` : ""}` };
  }
  if (!result.success) return { cannot: result.error || result.summary || `the report on “${topic}” failed` };
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
