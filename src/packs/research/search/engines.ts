import { cutAt } from "../../../tools/truncate.ts";
import type { SearchHit } from "../web-tools.ts";
import { plain } from "./html-text.ts";
import type { JsonRequest } from "./request-json.ts";

/** How one search engine is asked and understood. */
export type Engine = {
  /** Its own address; SearXNG has none, since everyone runs their own. */
  readonly url?: string;
  /** The environment variable that usually holds its key, or its address if it takes no key. */
  readonly env: string;
  readonly needsKey: boolean;
  /** What to send for a query; `base` has no slash at its end. */
  ask(
    base: string,
    query: string,
    options: { limit: number; key: string },
  ): Pick<JsonRequest, "url" | "headers" | "body">;
  /** The hits in its answer; undefined if it has not the form that it should. */
  read(reply: unknown): SearchHit[] | undefined;
};

const MAX_BRAVE_CHARS = 400;
const MAX_BRAVE_WORDS = 50;

const searxng: Engine = {
  env: "SEARXNG_URL",
  needsKey: false,
  ask: (base, query) => ({ url: `${base}/search?${new URLSearchParams({ q: query, format: "json" })}` }),
  read: (reply) => hitsIn(fieldOf(reply, "results"), ["content"]),
};

const brave: Engine = {
  url: "https://api.search.brave.com/res/v1",
  env: "BRAVE_API_KEY",
  needsKey: true,
  ask: (base, query, { limit, key }) => {
    const q = cutAt(query.split(/\s+/).slice(0, MAX_BRAVE_WORDS).join(" "), MAX_BRAVE_CHARS);
    const parameters = new URLSearchParams({ q, count: String(limit) });
    return { url: `${base}/web/search?${parameters}`, headers: { "x-subscription-token": key } };
  },
  read: (reply) => {
    if (typeof reply !== "object" || reply === null) return undefined;
    const web = fieldOf(reply, "web");
    // Nothing found: the section is left out.
    return web === undefined || web === null ? [] : hitsIn(fieldOf(web, "results"), ["description"]);
  },
};

const tavily: Engine = {
  url: "https://api.tavily.com",
  env: "TAVILY_API_KEY",
  needsKey: true,
  ask: (base, query, { limit, key }) => ({
    url: `${base}/search`,
    headers: { authorization: `Bearer ${key}` },
    body: { query, max_results: limit },
  }),
  read: (reply) => hitsIn(fieldOf(reply, "results"), ["content"]),
};

const exa: Engine = {
  url: "https://api.exa.ai",
  env: "EXA_API_KEY",
  needsKey: true,
  ask: (base, query, { limit, key }) => ({
    url: `${base}/search`,
    headers: { "x-api-key": key },
    body: { query, numResults: limit, type: "auto", contents: { highlights: true } },
  }),
  read: (reply) => hitsIn(fieldOf(reply, "results"), ["highlights", "summary", "text"]),
};

/** The search engines by name. */
export const ENGINES = { searxng, brave, tavily, exa } as const;

function hitsIn(results: unknown, snippetFields: readonly string[]): SearchHit[] | undefined {
  if (!Array.isArray(results)) return undefined;
  return results.flatMap((each: unknown) => {
    const url = textOf(fieldOf(each, "url"));
    if (url === "") return [];
    const snippet = snippetFields.map((name) => textOf(fieldOf(each, name))).find(Boolean) ?? "";
    return [{ title: readable(textOf(fieldOf(each, "title"))), url, snippet: readable(snippet) }];
  });
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.filter((each) => typeof each === "string").join(" … ");
  return typeof value === "string" ? value : "";
}

/** Engines mark the words that were found with tags. */
function readable(text: string): string {
  return plain(cutAt(text, 4_000).replaceAll(/<\/?(?:b|strong|em|i|mark|span)\b[^<>]{0,200}>/gi, ""));
}
