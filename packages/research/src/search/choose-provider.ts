import { createTransport } from "@retinue/core/net/transport";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { findOwn } from "@retinue/core/schema/find-own";
import { readObject } from "@retinue/core/schema/json-object";
import {
  SEARCH_PROVIDERS,
  type SearchProviderName,
  type SearchSettings,
} from "@retinue/core/schema/settings";
import { type Transport, TransportError, type TransportReply } from "@retinue/core/schema/transport";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { findLocalDocuments } from "./local-documents.ts";
import { SearchError, type SearchHit, type SearchProvider } from "./search-provider.ts";

/** How one search engine is asked and understood. */
type SearchEngine = {
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
const MAX_MARKED_CHARS = 4_000;

const searxng: SearchEngine = {
  env: "SEARXNG_URL",
  needsKey: false,
  ask: (base, query) => ({ url: `${base}/search?${new URLSearchParams({ q: query, format: "json" })}` }),
  read: (reply) => readHits(readField(reply, "results"), ["content"]),
};

const brave: SearchEngine = {
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
    const web = readField(reply, "web");
    // Nothing found: the section is left out.
    return web === undefined || web === null ? [] : readHits(readField(web, "results"), ["description"]);
  },
};

const tavily: SearchEngine = {
  url: "https://api.tavily.com",
  env: "TAVILY_API_KEY",
  needsKey: true,
  ask: (base, query, { limit, key }) => ({
    url: `${base}/search`,
    headers: { authorization: `Bearer ${key}` },
    body: { query, max_results: limit },
  }),
  read: (reply) => readHits(readField(reply, "results"), ["content"]),
};

const exa: SearchEngine = {
  url: "https://api.exa.ai",
  env: "EXA_API_KEY",
  needsKey: true,
  ask: (base, query, { limit, key }) => ({
    url: `${base}/search`,
    headers: { "x-api-key": key },
    body: { query, numResults: limit, type: "auto", contents: { highlights: true } },
  }),
  read: (reply) => readHits(readField(reply, "results"), ["highlights", "summary", "text"]),
};

/** The search engines by name. */
const ENGINES = { searxng, brave, tavily, exa } as const;

function readHits(results: unknown, snippetFields: readonly string[]): SearchHit[] | undefined {
  if (!Array.isArray(results)) return undefined;
  return results.flatMap((each: unknown) => {
    const url = readText(readField(each, "url"));
    if (url === "") return [];
    const snippet = snippetFields.map((name) => readText(readField(each, name))).find(Boolean) ?? "";
    return [{ title: readText(readField(each, "title")), url, snippet }];
  });
}

function readField(value: unknown, name: string): unknown {
  return findOwn(readObject(value), name);
}

function readText(value: unknown): string {
  if (Array.isArray(value)) return value.filter((each) => typeof each === "string").join(" … ");
  return typeof value === "string" ? value : "";
}

type EngineName = keyof typeof ENGINES;

const ENGINE_NAMES = Object.keys(ENGINES) as EngineName[];
const DEADLINE_MS = 20_000;

/** What the settings ask for; else the first engine there is an address or a key for; else local documents. */
export function chooseProvider(
  search: SearchSettings,
  places: HostPlaces,
  deadlineMs: number = DEADLINE_MS,
): SearchProvider {
  const name = chooseName(search, places.env);
  return name === "local"
    ? findLocalDocuments(search, places)
    : createEngineProvider(name, { search, env: places.env, deadlineMs });
}

function chooseName(
  { provider, url, key, keyEnv }: SearchSettings,
  env: HostPlaces["env"],
): SearchProviderName {
  if (provider !== undefined) {
    if (!SEARCH_PROVIDERS.includes(provider))
      throw new RetinueError(
        "config",
        `there is no search provider '${provider}'`,
        `set search.provider to one of ${SEARCH_PROVIDERS.join(", ")}`,
      );
    return provider;
  }
  if (key !== undefined || keyEnv !== undefined)
    throw new RetinueError(
      "config",
      `search.${key === undefined ? "keyEnv" : "key"} needs search.provider`,
      `name the provider that the key is for: ${ENGINE_NAMES.filter((each) => ENGINES[each].needsKey).join(", ")}`,
    );
  if (url !== undefined) return "searxng";
  return ENGINE_NAMES.find((each) => env[ENGINES[each].env]?.trim()) ?? "local";
}

type EngineOptions = { search: SearchSettings; env: HostPlaces["env"]; deadlineMs: number };

function createEngineProvider(name: EngineName, options: EngineOptions): SearchProvider {
  const engine: SearchEngine = ENGINES[name];
  const base = findBaseUrl(name, options);
  const key = findKey(engine, options);
  let transport: Transport | undefined;
  return {
    name,
    hosts: base ? [new URL(base).hostname] : [],
    async search(query, { limit, signal }) {
      if (!base) throw new SearchError("config", name, `${name} needs its address: set search.url`);
      if (engine.needsKey && !key) throw describeMissingKey(name, options.search);
      transport ??= createTransport({ proxyEnv: { ...options.env } });
      const asked = engine.ask(base, query, { limit, key });
      const { deadlineMs } = options;
      const hits = engine.read(
        await requestJson(transport, { provider: name, ...asked, signal, deadlineMs }),
      );
      if (!hits)
        throw new SearchError("bad_reply", name, `${name} answered in a form that it should not have`);
      // Engines mark the words that were found with tags.
      const { readMarkup } = await import("./document-text.ts");
      const clean = (text: string) => readMarkup(cutAt(text, MAX_MARKED_CHARS));
      return hits.map(({ title, url, snippet }) => ({ title: clean(title), url, snippet: clean(snippet) }));
    },
    close() {
      transport?.close();
    },
  };
}

/** The address without a slash at its end. A key never travels in the clear, but to this machine itself. */
function findBaseUrl(name: EngineName, { search, env }: EngineOptions): string | undefined {
  const engine: SearchEngine = ENGINES[name];
  const text = search.url ?? engine.url ?? env[engine.env];
  if (!text) return undefined;
  const url = URL.parse(text);
  const wrong = (why: string, hint: string) => new RetinueError("config", `search.url ${why}`, hint);
  if (!url || !/^https?:$/.test(url.protocol))
    throw wrong("is not an http or https address", "write an address such as https://search.example.org");
  const isHere = /^(?:127(?:\.\d+){3}|localhost|\[::1\])$/.test(url.hostname);
  if (engine.needsKey && url.protocol === "http:" && !isHere)
    throw wrong("would send the key in the clear", "use an https address");
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function findKey(engine: SearchEngine, { search, env }: EngineOptions): string {
  if (!engine.needsKey) return "";
  const key = search.key ?? env[search.keyEnv ?? engine.env] ?? "";
  // What a header cannot hold is no key, and must not be shown in the error of the one who tries.
  return /^[\x21-\x7e]+$/.test(key.trim()) ? key.trim() : "";
}

function describeMissingKey(name: EngineName, { keyEnv }: SearchSettings): SearchError {
  const variable = keyEnv ?? ENGINES[name].env;
  return new SearchError("auth", name, `${name} needs a key: set ${variable} in the environment`);
}

/** One question to a search engine. */
type JsonRequest = {
  provider: string;
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON by POST; without it, GET. */
  body?: object;
  signal: AbortSignal;
  deadlineMs: number;
};

const MAX_BYTES = 4_000_000;

/** Asks and gives the answer's JSON value. Rejects only with `SearchError`. */
async function requestJson(transport: Transport, request: JsonRequest): Promise<unknown> {
  const { provider, url, body } = request;
  const deadline = AbortSignal.timeout(request.deadlineMs);
  const signal = AbortSignal.any([request.signal, deadline]);
  const headers = {
    accept: "application/json",
    ...request.headers,
    ...(body && { "content-type": "application/json" }),
  };
  try {
    const reply = body
      ? await transport.post(url, { headers, body: JSON.stringify(body), signal })
      : await transport.get(url, { headers, signal });
    if (reply.status !== 200) {
      reply.destroy();
      throw describeRefusal(provider, reply);
    }
    return parseReply(provider, await readReply(reply));
  } catch (thrown) {
    if (thrown instanceof SearchError) throw thrown;
    if (request.signal.aborted) throw new SearchError("cancelled", provider, "the search was cancelled");
    if (deadline.aborted)
      throw new SearchError(
        "timeout",
        provider,
        `${provider} did not answer within ${request.deadlineMs} ms`,
      );
    const failure =
      thrown instanceof TransportError && thrown.failure === "redirect" ? "refused" : "unreachable";
    throw new SearchError(failure, provider, `${provider} could not be asked: ${messageOf(thrown)}`);
  }
}

function readReply(reply: TransportReply): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    reply.read({
      chunk(bytes) {
        size += bytes.length;
        if (size <= MAX_BYTES) chunks.push(Buffer.from(bytes));
        else reply.destroy();
      },
      end(error) {
        if (size > MAX_BYTES) reject(new Error(`its answer has more than ${MAX_BYTES} bytes`));
        else if (error) reject(error);
        else resolve(Buffer.concat(chunks));
      },
    });
  });
}

function parseReply(provider: string, body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw new SearchError("bad_reply", provider, `${provider} answered with something that is not JSON`);
  }
}

/** What a status means. The body is not quoted: it may repeat the key. */
function describeRefusal(provider: string, { status, headers }: TransportReply): SearchError {
  if (status === 401 || status === 403)
    return new SearchError("auth", provider, `${provider} refused the key or the access (HTTP ${status})`);
  if (status === 429 || status === 432 || status === 433) {
    const retryAfterMs = readRetryAfter(headers["retry-after"]);
    const when = retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1000)} s`;
    const message = `${provider} allows no more searches for now (HTTP ${status}); try again ${when}`;
    return new SearchError("rate_limited", provider, message, retryAfterMs);
  }
  if (status >= 500)
    return new SearchError("unavailable", provider, `${provider} is out of order (HTTP ${status})`);
  return new SearchError("refused", provider, `${provider} refused the search (HTTP ${status})`);
}

function readRetryAfter(value: string | string[] | undefined): number | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
