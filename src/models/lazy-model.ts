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
    loading ??= provider.kind === "anthropic" ? loadAnthropic(settings) : loadOpenAi(settings);
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

async function loadAnthropic(settings: WireSettings): Promise<StreamingModel> {
  const { createAnthropicModel } = await import("./anthropic.ts");
  return createAnthropicModel(settings);
}

async function loadOpenAi(settings: WireSettings): Promise<StreamingModel> {
  const { createOpenAiChatModel } = await import("./openai-chat.ts");
  return createOpenAiChatModel(settings);
}
