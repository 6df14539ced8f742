import type { ToolOutput } from "../../../tools/tool.ts";
import { cutAt, MAX_RESULT_CHARS } from "../../../tools/truncate.ts";
import type { CrawlLog } from "./crawl-log.ts";
import { type CrawledPage, type CrawlOutcome, NO_ADDRESS, readPages } from "./crawl-pages.ts";
import type { CrawlLimits } from "./limits.ts";

const MAX_SHOWN = 200;
const MAX_EXCERPT = 6_000;
const NO_ADDRESS_HINT =
  "Only http and https addresses are read here; of a file, give save_corpus its path as url and its text as content.";
/** What the lines about the pages may take before the pages themselves get the rest. */
const LINES_SHARE = 0.3;

/**
 * Tells a model what came of a crawl: a count, a line for each address, what is left, and how the pages begin. Each page
 * that was read has the number by which a report cites it.
 */
export function reportCrawl({ pages, left }: CrawlOutcome, log: CrawlLog, limits: CrawlLimits): ToolOutput {
  const read = pages.filter(({ status }) => status === "success");
  const numbers = new Map(readPages(log).map(({ canonical }, at) => [canonical, at + 1]));
  const total = numbers.size;
  const mayGoOn = log.batches < limits.batches && total < limits.successes;
  const head = [
    `Successfully crawled ${read.length}/${pages.length} URLs (this run: ${total} of at most ${limits.successes} pages, ${log.batches} of ${limits.batches} batches).`,
    ...pages.map((page) => describePage(page, numbers)),
    ...(pages.some(({ reason }) => reason === NO_ADDRESS) ? [NO_ADDRESS_HINT] : []),
    left.length > 0 ? `Not tried (${left.length}): ${left.map(short).join(" ")}` : "No URL is left untried.",
    mayGoOn
      ? `This run may crawl ${limits.batches - log.batches} more batch of at most ${limits.batchSize}.`
      : "This run may crawl no more; go on with the pages there are.",
  ].join("\n");
  const lines = cutAt(head, Math.floor(MAX_RESULT_CHARS * (read.length > 0 ? LINES_SHARE : 0.9)));
  const parts = excerpts(read, numbers, MAX_RESULT_CHARS - lines.length - 1_000);
  return {
    text: [lines, ...parts.map(({ heading, text, more }) => `${heading}\n${text}${more}`)].join("\n\n"),
    shown: parts.map(({ text }) => text),
  };
}

type Numbers = ReadonlyMap<string, number>;

function describePage(page: CrawledPage, numbers: Numbers): string {
  const { url, canonical, status, error_code, file, words, title, reason } = page;
  const what = [status, error_code].filter(Boolean).join(" ");
  if (status === "success")
    return `- ${what}: ${short(url)} → ${file} (${words} words) ${quoted(title)}, cite as [${numbers.get(canonical)}]`;
  return `- ${what}: ${short(url)} (${cutAt(flat(reason ?? "no reason given"), MAX_SHOWN)})`;
}

/** The beginning of each page, in equal shares: who reads this may have no other way to the files. */
function excerpts(
  pages: readonly CrawledPage[],
  numbers: Numbers,
  room: number,
): { heading: string; text: string; more: string }[] {
  const share = Math.min(MAX_EXCERPT, Math.floor(room / Math.max(1, pages.length)) - 300);
  if (share < 200) return [];
  return pages.map(({ title, url, canonical, content = "" }) => {
    const more = content.length > share ? `\n[… ${content.length - share} more characters in the file]` : "";
    return {
      heading: `## [${numbers.get(canonical)}] ${cutAt(flat(title), 100)} <${short(url)}>`,
      text: cutAt(content, share),
      more,
    };
  });
}

function quoted(title: string): string {
  return title ? JSON.stringify(cutAt(flat(title), 100)) : "";
}

function flat(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function short(url: string): string {
  return cutAt(url.replace(/\s+/g, " "), MAX_SHOWN * 2);
}
