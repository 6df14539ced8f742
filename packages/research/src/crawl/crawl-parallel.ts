import { canonicalAddress, hostOf } from "@retinue/core/net/web-address";
import { createRedactor } from "@retinue/core/redact/create-redactor";
import { secretsFromEnvironment } from "@retinue/core/redact/secrets-from-environment";
import { messageOf } from "@retinue/core/schema/error";
import type { Target } from "@retinue/core/schema/rights";
import { DEFAULT_WEB } from "@retinue/core/settings/default-settings";
import { defineTool, type Roots, type Tool, type ToolOutput } from "@retinue/core/tools/tool";
import { cutAt, MAX_RESULT_CHARS } from "@retinue/core/tools/truncate";
import { findLocalDocuments } from "../search/local-documents.ts";
import { type Blacklist, openBlacklist } from "./blacklist.ts";
import { toCanonicalUrl } from "./canonical-url.ts";
import { type CrawlLog, createCrawlRuns } from "./crawl-log.ts";
import {
  CRAWL_LIMITS,
  type CrawledPage,
  type CrawlLimits,
  type CrawlOutcome,
  crawlPages,
  NO_ADDRESS,
  readPages,
} from "./crawl-pages.ts";
import { createWebHost, type ReadWebPage, type WebHostOptions } from "./web-host.ts";

/** Input of `crawl_parallel`. */
type CrawlInput = { urls: readonly string[]; retain_images?: boolean };

/** Parts of the tool that its owner chooses. */
export type CrawlOptions = Partial<WebHostOptions> & {
  limits?: Partial<CrawlLimits>;
  /** Instead of getting pages over the network. */
  readPage?: ReadWebPage;
  /** The folder of the blacklist; without one nothing is learnt. */
  dataDir?: string;
};

const MAX_URLS = 100;

/**
 * Reads many pages at once into Markdown files. Its limits are those of a run, over all its calls, so that no agent can
 * go beyond them by asking again. A call may be repeated: it only gets pages and writes its own files, and what it had
 * finished is known from its log.
 */
export function createCrawlParallel(options: CrawlOptions = {}): Tool<CrawlInput> {
  const limits = { ...CRAWL_LIMITS, ...options.limits };
  const host = createWebHost({ ...options, web: options.web ?? DEFAULT_WEB });
  const readPage = options.readPage ?? host.readPage;
  const findRun = createCrawlRuns();
  return defineTool<CrawlInput>({
    name: "crawl_parallel",
    description:
      `Reads up to ${limits.batches * limits.batchSize} web pages at once and saves each as Markdown in search_results/. ` +
      `Give all URLs in one call: a run has ${limits.batches} batches of ${limits.batchSize}, and stops after ${limits.successes} pages.`,
    groups: ["web"],
    risk: "low",
    replay: "safe",
    untrusted: true,
    isPublic: true,
    requests: async ({ urls }, roots) => {
      const files = await Promise.all(urls.map((url) => options.documents?.findTarget(url, roots)));
      // What is no address of the web is never asked for, so that it needs nobody's approval.
      return urls.filter((url, at) => !files[at] && toCanonicalUrl(url) !== undefined);
    },
    input: {
      type: "object",
      properties: {
        urls: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: MAX_URLS,
          description: "The best first.",
        },
        retain_images: { type: "boolean", description: "Keep links to images; off by default." },
      },
      required: ["urls"],
      additionalProperties: false,
    },
    access: ({ urls }, roots) => findTargets(urls, roots, options.documents),
    withSettings: ({ web, search }, places) => {
      const documents = options.documents ?? findLocalDocuments(search, places);
      const { redact } = createRedactor({ secrets: secretsFromEnvironment(places.env) });
      return createCrawlParallel({ ...options, web, documents, redact, dataDir: places.dataDir });
    },
    close: host.close,
    execute: async ({ urls, retain_images: images = false }, context) => {
      const run = await findRun(context);
      context.signal.throwIfAborted();
      const blacklist = findBlacklist(options, context.progress);
      try {
        const crawl = { run, limits, readPage, blacklist, images, context };
        return reportCrawl(await crawlPages(urls.map(canonicalAddress), crawl), run.log, limits);
      } finally {
        blacklist.close();
      }
    },
  });
}

type UsedBlacklist = Pick<Blacklist, "match" | "noteMissing" | "close">;

/** The list, or an empty one if it cannot be opened: a crawl is worth more than what it would learn. */
function findBlacklist(
  { dataDir, documents }: CrawlOptions,
  progress: (message: string) => void,
): UsedBlacklist {
  const none = { match: () => undefined, noteMissing: () => undefined, close() {} };
  if (dataDir === undefined) return none;
  try {
    const { match, noteMissing, notices, close } = openBlacklist(dataDir);
    for (const notice of notices) progress(`warning: ${notice}`);
    // The address of a document says nothing of a host.
    const isOwn = (url: string) => documents?.has(url) === true;
    return {
      match: (url) => (isOwn(url) ? undefined : match(url)),
      noteMissing: (url) => (isOwn(url) ? undefined : noteMissing(url)),
      close,
    };
  } catch (thrown) {
    progress(`warning: the blacklist cannot be used: ${messageOf(thrown)}`);
    return none;
  }
}

/** The hosts of the addresses; for those that stand for files of this machine, the files. */
async function findTargets(
  urls: readonly string[],
  roots: Roots,
  documents: CrawlOptions["documents"],
): Promise<Target[]> {
  const targets = new Map<string, Target>();
  for (const url of urls) {
    const host = hostOf(url.trim());
    if (host === undefined) continue;
    const file = await documents?.findTarget(url, roots);
    targets.set(file?.kind === "path" ? file.path : `//${host}`, file ?? { kind: "host", host });
  }
  return [...targets.values()];
}

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
function reportCrawl({ pages, left }: CrawlOutcome, log: CrawlLog, limits: CrawlLimits): ToolOutput {
  const read = pages.filter(({ status }) => status === "success");
  const numbers = new Map(readPages(log).map(({ canonical }, at) => [canonical, at + 1]));
  const total = numbers.size;
  const mayGoOn = log.batches < limits.batches && total < limits.successes;
  const head = [
    `Successfully crawled ${read.length}/${pages.length} URLs (this run: ${total} of at most ${limits.successes} pages, ${log.batches} of ${limits.batches} batches).`,
    ...pages.map((page) => describePage(page, numbers)),
    ...(pages.some(({ reason }) => reason === NO_ADDRESS) ? [NO_ADDRESS_HINT] : []),
    left.length > 0
      ? `Not tried (${left.length}): ${left.map(shortenUrl).join(" ")}`
      : "No URL is left untried.",
    mayGoOn
      ? `This run may crawl ${limits.batches - log.batches} more batch of at most ${limits.batchSize}.`
      : "This run may crawl no more; go on with the pages there are.",
  ].join("\n");
  const lines = cutAt(head, Math.floor(MAX_RESULT_CHARS * (read.length > 0 ? LINES_SHARE : 0.9)));
  const parts = takeExcerpts(read, numbers, MAX_RESULT_CHARS - lines.length - 1_000);
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
    return `- ${what}: ${shortenUrl(url)} → ${file} (${words} words) ${quoteTitle(title)}, cite as [${numbers.get(canonical)}]`;
  return `- ${what}: ${shortenUrl(url)} (${cutAt(flatten(reason ?? "no reason given"), MAX_SHOWN)})`;
}

/** The beginning of each page, in equal shares: who reads this may have no other way to the files. */
function takeExcerpts(
  pages: readonly CrawledPage[],
  numbers: Numbers,
  room: number,
): { heading: string; text: string; more: string }[] {
  const share = Math.min(MAX_EXCERPT, Math.floor(room / Math.max(1, pages.length)) - 300);
  if (share < 200) return [];
  return pages.map(({ title, url, canonical, content = "" }) => {
    const more = content.length > share ? `\n[… ${content.length - share} more characters in the file]` : "";
    return {
      heading: `## [${numbers.get(canonical)}] ${cutAt(flatten(title), 100)} <${shortenUrl(url)}>`,
      text: cutAt(content, share),
      more,
    };
  });
}

function quoteTitle(title: string): string {
  return title ? JSON.stringify(cutAt(flatten(title), 100)) : "";
}

function flatten(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function shortenUrl(url: string): string {
  return cutAt(url.replace(/\s+/g, " "), MAX_SHOWN * 2);
}
