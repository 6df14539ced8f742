import { createTransport } from "@retinue/core/net/transport";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { readObject, readObjects } from "@retinue/core/schema/json-object";
import {
  SEARCH_PROVIDERS,
  type SearchProviderName,
  type SearchSettings,
} from "@retinue/core/schema/settings";
import type { Transport, TransportReply } from "@retinue/core/schema/transport";
import type { HostPlaces } from "@retinue/core/tools/tool";
import { cutAt } from "@retinue/core/tools/truncate";
import { findLocalDocuments } from "./local-documents.ts";
import type { SearchHit, SearchProvider } from "./search-provider.ts";

/** How one search engine is asked and understood. */
type SearchEngine = {
  /** Its own address; SearXNG has none, since everyone runs their own. */
  readonly url?: string;
  /** The environment variable that usually holds its key, or its address if it takes no key. */
  readonly env: string;
  readonly needsKey: boolean;
  /** What to send for a query; `base` has no slash at its end. */
  ask(base: string, query: string, options: { limit: number; key: string }): EngineQuestion;
  /** The hits in its answer; undefined if it has not the form that it should. */
  read(reply: unknown): SearchHit[] | undefined;
};

/** One question to a search engine: with a body by POST as JSON, else by GET. */
type EngineQuestion = { url: string; headers?: Readonly<Record<string, string>>; body?: object };

const MAX_BRAVE_CHARS = 400;
const MAX_BRAVE_WORDS = 50;
const MAX_MARKED_CHARS = 4_000;

const searxng: SearchEngine = {
  env: "SEARXNG_URL",
  needsKey: false,
  ask: (base, query) => ({ url: `${base}/search?${new URLSearchParams({ q: query, format: "json" })}` }),
  read: (reply) => readHits(readObject(reply).results, ["content"]),
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
    const { web } = readObject(reply);
    // Nothing found: the section is left out.
    return web === undefined || web === null ? [] : readHits(readObject(web).results, ["description"]);
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
  read: (reply) => readHits(readObject(reply).results, ["content"]),
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
  read: (reply) => readHits(readObject(reply).results, ["highlights", "summary", "text"]),
};

/** The search engines by name. */
const ENGINES = { searxng, brave, tavily, exa } as const;

function readHits(results: unknown, snippetFields: readonly string[]): SearchHit[] | undefined {
  if (!Array.isArray(results)) return undefined;
  return readObjects(results).flatMap((each) => {
    const url = readText(each.url);
    if (url === "") return [];
    const snippet = snippetFields.map((name) => readText(each[name])).find(Boolean) ?? "";
    return [{ title: readText(each.title), url, snippet }];
  });
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
      if (!base) throw new Error(`${name} needs its address: set search.url`);
      if (engine.needsKey && !key) {
        const variable = options.search.keyEnv ?? engine.env;
        throw new Error(`${name} needs a key: set ${variable} in the environment`);
      }
      transport ??= createTransport({ proxyEnv: { ...options.env } });
      const { deadlineMs } = options;
      const question = engine.ask(base, query, { limit, key });
      const hits = engine.read(await askEngine(name, question, { transport, signal, deadlineMs }));
      if (!hits) throw new Error(`${name} answered in a form that it should not have`);
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

const MAX_BYTES = 4_000_000;

/** The JSON value that an engine answers. */
async function askEngine(
  name: EngineName,
  { url, headers, body }: EngineQuestion,
  { transport, signal, deadlineMs }: { transport: Transport; signal: AbortSignal; deadlineMs: number },
): Promise<unknown> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const type = body && { "content-type": "application/json" };
  const sent = {
    headers: { accept: "application/json", ...headers, ...type },
    signal: AbortSignal.any([signal, deadline]),
  };
  let reply: TransportReply;
  let answer = "";
  try {
    reply = body
      ? await transport.post(url, { ...sent, body: JSON.stringify(body) })
      : await transport.get(url, sent);
    if (reply.status === 200) answer = await readReply(reply);
    else reply.destroy();
  } catch (thrown) {
    if (signal.aborted) throw new Error("the search was cancelled");
    if (deadline.aborted) throw new Error(`${name} did not answer within ${deadlineMs} ms`);
    throw new Error(`${name} could not be asked: ${messageOf(thrown)}`);
  }
  if (reply.status !== 200) throw new Error(describeRefusal(name, reply));
  try {
    return JSON.parse(answer);
  } catch {
    throw new Error(`${name} answered with something that is not JSON`);
  }
}

function readReply(reply: TransportReply): Promise<string> {
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
        else resolve(Buffer.concat(chunks).toString("utf8"));
      },
    });
  });
}

/** What a status means. The body is not quoted: it may repeat the key. */
function describeRefusal(name: EngineName, { status, headers }: TransportReply): string {
  if (status === 401 || status === 403) return `${name} refused the key or the access (HTTP ${status})`;
  if (status === 429 || status === 432 || status === 433) {
    const waitMs = readRetryAfter(headers["retry-after"]);
    const when = waitMs === undefined ? "later" : `in ${Math.ceil(waitMs / 1000)} s`;
    return `${name} allows no more searches for now (HTTP ${status}); try again ${when}`;
  }
  if (status >= 500) return `${name} is out of order (HTTP ${status})`;
  return `${name} refused the search (HTTP ${status})`;
}

function readRetryAfter(value: string | string[] | undefined): number | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const ms = /^\s*\d+\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
