import type { Transport } from "../schema/transport.ts";
import { ollamaUrl } from "./ollama/ollama-url.ts";
import type { Provider } from "./providers.ts";
import { modelNames } from "./wire/list-models.ts";

/** What a provider answered when it was asked for its models. */
export type Probe = { status: number; models: string[] };

const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** Asks a provider for the list of its models, with its key, and for nothing else. Rejects with `TransportError`. */
export async function probeProvider(
  provider: Provider,
  transport: Transport,
  signal: AbortSignal,
): Promise<Probe> {
  const reply = await transport.get(listOf(provider), { headers: headersOf(provider), signal });
  const text = await reply.text(MAX_LIST_BYTES);
  return { status: reply.status, models: reply.status === 200 ? namesIn(text) : [] };
}

function listOf({ kind, baseUrl }: Provider): string {
  const base = baseUrl.replace(/\/+$/, "");
  if (kind === "anthropic") return `${base.replace(/\/v1$/, "")}/v1/models`;
  return kind === "ollama" ? `${ollamaUrl(base)}/api/tags` : `${base}/models`;
}

function headersOf({ kind, apiKey, headers }: Provider): Record<string, string> {
  if (kind === "anthropic")
    return { "anthropic-version": "2023-06-01", ...(apiKey && { "x-api-key": apiKey }), ...headers };
  if (kind === "google") return { ...(apiKey && { "x-goog-api-key": apiKey }), ...headers };
  return { ...(apiKey && { authorization: `Bearer ${apiKey}` }), ...headers };
}

function namesIn(text: string): string[] {
  try {
    return modelNames(JSON.parse(text));
  } catch {
    return [];
  }
}
