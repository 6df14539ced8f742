import type { Transport } from "../schema/transport.ts";
import type { Provider } from "./providers.ts";
import type { ModelList } from "./wire/list-models.ts";
import type { StreamingModel, WireModel, WireSettings } from "./wire/wire-model.ts";

/** A model whose wire format is loaded with its first call, so that starting up loads none. */
export function lazyModel(provider: Provider, modelId: string, transport: Transport): StreamingModel {
  let loading: Promise<WireModel> | undefined;
  let loaded: WireModel | undefined;
  const load = async () => {
    loading ??= loadModel(provider, modelId, transport);
    loaded = await loading;
    return loaded;
  };
  return {
    specificationVersion: "v4",
    provider: provider.name,
    modelId,
    supportedUrls: {},
    stream: (options, onPart) =>
      loaded ? loaded.stream(options, onPart) : load().then((model) => model.stream(options, onPart)),
    doStream: async (options) => (await load()).doStream(options),
    doGenerate: async (options) => (await load()).doGenerate(options),
  };
}

/** Asks a provider for the list of its models, with its key, and for nothing else. Rejects with `TransportError`. */
export async function probeProvider(
  provider: Provider,
  transport: Transport,
  signal: AbortSignal,
): Promise<ModelList> {
  const model = await loadModel(provider, "", transport);
  return model.listModels(signal);
}

function loadModel(provider: Provider, modelId: string, transport: Transport): Promise<WireModel> {
  const { name, baseUrl, apiKey, apiKeyEnv, headers } = provider;
  return LOAD[provider.kind]({
    provider: name,
    modelId,
    baseUrl,
    transport,
    ...(apiKey !== undefined && { apiKey }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    ...(headers && { headers }),
  });
}

/** One import each, so that a model brings in no wire format but its own. */
const LOAD: Readonly<Record<Provider["kind"], (settings: WireSettings) => Promise<WireModel>>> = {
  anthropic: async (settings) =>
    (await import("./anthropic/anthropic-model.ts")).createAnthropicModel(settings),
  google: async (settings) => (await import("./gemini/google-model.ts")).createGoogleModel(settings),
  ollama: async (settings) => (await import("./ollama/ollama-model.ts")).createOllamaModel(settings),
  "openai-compatible": async (settings) =>
    (await import("./openai/openai-chat-model.ts")).createOpenAiChatModel(settings),
};
