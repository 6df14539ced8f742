import type { StreamingModel, WireSettings } from "../wire/wire-model.ts";
import { createWireModel } from "../wire/wire-model.ts";
import { OllamaReader } from "./ollama-reply.ts";
import { writeOllamaRequest } from "./ollama-request.ts";
import { ollamaUrl } from "./ollama-url.ts";

/** A model behind Ollama's own chat API. */
export function createOllamaModel(settings: WireSettings): StreamingModel {
  const base = ollamaUrl(settings.baseUrl);
  const { provider, modelId } = settings;
  return createWireModel(settings, {
    url: `${base}/api/chat`,
    modelsUrl: `${base}/api/tags`,
    headers: {
      "content-type": "application/json",
      accept: "application/x-ndjson",
      ...(settings.apiKey && { authorization: `Bearer ${settings.apiKey}` }),
      ...settings.headers,
    },
    write: (options) => writeOllamaRequest(options, { provider, modelId }),
    reader: (options, call, emit) => new OllamaReader(options.prompt, call, emit),
  });
}
