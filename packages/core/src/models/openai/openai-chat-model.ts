import type { StreamingModel, WireSettings } from "../wire/wire-model.ts";
import { createWireModel } from "../wire/wire-model.ts";
import { OpenAiReader } from "./openai-reply.ts";
import { writeOpenAiRequest } from "./openai-request.ts";

/** A model behind OpenAI's chat completions, as OpenAI, OpenRouter, DeepSeek, vLLM, llama.cpp, Ollama and LM Studio serve it. */
export function createOpenAiChatModel(settings: WireSettings): StreamingModel {
  const base = settings.baseUrl.replace(/\/+$/, "");
  const { provider, modelId } = settings;
  const host = URL.parse(base)?.hostname;
  const isOpenAi = host === "api.openai.com";
  const asksForCache = host === "openrouter.ai" && modelId.startsWith("anthropic/");
  return createWireModel(settings, {
    url: `${base}/chat/completions`,
    modelsUrl: `${base}/models`,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      ...(settings.apiKey && { authorization: `Bearer ${settings.apiKey}` }),
      ...settings.headers,
    },
    write: (options) => writeOpenAiRequest(options, { provider, modelId, isOpenAi, asksForCache }),
    reader: (options, call, emit) => new OpenAiReader(options.prompt, call, emit),
  });
}
