import { isRecord } from "../../schema/json-object.ts";
import type { Settings } from "../../schema/settings.ts";
import type { Transport } from "../../schema/transport.ts";
import { probeProvider } from "../lazy-model.ts";
import type { Environment, Provider } from "../providers.ts";
import { findProviders } from "../providers.ts";

/** What the search needs. */
export type OllamaSearch = {
  settings: Pick<Settings, "providers">;
  env: Environment;
  transport: Transport;
};

/** How long a server may take to answer all questions; one on this machine takes a few milliseconds. */
const SEARCH_MS = 1_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** Models that are asked what they can do, latest first. */
const ASKED_MODELS = 8;

const searches = new Map<string, Promise<string | undefined>>();

/**
 * Looks once per process and address whether Ollama runs at `OLLAMA_HOST` or on its usual port, and names its latest model
 * that can call tools, as `ollama/name`. `RETINUE_DISCOVER=0` forbids the look. Never rejects.
 */
export function findOllama({ settings, env, transport }: OllamaSearch): Promise<string | undefined> {
  const provider = findProviders(settings, env).get("ollama");
  if (!provider || env.RETINUE_DISCOVER === "0") return Promise.resolve(undefined);
  const known = searches.get(provider.baseUrl);
  if (known) return known;
  const search = askServer(provider, transport).catch(() => undefined);
  searches.set(provider.baseUrl, search);
  return search;
}

async function askServer(provider: Provider, transport: Transport): Promise<string | undefined> {
  const signal = AbortSignal.timeout(SEARCH_MS);
  const key = provider.apiKey && { authorization: `Bearer ${provider.apiKey}` };
  const headers = { "content-type": "application/json", ...key, ...provider.headers };
  const { models } = await probeProvider(provider, transport, signal);
  for (const model of models.slice(0, ASKED_MODELS)) {
    const body = JSON.stringify({ model });
    const reply = await transport.post(`${provider.baseUrl}/api/show`, { headers, body, signal });
    const text = await reply.text(MAX_ANSWER_BYTES);
    const about: unknown = reply.status === 200 ? JSON.parse(text) : undefined;
    if (isRecord(about) && Array.isArray(about.capabilities) && about.capabilities.includes("tools"))
      return `${provider.name}/${model}`;
  }
  return undefined;
}
