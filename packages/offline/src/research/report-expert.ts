import {
  findAnswer,
  findNextCalls,
  listFaults,
  type OfflineCall,
  type OfflineMove,
  type PastCall,
  type Procedure,
  type Situation,
  taskText,
} from "../conversation.ts";
import { needsModel, shortenLine } from "../offline-words.ts";
import { findUrls, type Hit, readHits, readTopic, toFileName, toTitle, wantsDepth } from "./report-topic.ts";

/** The agent that makes reports. */
export const REPORT_EXPERT = "report-creation-expert";

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
  const report = { from_corpus: true, title: toTitle(topic), request: shortenLine(request, MAX_REQUEST) };
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
  const written = made.flatMap((call): PastCall[] => {
    const answered = findAnswer(past, call);
    return answered && !answered.failed ? [answered] : [];
  });
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
