import { canonicalAddress, hostOf } from "@retinue/core/net/web-address";
import { messageOf } from "@retinue/core/schema/error";
import type { Target } from "@retinue/core/schema/rights";
import { type AnyTool, defineTool, type Roots, type Tool } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { createWebHost, type ReadWebPage } from "./crawl/web-host.ts";
import { chooseProvider } from "./search/choose-provider.ts";
import { findLocalDocuments } from "./search/local-documents.ts";
import type { SearchHit, SearchProvider } from "./search/search-provider.ts";
import { observe } from "./workspace-files.ts";

/** What `web_fetch` works with; without a way to pages it is not offered to models. */
type FetchProviders = {
  readPage?: ReadWebPage;
  /** The file behind an address, for addresses that stand for files of this machine: rights are then judged by it. */
  findTarget?: (url: string, roots: Roots) => Promise<Target | undefined>;
};

type SearchInput = { query: string; limit?: number };

type FetchInput = { url: string };

const DEFAULT_HITS = 8;
const MAX_HITS = 20;
const MAX_TITLE = 200;
const MAX_SNIPPET = 600;
const MAX_URL = 4_000;

/** The tool `web_search` over a provider; without one it is not offered to models. */
export function createWebSearch(provider: SearchProvider | undefined): AnyTool {
  const isOnline = (provider?.hosts ?? []).length > 0;
  return defineTool<SearchInput>({
    name: "web_search",
    description: "Searches for documents and gives title, address and a few words of each.",
    groups: ["web"],
    risk: "low",
    replay: "safe",
    untrusted: true,
    // A search of this machine's own documents asks nobody outside, and finds what is private.
    isPublic: isOnline,
    requests: ({ query }) => (isOnline ? [`a search for ${query}`] : []),
    offered: provider !== undefined,
    input: {
      type: "object",
      properties: {
        query: { type: "string", minLength: 1, maxLength: 1_000 },
        limit: { type: "integer", minimum: 1, maximum: MAX_HITS, description: `${DEFAULT_HITS} by default.` },
      },
      required: ["query"],
      additionalProperties: false,
    },
    words: {
      q: "query",
      num_results: "limit",
      max_results: "limit",
      count: "limit",
      n: "limit",
    },
    access: () => (provider?.hosts ?? []).map((host) => ({ kind: "host", host })),
    execute: async ({ query, limit = DEFAULT_HITS }, context) => {
      if (!provider) return { text: "no search provider is set up", isError: true };
      context.progress(`searching ${provider.name}`);
      try {
        const found = await provider.search(query, { limit, signal: context.signal, run: context });
        const hits = tidyHits(found).slice(0, limit);
        const value = { query, provider: provider.name, time: new Date().toISOString(), hits };
        const saved = observe(context, { folder: "search_results", about: query, value });
        const where = `searched ${provider.name}${isOnline ? "" : ", not the web"}`;
        if (hits.length === 0) return `nothing was found (${where})`;
        const text = hits.map(describeHit).join("\n");
        return { text: `${text}\n(${where}) (saved as workspace:${saved})`, shown: [text] };
      } catch (thrown) {
        return { text: `the search failed: ${messageOf(thrown)}`, isError: true };
      }
    },
    ...(provider?.close && { close: () => provider.close?.() }),
  });
}

/** Hits with usable addresses, each once, and without what could be taken for another hit. */
function tidyHits(hits: readonly SearchHit[]): SearchHit[] {
  const byUrl = new Map<string, SearchHit>();
  for (const { title, url, snippet } of hits) {
    const parsed = isWebAddress(url) ? URL.parse(url) : null;
    if (!parsed || parsed.username || parsed.password || url.length > MAX_URL) continue;
    const words = toOneLine(title, MAX_TITLE) || parsed.host;
    if (!byUrl.has(parsed.href))
      byUrl.set(parsed.href, { title: words, url: parsed.href, snippet: toOneLine(snippet, MAX_SNIPPET) });
  }
  return [...byUrl.values()];
}

function describeHit({ title, url, snippet }: SearchHit, at: number): string {
  return `${at + 1}. ${title}\n   ${url}\n   ${snippet}`;
}

function toOneLine(text: string, limit: number): string {
  return cutAt(text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, " ").trim(), limit);
}

/** The tool `web_fetch` over a way to pages. */
export function createWebFetch({ readPage, findTarget }: FetchProviders): Tool<FetchInput> {
  return defineTool<FetchInput>({
    name: "web_fetch",
    description: "Gets one page and gives its text as Markdown.",
    groups: ["web"],
    risk: "low",
    replay: "safe",
    untrusted: true,
    isPublic: true,
    requests: async ({ url }, roots) => ((await findTarget?.(url, roots)) ? [] : [url]),
    offered: readPage !== undefined,
    input: {
      type: "object",
      properties: { url: { type: "string", minLength: 1, maxLength: 4_000 } },
      required: ["url"],
      additionalProperties: false,
    },
    words: { uri: "url", address: "url", link: "url" },
    check: ({ url }) => (isWebAddress(url) ? null : "url must be an http or https address"),
    access: async ({ url }, roots) => [
      (await findTarget?.(url, roots)) ?? { kind: "host", host: hostOf(url.trim()) ?? new URL(url).hostname },
    ],
    execute: async ({ url }, { signal, progress, maySee }) => {
      if (!readPage) return { text: "no way to fetch pages is set up", isError: true };
      const address = canonicalAddress(url);
      progress(`getting ${address}`);
      const got = await readPage(address, { signal, mayVisit: (host) => maySee({ kind: "host", host }) });
      signal.throwIfAborted();
      if (got.status === "failed") throw new Error(got.reason);
      const { title, markdown } = got.page;
      const reached = canonicalAddress(got.url);
      return { text: `# ${title}\n${reached}\n\n${markdown}`, shown: [reached, title, markdown] };
    },
  });
}

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

/** Searches where the settings say; the runtime takes the one of its settings. */
export const webSearch: AnyTool = {
  ...createWebSearch(undefined),
  withSettings({ search }, places) {
    const provider = chooseProvider(search, places);
    return {
      ...createWebSearch(provider),
      async close() {
        await provider.close?.();
        // Other tools may have opened them, even if this provider is another one.
        await findLocalDocuments(search, places).close();
      },
    };
  },
};

/** Gets one page as the settings say; the runtime takes the one of its settings. */
export const webFetch: AnyTool = {
  ...createWebFetch({}),
  withSettings({ web, search }, places) {
    const documents = findLocalDocuments(search, places);
    const host = createWebHost({ web, documents });
    const findTarget = documents.findTarget.bind(documents);
    return { ...createWebFetch({ readPage: host.readPage, findTarget }), close: host.close };
  },
};
