import type { StreamingModel, WireSettings } from "../wire/wire-model.ts";
import { createWireModel } from "../wire/wire-model.ts";
import { GoogleReader } from "./google-reply.ts";
import { writeGoogleRequest } from "./google-request.ts";

/** A model behind Google's Gemini API. */
export function createGoogleModel(settings: WireSettings): StreamingModel {
  const base = settings.baseUrl.replace(/\/+$/, "");
  return createWireModel(settings, {
    url: `${base}/${resourceOf(settings.modelId)}:streamGenerateContent?alt=sse`,
    modelsUrl: `${base}/models?pageSize=1000`,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      ...(settings.apiKey && { "x-goog-api-key": settings.apiKey }),
      ...settings.headers,
    },
    write: (options) => writeGoogleRequest(options, settings.modelId),
    reader: (options, call, emit) => new GoogleReader(options.prompt, call, emit),
  });
}

/** The id is part of the address, so nothing in it may lead elsewhere. */
function resourceOf(modelId: string): string {
  const [, folder = "models", name = modelId] = /^(models|tunedModels)\/(.*)$/s.exec(modelId) ?? [];
  return `${folder}/${encodeURIComponent(name)}`;
}
