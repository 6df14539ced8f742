import type { ProviderSettings, Settings } from "../schema/settings.ts";
import { ollamaUrl } from "./ollama/ollama-url.ts";
import type { Preset } from "./presets.ts";
import { PRESETS } from "./presets.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A provider with everything but the model decided. */
export type Provider = {
  name: string;
  kind: ProviderSettings["kind"];
  baseUrl: string;
  apiKey?: string;
  apiKeyEnv?: string;
  headers?: Readonly<Record<string, string>>;
  maxConcurrent: number;
  aliases: Preset["aliases"];
  ownIds?: RegExp;
  /** Ready to be called: it has its key or needs none. */
  usable: boolean;
  /** Nobody set it up, so it answers only to its own name. */
  onlyByName: boolean;
};

/** The provider that `RETINUE_BASE_URL` makes. */
export const LOCAL_PROVIDER = "local";

/** Every provider that settings, presets and environment name; the settings' own come first. */
export function findProviders(
  settings: Pick<Settings, "providers">,
  env: Environment,
): Map<string, Provider> {
  const providers = new Map<string, Provider>();
  const add = (name: string, given: ProviderSettings, preset?: Preset) => {
    const provider = setUpProvider(name, given, env, preset);
    if (provider && !providers.has(name)) providers.set(name, provider);
  };
  for (const [name, given] of Object.entries(settings.providers)) {
    add(name, given, Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined);
  }
  const localUrl = env.RETINUE_BASE_URL;
  if (localUrl) {
    const apiKeyEnv = env.RETINUE_API_KEY ? { apiKeyEnv: "RETINUE_API_KEY" } : {};
    add(LOCAL_PROVIDER, { kind: "openai-compatible", baseUrl: localUrl, ...apiKeyEnv });
  }
  for (const [name, preset] of Object.entries(PRESETS)) add(name, preset, preset);
  return providers;
}

/** Values of the settings win over those of the preset of the same name; a provider without any address is left out. */
function setUpProvider(
  name: string,
  given: ProviderSettings,
  env: Environment,
  preset?: Preset,
): Provider | undefined {
  const fromEnv = preset?.baseUrlEnv ? env[preset.baseUrlEnv] : undefined;
  const own: Partial<ProviderSettings> = given === preset ? {} : given;
  const address = own.baseUrl ?? (fromEnv || preset?.baseUrl) ?? defaultUrl(given.kind);
  if (!address) return undefined;
  const baseUrl = given.kind === "ollama" ? ollamaUrl(address) : address;
  const apiKeyEnv = own.apiKeyEnv ?? findKeyVariable(preset, env);
  const apiKey = given.apiKey ?? (apiKeyEnv ? env[apiKeyEnv]?.trim() || undefined : undefined);
  const needsKey = apiKeyEnv !== undefined && !isLoopback(baseUrl);
  return {
    name,
    kind: given.kind,
    baseUrl,
    maxConcurrent: given.maxConcurrent ?? Number.POSITIVE_INFINITY,
    aliases: preset?.aliases ?? {},
    usable: apiKey !== undefined || !needsKey,
    onlyByName: given === preset && preset.onlyByName === true,
    ...(apiKey !== undefined && { apiKey }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    ...(given.headers && { headers: given.headers }),
    ...(preset?.ownIds && { ownIds: preset.ownIds }),
  };
}

/** The first variable that holds a key, else the one to name in messages. */
function findKeyVariable(preset: Preset | undefined, env: Environment): string | undefined {
  const { apiKeyEnv, otherKeyEnvs = [] } = preset ?? {};
  if (apiKeyEnv === undefined) return undefined;
  return [apiKeyEnv, ...otherKeyEnvs].find((name) => env[name]?.trim()) ?? apiKeyEnv;
}

/** Three of the wire formats have one obvious address; an OpenAI-compatible server may be anywhere. */
function defaultUrl(kind: ProviderSettings["kind"]): string | undefined {
  return kind === "openai-compatible" ? undefined : PRESETS[kind]?.baseUrl;
}

function isLoopback(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? "";
  return host === "localhost" || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
