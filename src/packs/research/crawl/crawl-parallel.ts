import { canonicalAddress, hostOf } from "../../../net/web-address.ts";
import { createRedactor } from "../../../redact/create-redactor.ts";
import { secretsFromEnvironment } from "../../../redact/secrets-from-environment.ts";
import { messageOf } from "../../../schema/error.ts";
import type { Target } from "../../../schema/rights.ts";
import { defineTool, type Roots, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { localDocumentsOf } from "../search/local-documents.ts";
import { type Blacklist, openBlacklist } from "./blacklist.ts";
import { canonicalUrl } from "./canonical-url.ts";
import { saveLog } from "./crawl-log.ts";
import { type Crawl, crawlPages } from "./crawl-pages.ts";
import { type CrawlRuns, createCrawlRuns } from "./crawl-runs.ts";
import { DEFAULT_WEB } from "./default-web.ts";
import { keepPage } from "./keep-page.ts";
import { CRAWL_LIMITS, type CrawlLimits } from "./limits.ts";
import { reportCrawl } from "./report-crawl.ts";
import { createWebHost, type ReadWebPage, type WebHostOptions } from "./web-host.ts";

/** Input of `crawl_parallel`. */
export type CrawlInput = { urls: readonly string[]; retain_images?: boolean };

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
  const parts = {
    limits,
    runs: createCrawlRuns(),
    readPage: options.readPage ?? host.readPage,
    dataDir: options.dataDir,
    /** Of documents that this program serves the address is borrowed, and says nothing of the next that has it. */
    isOwn: (url: string) => options.documents?.allowOrigins().includes(URL.parse(url)?.origin ?? "") === true,
  };
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
      const files = await Promise.all(urls.map((url) => options.documents?.targetOf(url, roots)));
      // What is no address of the web is never asked for, so that it needs nobody's approval.
      return urls.filter((url, at) => !files[at] && canonicalUrl(url) !== undefined);
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
    access: ({ urls }, roots) => targetsOf(urls, roots, options.documents),
    withSettings: ({ web, search }, places) => {
      const documents = options.documents ?? localDocumentsOf(search, places);
      const { redact } = createRedactor({ secrets: secretsFromEnvironment(places.env) });
      return createCrawlParallel({ ...options, web, documents, redact, dataDir: places.dataDir });
    },
    close: host.close,
    execute: (input, context) => execute(input, context, parts),
  });
}

type Parts = {
  limits: CrawlLimits;
  runs: CrawlRuns;
  readPage: ReadWebPage;
  dataDir: string | undefined;
  isOwn(url: string): boolean;
};

async function execute(input: CrawlInput, context: ToolContext, parts: Parts): Promise<ToolOutput> {
  const { signal, progress, runId, workspaceDir, turn } = context;
  const { limits, runs, readPage, dataDir, isOwn } = parts;
  const run = await runs.find(context);
  signal.throwIfAborted();
  const blacklist = findBlacklist(dataDir, progress);
  const { log } = run;
  const crawl: Crawl = {
    run,
    turn,
    limits,
    readPage,
    blacklist: {
      match: (url) => (isOwn(url) ? undefined : blacklist.match(url)),
      noteMissing: (url) => (isOwn(url) ? undefined : blacklist.noteMissing(url)),
    },
    images: input.retain_images === true,
    signal,
    progress,
    mayRead: (host) => context.maySee({ kind: "host", host }),
    keep: (page) => keepPage(page, log, context),
    save: () =>
      saveLog(workspaceDir, runId, log).catch((thrown) =>
        progress(`warning: what was crawled could not be noted: ${messageOf(thrown)}`),
      ),
  };
  try {
    const urls = input.urls.map(canonicalAddress);
    return reportCrawl(await crawlPages(urls, crawl), log, limits);
  } finally {
    blacklist.close();
  }
}

type UsedBlacklist = Pick<Blacklist, "match" | "noteMissing" | "close">;

/** The list, or an empty one if it cannot be opened: a crawl is worth more than what it would learn. */
function findBlacklist(dataDir: string | undefined, progress: (message: string) => void): UsedBlacklist {
  const none = { match: () => undefined, noteMissing: () => undefined, close() {} };
  if (dataDir === undefined) return none;
  try {
    const blacklist = openBlacklist(dataDir);
    for (const notice of blacklist.notices) progress(`warning: ${notice}`);
    return blacklist;
  } catch (thrown) {
    progress(`warning: the blacklist cannot be used: ${messageOf(thrown)}`);
    return none;
  }
}

/** The hosts of the addresses; for those that stand for files of this machine, the files. */
async function targetsOf(
  urls: readonly string[],
  roots: Roots,
  documents: CrawlOptions["documents"],
): Promise<Target[]> {
  const targets = new Map<string, Target>();
  for (const url of urls) {
    const host = hostOf(url.trim());
    if (host === undefined) continue;
    const file = await documents?.targetOf(url, roots);
    targets.set(file?.kind === "path" ? file.path : `//${host}`, file ?? { kind: "host", host });
  }
  return [...targets.values()];
}
