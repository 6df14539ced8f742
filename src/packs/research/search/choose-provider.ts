import { createTransport } from "../../../net/transport.ts";
import { RetinueError } from "../../../schema/error.ts";
import { SEARCH_PROVIDERS, type SearchProviderName, type SearchSettings } from "../../../schema/settings.ts";
import type { Transport } from "../../../schema/transport.ts";
import type { HostPlaces } from "../../../tools/tool.ts";
import type { SearchProvider } from "../web-tools.ts";
import { ENGINES, type Engine } from "./engines.ts";
import { localDocumentsOf } from "./local-documents.ts";
import { requestJson } from "./request-json.ts";
import { SearchError } from "./search-error.ts";

type EngineName = keyof typeof ENGINES;

const ENGINE_NAMES = Object.keys(ENGINES) as EngineName[];
const DEADLINE_MS = 20_000;

/** What the settings ask for; else the first engine there is an address or a key for; else local documents. */
export function chooseProvider(
  search: SearchSettings,
  places: HostPlaces,
  deadlineMs: number = DEADLINE_MS,
): SearchProvider {
  const name = nameOf(search, places.env);
  return name === "local"
    ? localDocumentsOf(search, places)
    : engineProvider(name, { search, env: places.env, deadlineMs });
}

function nameOf({ provider, url, key, keyEnv }: SearchSettings, env: HostPlaces["env"]): SearchProviderName {
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

function engineProvider(name: EngineName, options: EngineOptions): SearchProvider {
  const engine: Engine = ENGINES[name];
  const base = baseOf(name, options);
  const key = keyOf(engine, options);
  let transport: Transport | undefined;
  return {
    name,
    hosts: base ? [new URL(base).hostname] : [],
    async search(query, { limit, signal }) {
      if (!base) throw new SearchError("config", name, `${name} needs its address: set search.url`);
      if (engine.needsKey && !key) throw missingKey(name, options.search);
      transport ??= createTransport({ proxyEnv: { ...options.env } });
      const asked = engine.ask(base, query, { limit, key });
      const { deadlineMs } = options;
      const hits = engine.read(
        await requestJson(transport, { provider: name, ...asked, signal, deadlineMs }),
      );
      if (!hits)
        throw new SearchError("bad_reply", name, `${name} answered in a form that it should not have`);
      return hits;
    },
    close() {
      transport?.close();
    },
  };
}

/** The address without a slash at its end. A key never travels in the clear, but to this machine itself. */
function baseOf(name: EngineName, { search, env }: EngineOptions): string | undefined {
  const engine: Engine = ENGINES[name];
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

function keyOf(engine: Engine, { search, env }: EngineOptions): string {
  if (!engine.needsKey) return "";
  const key = search.key ?? env[search.keyEnv ?? engine.env] ?? "";
  // What a header cannot hold is no key, and must not be shown in the error of the one who tries.
  return /^[\x21-\x7e]+$/.test(key.trim()) ? key.trim() : "";
}

function missingKey(name: EngineName, { keyEnv }: SearchSettings): SearchError {
  const variable = keyEnv ?? ENGINES[name].env;
  return new SearchError("auth", name, `${name} needs a key: set ${variable} in the environment`);
}
