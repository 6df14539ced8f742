import { join } from "node:path";
import { isStopWord, splitWords } from "@retinue/core/text/terms";
import {
  findAnswer,
  findNextCalls,
  listAnswered,
  listFaults,
  type OfflineCall,
  type OfflineMove,
  type Procedure,
  readAllResults,
  type Situation,
  taskText,
} from "./conversation.ts";
import { capitalise, needsModel, shortenLine, stripHeadings, withoutLabel } from "./offline-words.ts";

const REPORT_EXPERT = "report-creation-expert";

const WANTED_HITS = 20;
const MOST_PASSED_ON = 12;
/** Fewer results than this, and the words of the topic are searched for one by one. */
const TOO_FEW = 8;
const MORE_WORDS = 3;

/** The main agent with a request that must become a report: it searches, and hands what it found to the expert. */
export const reportLead: Procedure = {
  agents: ["main"],
  takes: ({ demanded, delegates }) =>
    demanded.includes(REPORT_EXPERT) && delegates.some(({ name }) => name === REPORT_EXPERT),
  next(situation) {
    const request = taskText(situation.task);
    const topic = readTopic(request);
    const canSearch = situation.tools.includes("web_search");
    const first = canSearch ? [makeSearch(topic, WANTED_HITS)] : [];
    const found = () => first.flatMap((call) => readFound(call, situation));
    const more = () => (found().length < TOO_FEW && canSearch ? searchWords(topic) : []);
    const hits = () => {
      const named = findUrls(request).map((url) => ({ title: url, url, snippet: "" }));
      const all = [...named, ...found(), ...more().flatMap((call) => readFound(call, situation))];
      return all
        .filter(({ url }, at) => all.findIndex((hit) => hit.url === url) === at)
        .slice(0, MOST_PASSED_ON);
    };
    const move = findNextCalls(situation, [
      () => first,
      more,
      () => (hits().length > 0 ? [makeDelegation(request, hits(), situation)] : []),
    ]);
    return move ?? reportResult(topic, hits(), situation);
  },
};

/** The words of a topic, one by one. */
function searchWords(topic: string): OfflineCall[] {
  const words = splitWords(topic).filter((word) => word.length > 3 && !isStopWord(word) && word !== topic);
  return [...new Set(words)].slice(0, MORE_WORDS).map((word) => makeSearch(word, TOO_FEW));
}

function makeSearch(query: string, limit: number): OfflineCall {
  return { tool: "web_search", input: { query, limit } };
}

function readFound(call: OfflineCall, { calls }: Situation): Hit[] {
  const past = findAnswer(calls, call);
  return past && !past.failed ? readHits(past.result) : [];
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
  const result = readAllResults(situation).findLast(({ agent }) => agent === REPORT_EXPERT);
  const faults = listFaults(situation.calls);
  if (!result) {
    const why = hits.length === 0 ? `nothing was found on “${topic}”` : "the report was not begun";
    const remedy = hits.length === 0 ? "; `search.folders` in the settings names folders with documents" : "";
    return { cannot: `${why}${remedy}${faults.length > 0 ? ` (${faults.join("; ")})` : ""}` };
  }
  if (!result.success && !result.partial)
    return { cannot: result.error || result.summary || `the report on “${topic}” failed` };
  const body = stripHeadings(withoutLabel(result.details));
  const path = /work_products\/\S+?\.html/.exec(body)?.[0];
  const where = path && situation.workspace ? `Report: ${join(situation.workspace, path)}` : "";
  const partial = result.partial ? "(The expert was cut short by a limit.)" : "";
  return { say: [where, partial, body].filter(Boolean).join("\n\n") };
}

const MOST_URLS = 10;
const MAX_REQUEST = 300;

/**
 * The report expert: reads the pages of its task if depth is asked for, saves the corpus, and lets the host make an
 * extractive report of it, as a page and as Markdown.
 */
export const reportExpert: Procedure = {
  agents: [REPORT_EXPERT],
  next(situation) {
    const request = taskText(situation.task);
    const hits = readHits(situation.task);
    const urls = findUrls(situation.task).slice(0, MOST_URLS);
    if (urls.length === 0)
      return {
        cannot: needsModel("find sources by itself", "make a report of pages whose URLs are in its task"),
      };
    const calls = planReport(request, { hits, urls, tools: situation.tools });
    const stages = calls.map((call) => () => (hasFailed(calls, call, situation) ? [] : [call]));
    return findNextCalls(situation, stages) ?? reportWritten(readTopic(request), calls, situation);
  },
};

function planReport(
  request: string,
  { hits, urls, tools }: { hits: readonly Hit[]; urls: readonly string[]; tools: readonly string[] },
): OfflineCall[] {
  const excerpts = hits.filter(({ snippet }) => snippet !== "").slice(0, MOST_URLS);
  const reads = tools.includes("crawl_parallel") && (wantsDepth(request) || excerpts.length === 0);
  const articles = reads
    ? urls.map((url) => ({ url, title: hits.find((hit) => hit.url === url)?.title ?? "" }))
    : excerpts.map(({ url, title, snippet }) => ({ url, title, content: snippet, status: "success" }));
  const topic = readTopic(request);
  const path = `work_products/${toFileName(topic)}`;
  const report = { from_corpus: true, title: capitalise(topic), request: shortenLine(request, MAX_REQUEST) };
  return [
    ...(reads ? [{ tool: "crawl_parallel", input: { urls } }] : []),
    { tool: "save_corpus", input: { articles } },
    { tool: "write_local_file", input: { path: `${path}.html`, ...report } },
    { tool: "write_local_file", input: { path: `${path}.md`, ...report } },
  ];
}

/** Whether something that must come before this call went wrong; a crawl that failed is no reason to stop. */
function hasFailed(calls: readonly OfflineCall[], call: OfflineCall, { calls: past }: Situation): boolean {
  const before = calls.slice(0, calls.indexOf(call)).filter(({ tool }) => tool !== "crawl_parallel");
  return before.some((each) => findAnswer(past, each)?.failed);
}

function reportWritten(
  topic: string,
  calls: readonly OfflineCall[],
  { calls: past }: Situation,
): OfflineMove {
  const made = calls.filter(({ tool }) => tool === "write_local_file");
  const written = listAnswered(past, made);
  const [first] = written;
  const faults = listFaults(past);
  if (!first)
    return { cannot: `no report on “${topic}” was made: ${faults.join("; ") || "a limit came first"}` };
  // Both are what the host says: another run of the session may have the usual names.
  const paths = written.map(
    ({ input, result }) =>
      /^Successfully wrote \d+ chars to (work_products\/[^\s,]+)/.exec(result)?.[1] ?? String(input.path),
  );
  const saved = past.findLast(({ tool, failed }) => tool === "save_corpus" && !failed)?.result ?? "";
  const corpus = /"corpus_path":"(?:[^"]*[\\/])?([^"]+)"/.exec(saved)?.[1] ?? "expanded_corpus.json";
  const [, counts = "", ...notes] = first.result.split("\n");
  const said = [
    `**Summary**: Made an extractive report on “${topic}”: ${paths[0]}. ${counts}`,
    "**Details**",
    `Files: ${paths.join(", ")}, ${corpus}`,
    notes.join("\n"),
    ...(faults.length > 0 ? [`**Warnings**\n${faults.map((fault) => `- ${fault}`).join("\n")}`] : []),
  ];
  return { say: said.filter(Boolean).join("\n\n") };
}

const KIND =
  "(?:report|analysis|summary|overview|study|review|briefing|account|survey|digest|write-?up|look|dossier|paper)s?";
const ABOUT = new RegExp(
  `\\b${KIND}\\b[^.?!\\n]{0,60}?(?::|\\s(?:on|about|of|regarding|concerning|into|at|covering|for))\\s+(?:the\\s+(?:topic|subject|question)\\s+of\\s+)?([^\\n]+)`,
  "i",
);
const ASKING =
  /^(?:please|kindly|could you|can you|would you|i (?:want|need|would like)|we (?:want|need)|give|get|show|make|create|write|prepare|generate|produce|compile|draft|do|me|us|a|an|the|to|some|comprehensive|detailed|in-depth|in depth|thorough|full|complete|short|brief|quick|long)\b[\s,]*/i;
const NEWS_OF =
  /^(?:(?:the|all|recent|latest|current)\s+)*(?:news|articles?|sources?|search results?|results?|developments?|papers?|literature)\s+(?:on|about|for|in|of)\s+/i;
const SOURCE_WORDS =
  /\s+(?:(?:based )?on|from|using|with|in|across)\s+(?:the\s+|all\s+|recent\s+|these\s+|my\s+|our\s+)*(?:search results?|sources?|articles?|web|internet|news|documents?|literature|press)\b.*$/i;
const MAX_TOPIC = 160;
const MAX_SLUG = 60;

/** What a report is to be about, without the words that ask for it. */
export function readTopic(request: string): string {
  const [first = ""] = request.trim().split(/\n|(?<=[.?!])\s+(?=\p{Lu})/u);
  const named = ABOUT.exec(first)?.[1];
  let topic = named ?? first;
  for (let before = ""; before !== topic; ) {
    before = topic;
    topic = topic.replace(named === undefined ? ASKING : /^(?:the|a|an)\s+/i, "");
  }
  const bare = topic
    .replace(NEWS_OF, "")
    .replace(SOURCE_WORDS, "")
    .replace(/https?:\/\/\S+/g, " ");
  const tidy = bare.replace(/\s+/g, " ").replace(/^[\s"'“”‘’:,-]+|[\s"'“”‘’.?!:,;-]+$/g, "");
  return (tidy || first.trim()).slice(0, MAX_TOPIC);
}

/** A topic as the name of a file. */
export function toFileName(topic: string): string {
  const words =
    topic
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, MAX_SLUG).replace(/-$/, "") || "report";
}

/** Whether a request wants the pages themselves to be read, not only what a search shows of them. */
export function wantsDepth(request: string): boolean {
  return /\b(?:comprehensive|detailed|in[- ]depth|thorough|extensive|exhaustive|full|complete)\b/i.test(
    request,
  );
}

/** One result of a search, as a conversation shows it. */
export type Hit = { readonly title: string; readonly url: string; readonly snippet: string };

const HIT = /^\d{1,3}\. (.+)\n {3}(https?:\/\/\S+)(?:\n {3}(.*))?$/gm;
const ADDRESS = /https?:\/\/[^\s<>"'`)\]}]+/g;

/** The results in a text that `web_search` or `listHits` wrote, each address once. */
export function readHits(text: string): Hit[] {
  const hits = new Map<string, Hit>();
  for (const [, title = "", url = "", snippet = ""] of text.matchAll(HIT))
    if (!hits.has(url)) hits.set(url, { title, url, snippet: snippet.trim() });
  return [...hits.values()];
}

/** Results as a numbered list. */
export function listHits(hits: readonly Hit[]): string {
  return hits
    .map(({ title, url, snippet }, at) => `${at + 1}. ${title}\n   ${url}\n   ${snippet}`)
    .join("\n");
}

/** All addresses in a text, each once, without punctuation behind them. */
export function findUrls(text: string): string[] {
  const found = [...text.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?]+$/, ""));
  return [...new Set(found)];
}
