import type { Transport } from "../schema/transport.ts";
import type { Provider } from "./providers.ts";
import type { StreamingModel, WireSettings } from "./wire/wire-model.ts";

/** A model whose wire format is loaded with its first call, so that starting up loads none. */
export function lazyModel(provider: Provider, modelId: string, transport: Transport): StreamingModel {
  const settings: WireSettings = {
    provider: provider.name,
    modelId,
    baseUrl: provider.baseUrl,
    transport,
    ...(provider.apiKey !== undefined && { apiKey: provider.apiKey }),
    ...(provider.apiKeyEnv !== undefined && { apiKeyEnv: provider.apiKeyEnv }),
    ...(provider.headers && { headers: provider.headers }),
  };
  let loading: Promise<StreamingModel> | undefined;
  const load = () => {
    loading ??= LOAD[provider.kind](settings);
    return loading;
  };
  return {
    specificationVersion: "v4",
    provider: provider.name,
    modelId,
    supportedUrls: {},
    stream: async (options, onPart) => (await load()).stream(options, onPart),
    doStream: async (options) => (await load()).doStream(options),
    doGenerate: async (options) => (await load()).doGenerate(options),
  };
}

/** One import each, so that a model brings in no wire format but its own. */
const LOAD: Readonly<Record<Provider["kind"], (settings: WireSettings) => Promise<StreamingModel>>> = {
  anthropic: async (settings) =>
    (await import("./anthropic/anthropic-model.ts")).createAnthropicModel(settings),
  google: async (settings) => (await import("./gemini/google-model.ts")).createGoogleModel(settings),
  ollama: async (settings) => (await import("./ollama/ollama-model.ts")).createOllamaModel(settings),
  "openai-compatible": async (settings) =>
    (await import("./openai/openai-chat-model.ts")).createOpenAiChatModel(settings),
};
