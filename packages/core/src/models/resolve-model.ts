import { RetinueError } from "../schema/error.ts";
import type { Price, Settings } from "../schema/settings.ts";
import type { Transport } from "../schema/transport.ts";
import { lazyModel } from "./lazy-model.ts";
import type { Alias } from "./presets.ts";
import { ALIASES } from "./presets.ts";
import { findOutputLimit, findPrice, type OutputLimit } from "./prices.ts";
import type { Environment, Provider } from "./providers.ts";
import { findProviders, LOCAL_PROVIDER } from "./providers.ts";
import type { StreamingModel } from "./wire/wire-model.ts";

export type { StreamingModel } from "./wire/wire-model.ts";

/** A model that can be called, with what it costs and how many calls its provider takes at once. */
export type ResolvedModel = {
  /** `provider/model-id`. */
  id: string;
  provider: string;
  model: StreamingModel;
  /** `null`: unknown. */
  price: Price | null;
  output: OutputLimit;
  /** `Infinity` if nobody set a limit. */
  maxConcurrent: number;
};

/** What models are looked up in. */
export type ModelSources = {
  settings: Pick<Settings, "model" | "aliases" | "providers" | "prices" | "gateway">;
  env: Environment;
  transport: Transport;
};

/** Models by name. */
export type Models = {
  /** Throws a `RetinueError` that says what is configured and how to add more. The same name gives the same object. */
  resolve(name: string): ResolvedModel;
  /** Name of the model to use when nobody asked for one; undefined if no provider is usable. */
  defaultName: string | undefined;
  /** Providers that can be called now. */
  usable: readonly string[];
};

const MAX_ALIAS_STEPS = 5;

/**
 * Looks models up by name. An alias of the settings comes first, then the built-in ones (`fast`, `smart`, `haiku`, `sonnet`,
 * `opus`), which each provider fills with a model of its own. Otherwise the part before the first slash names the
 * provider; ids may hold more slashes. The settings' `gateway` takes every name that no provider of the settings does. A
 * name without a known provider is accepted where it can mean only one thing: it is RETINUE_MODEL, an id only one usable
 * provider has (`claude-…`, `gpt-…`), or there is only one usable provider. A server of the user's own that is the only
 * usable provider takes names of providers without a key as well.
 */
export function createModels(sources: ModelSources): Models {
  const lookup = lookUpIn(sources);
  const { usable } = lookup;
  const resolved = new Map<string, ResolvedModel>();
  return {
    resolve(name) {
      const known = resolved.get(name);
      if (known) return known;
      const { provider, modelId } = locate(name, lookup);
      const model = resolved.get(`${provider.name}/${modelId}`) ?? connect(provider, modelId, sources);
      resolved.set(name, model);
      resolved.set(model.id, model);
      return model;
    },
    defaultName: defaultName(lookup),
    usable: usable.map((provider) => provider.name),
  };
}

/** Throws what `resolve` would throw for a name, without making a model. */
export function checkModelName(name: string, sources: Omit<ModelSources, "transport">): void {
  locate(name, lookUpIn(sources));
}

type Lookup = Omit<ModelSources, "transport"> & { providers: Map<string, Provider>; usable: Provider[] };
type Place = { provider: Provider; modelId: string };

function lookUpIn({ settings, env }: Omit<ModelSources, "transport">): Lookup {
  const providers = findProviders(settings, env);
  const usable = [...providers.values()].filter((provider) => provider.usable && !provider.onlyByName);
  return { settings, env, providers, usable };
}

/** RETINUE_MODEL, the settings' model, or the `smart` one of the first usable provider that has one. */
function defaultName({ settings, env, usable }: Lookup): string | undefined {
  const chosen = env.RETINUE_MODEL || settings.model;
  if (chosen) return chosen;
  const provider = usable.find(({ aliases }) => aliases.smart);
  return provider && `${provider.name}/${provider.aliases.smart}`;
}

function locate(name: string, lookup: Lookup): Place {
  const target = followAliases(name, lookup);
  const local = localModel(target, lookup) ?? builtInAlias(target, lookup);
  if (local) return checked(local);
  const slash = target.indexOf("/");
  const provider = slash > 0 ? lookup.providers.get(target.slice(0, slash)) : undefined;
  const named = provider && slash + 1 < target.length ? { provider, modelId: target.slice(slash + 1) } : null;
  const gateway =
    target === "" || (named && isOwn(named.provider, lookup)) ? null : gatewayFor(named, lookup);
  if (gateway) return checked({ provider: gateway, modelId: target });
  if (named) return checked(named);
  const only = target === "" ? undefined : findOwnerOfBareId(target, lookup);
  if (only) return checked({ provider: only, modelId: target });
  throw unknownModel(name, lookup);
}

/** Whether the user's own settings or RETINUE_BASE_URL name the provider. */
function isOwn({ name }: Provider, { settings }: Lookup): boolean {
  return name === LOCAL_PROVIDER || Object.hasOwn(settings.providers, name);
}

/**
 * Who takes a name as it is written: the configured gateway; or RETINUE_BASE_URL or OpenRouter, which serve models of many
 * makers, if that is all there is and the named provider has no key.
 */
function gatewayFor(named: Place | null, lookup: Lookup): Provider | null {
  const { settings, providers, usable } = lookup;
  if (settings.gateway !== undefined) {
    const gateway = providers.get(settings.gateway);
    if (gateway) return gateway;
    throw new RetinueError(
      "config",
      `the gateway '${settings.gateway}' is not a provider; there are ${[...providers.keys()].join(", ")}`,
      "name one of them as the gateway in your settings, or add it to providers",
    );
  }
  const [only, ...others] = usable;
  const takesAll = only && others.length === 0 && [LOCAL_PROVIDER, "openrouter"].includes(only.name);
  return named && !named.provider.usable && takesAll ? only : null;
}

function followAliases(name: string, { settings }: Lookup): string {
  let target = name;
  for (let step = 0; step < MAX_ALIAS_STEPS; step++) {
    const next = Object.hasOwn(settings.aliases, target) ? settings.aliases[target] : undefined;
    if (next === undefined) return target;
    target = next;
  }
  throw new RetinueError(
    "config",
    `the model alias '${name}' leads in circles`,
    "let it end at provider/model-id",
  );
}

/** Local servers name models like providers (`openai/gpt-oss-20b`), so RETINUE_MODEL goes to RETINUE_BASE_URL as it is. */
function localModel(target: string, { providers, env }: Lookup): Place | undefined {
  const provider = providers.get(LOCAL_PROVIDER);
  if (!provider || !env.RETINUE_BASE_URL || target !== env.RETINUE_MODEL) return undefined;
  return { provider, modelId: target.replace(/^local\//, "") };
}

/** The alias at the provider of the default model, else the default model itself, else at the first usable provider. */
function builtInAlias(name: string, lookup: Lookup): Place | undefined {
  const alias = asAlias(name);
  if (!alias) return undefined;
  const fallback = defaultName(lookup);
  const target = fallback === undefined ? undefined : followAliases(fallback, lookup);
  if (target !== undefined && !asAlias(target)) {
    const place = locate(target, lookup);
    return aliasAt(place.provider, alias) ?? place;
  }
  for (const provider of lookup.usable) {
    const place = aliasAt(provider, alias);
    if (place) return place;
  }
  return undefined;
}

function asAlias(name: string): Alias | undefined {
  return ALIASES.find((known) => known === name);
}

function aliasAt(provider: Provider, alias: Alias): Place | undefined {
  const modelId = provider.aliases[alias];
  return modelId === undefined ? undefined : { provider, modelId };
}

function findOwnerOfBareId(id: string, { providers, usable }: Lookup): Provider | undefined {
  const owner = [...providers.values()].find((provider) => provider.ownIds?.test(id));
  if (owner && (owner.usable || usable.length === 0)) return owner;
  return usable.length === 1 ? usable[0] : undefined;
}

function checked(place: Place): Place {
  const { provider, modelId } = place;
  if (provider.usable) return place;
  throw new RetinueError(
    "auth",
    `the model '${provider.name}/${modelId}' needs a key: ${provider.apiKeyEnv} is not set`,
    `set ${provider.apiKeyEnv}, name a gateway for it in your settings, or choose another model with --model`,
  );
}

function connect(provider: Provider, modelId: string, { settings, transport }: ModelSources): ResolvedModel {
  return {
    id: `${provider.name}/${modelId}`,
    provider: provider.name,
    model: lazyModel(provider, modelId, transport),
    price: findPrice(provider.name, modelId, settings.prices),
    output: findOutputLimit(provider.name, modelId, settings.prices),
    maxConcurrent: provider.maxConcurrent,
  };
}

function unknownModel(name: string, { usable, providers, settings }: Lookup): RetinueError {
  const names = usable.map((provider) => provider.name);
  const aliases = [...Object.keys(settings.aliases), ...ALIASES];
  const first = name.split("/", 1)[0] ?? "";
  const why = name.includes("/") ? `'${first}' is not a provider` : "it names no provider";
  const ready = names.length > 0 ? `configured: ${names.join(", ")}` : "no provider is configured";
  const hint =
    names.length > 0
      ? `write provider/model-id, such as ${names[0]}/${name}, or an alias (${aliases.join(", ")})`
      : `set one of ${keyVariables(providers)}, or RETINUE_BASE_URL and RETINUE_MODEL for a server of your own`;
  return new RetinueError("config", `no model '${name}': ${why}; ${ready}`, hint);
}

function keyVariables(providers: Map<string, Provider>): string {
  return [...providers.values()].flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []).join(", ");
}
