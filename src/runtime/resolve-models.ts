import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { CallableModel } from "../loop/run.ts";
import { priceOf } from "../models/prices.ts";
import { createModels, type Models } from "../models/resolve-model.ts";
import { createTransport } from "../net/transport.ts";
import { RetinueError } from "../schema/error.ts";
import type { Settings } from "../schema/settings.ts";
import type { Transport } from "../schema/transport.ts";

/** Where models come from: given in code, or found by name through settings and environment. */
export type ModelOptions = {
  /** The default: a model object, or a name. */
  model?: LanguageModelV4 | string | undefined;
  /** Model objects by the names that agents use for them. */
  models?: Readonly<Record<string, LanguageModelV4>> | undefined;
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
};

/** Calls at once to a provider for which nobody set a limit; models given as objects have none. */
const CALLS_AT_ONCE = 32;

/** Models by name, made on first use. */
export type ModelResolver = {
  resolve(name: string, inherited: CallableModel | null): Promise<CallableModel>;
  maxConcurrent(provider: string): number;
  close(): void;
};

/** Resolves names: `inherit` is the parent's model or the default, a given object wins over a configured one. */
export function createModelResolver({ model, models = {}, settings, env }: ModelOptions): ModelResolver {
  const given = new Map<string, CallableModel>();
  const limits = new Map<string, number>();
  let transport: Transport | undefined;
  let configured: Models | undefined;
  const wrap = (name: string, object: LanguageModelV4): CallableModel => {
    const id = `${object.provider}/${object.modelId}`;
    const known = given.get(name) ?? {
      id,
      provider: object.provider,
      model: object,
      price: priceOf(object.provider, object.modelId, settings.prices),
    };
    given.set(name, known);
    return known;
  };
  const find = (name: string): CallableModel => {
    const object = models[name];
    if (object) return wrap(name, object);
    transport ??= createTransport({ proxyEnv: { ...env } });
    configured ??= createModels({ settings, env, transport });
    const asked = name === "inherit" ? configured.defaultName : name;
    if (!asked) throw noModel();
    const found = configured.resolve(asked);
    limits.set(found.provider, found.maxConcurrent);
    return { ...found, stream: found.model.stream };
  };
  return {
    async resolve(name, inherited) {
      if (name !== "inherit") return find(name);
      if (inherited) return inherited;
      return typeof model === "object" ? wrap("inherit", model) : find(model ?? "inherit");
    },
    maxConcurrent(provider) {
      const found =
        limits.get(provider) ?? settings.providers[provider]?.maxConcurrent ?? Number.POSITIVE_INFINITY;
      return limits.has(provider)
        ? Math.min(found, settings.providers[provider]?.maxConcurrent ?? CALLS_AT_ONCE)
        : found;
    },
    close: () => transport?.close(),
  };
}

function noModel(): RetinueError {
  return new RetinueError(
    "config",
    "no model is configured",
    "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or RETINUE_BASE_URL and RETINUE_MODEL for a local server, or name one with --model",
  );
}
