import type { StreamingModel, WireSettings } from "../wire/wire-model.ts";
import { createWireModel } from "../wire/wire-model.ts";
import { AnthropicReader } from "./anthropic-reply.ts";
import { writeAnthropicRequest } from "./anthropic-request.ts";

/** A model behind Anthropic's Messages API. */
export function createAnthropicModel(settings: WireSettings): StreamingModel {
  const base = settings.baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "");
  return createWireModel(settings, {
    url: `${base}/v1/messages`,
    modelsUrl: `${base}/v1/models`,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      "anthropic-version": "2023-06-01",
      ...(settings.apiKey && { "x-api-key": settings.apiKey }),
      ...settings.headers,
    },
    write: (options) => writeAnthropicRequest(options, settings.modelId),
    reader: (options, call, emit) => new AnthropicReader(options.prompt, call, emit),
  });
}
