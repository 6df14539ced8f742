import { type AnyTool, defineTool, type Tool } from "../../tools/tool.ts";

/** One hit of a search. */
export type SearchHit = { title: string; url: string; snippet: string };

/** Where searches go: local documents, or a search engine. */
export type SearchProvider = {
  readonly name: string;
  /** Hosts that a search talks to, which rules may name. */
  readonly hosts: readonly string[];
  search(query: string, options: { limit: number; signal: AbortSignal }): Promise<readonly SearchHit[]>;
};

/** A page as text. */
export type FetchedPage = { url: string; title: string; markdown: string };

/** Gets a page, past whatever keeps a fetch from going where it must not. */
export type PageFetcher = (url: string, options: { signal: AbortSignal }) => Promise<FetchedPage>;

/** What the web tools work with; without a part, its tool is not offered to models. */
export type WebProviders = { search?: SearchProvider; fetch?: PageFetcher };

type SearchInput = { query: string; limit?: number };
type FetchInput = { url: string };

const DEFAULT_HITS = 8;
const MAX_HITS = 20;

/** The tools `web_search` and `web_fetch` over the given providers. */
export function createWebTools(providers: WebProviders): readonly AnyTool[] {
  return [webSearch(providers.search), webFetch(providers.fetch)];
}

function webSearch(provider: SearchProvider | undefined): Tool<SearchInput> {
  return defineTool<SearchInput>({
    name: "web_search",
    description: "Searches for documents and gives title, address and a few words of each.",
    groups: ["web"],
    risk: "low",
    replay: "safe",
    untrusted: true,
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
    access: () => (provider?.hosts ?? []).map((host) => ({ kind: "host", host })),
    execute: async ({ query, limit = DEFAULT_HITS }, { signal, progress }) => {
      if (!provider) return { text: "no search provider is set up", isError: true };
      progress(`searching ${provider.name}`);
      const hits = await provider.search(query, { limit, signal });
      const lines = hits
        .slice(0, limit)
        .map((hit, at) => `${at + 1}. ${hit.title}\n   ${hit.url}\n   ${hit.snippet}`);
      return lines.join("\n") || "nothing was found";
    },
  });
}

function webFetch(fetchPage: PageFetcher | undefined): Tool<FetchInput> {
  return defineTool<FetchInput>({
    name: "web_fetch",
    description: "Gets one page and gives its text as Markdown.",
    groups: ["web"],
    risk: "low",
    replay: "safe",
    untrusted: true,
    offered: fetchPage !== undefined,
    input: {
      type: "object",
      properties: { url: { type: "string", minLength: 1, maxLength: 4_000 } },
      required: ["url"],
      additionalProperties: false,
    },
    check: ({ url }) => (isWebAddress(url) ? null : "url must be an http or https address"),
    access: ({ url }) => [{ kind: "host", host: new URL(url).hostname }],
    execute: async ({ url }, { signal, progress }) => {
      if (!fetchPage) return { text: "no way to fetch pages is set up", isError: true };
      progress(`getting ${url}`);
      const page = await fetchPage(url, { signal });
      return `# ${page.title}\n${page.url}\n\n${page.markdown}`;
    },
  });
}

function isWebAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}
