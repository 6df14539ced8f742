import type { LanguageModelV4 } from "@ai-sdk/provider";
import { findOutputLimit, findPrice } from "../models/prices.ts";
import { checkModelName, createModels, type ModelSources, type Models } from "../models/resolve-model.ts";
import { createTransport } from "../net/transport.ts";
import type { AgentModels, CallableModel } from "../run/model/callable-model.ts";
import type { Agent } from "../schema/agent.ts";
import { RetinueError } from "../schema/error.ts";
import { findOwn } from "../schema/find-own.ts";
import type { Settings } from "../schema/settings.ts";
import type { Transport } from "../schema/transport.ts";
import { unavailable, withFallbacks } from "./with-fallbacks.ts";

/** Where models come from: given in code, or found by name through settings and environment. */
export type ModelOptions = {
  /** The default: a model object, or a name. */
  model?: LanguageModelV4 | string | undefined;
  /** Model objects by the names that agents use for them. */
  models?: Readonly<Record<string, LanguageModelV4>> | undefined;
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  agentModels?: AgentModels | undefined;
  /** Takes what a person must be told. */
  onNotice?: (notice: { level: "warning"; message: string }) => void;
};

const HOW_TO_ADD_A_MODEL =
  "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or RETINUE_BASE_URL and RETINUE_MODEL for a server of your own, or start Ollama";

/** Calls at once to a provider for which nobody set a limit; models given as objects have none. */
const CALLS_AT_ONCE = 32;

/** Who only leads others needs no model, so it is missed when it is called. */
const NO_MODEL = unavailable(
  "none",
  new RetinueError("config", "no model is configured", HOW_TO_ADD_A_MODEL),
);

/** Models by name, made on first use. */
export type ModelResolver = {
  resolve(name: string, inherited: CallableModel | null, agent: Agent): Promise<CallableModel>;
  maxConcurrent(provider: string): number;
  close(): void;
};

/**
 * Resolves names: `inherit` is the parent's model or the default, a given object wins over a configured one. With no
 * default every agent gets its own of the `agentModels`, if there are any.
 */
export function createModelResolver(options: ModelOptions): ModelResolver {
  const { model, models = {}, settings, env, agentModels } = options;
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
      price: findPrice(object.provider, object.modelId, settings.prices),
      output: findOutputLimit(object.provider, object.modelId, settings.prices),
    };
    given.set(name, known);
    return known;
  };
  let isTold = false;
  const stepIn = (agent: Agent) => {
    if (!agentModels) return NO_MODEL;
    if (!isTold) options.onNotice?.({ level: "warning", message: agentModels.notice });
    isTold = true;
    return agentModels.create(agent);
  };
  const findAgentModels = (name: string) =>
    agentModels?.names.includes(findOwn(settings.aliases, name) ?? name) ? agentModels : undefined;
  const find = async (name: string, agent: Agent): Promise<CallableModel> => {
    const object = findOwn(models, name);
    if (object) return wrap(name, object);
    const own = findAgentModels(name);
    if (own) return own.create(agent);
    transport ??= createTransport({ proxyEnv: { ...env } });
    configured ??= createModels({ settings, env, transport });
    if (!configured.defaultName && configured.usable.length === 0 && !name.includes("/"))
      configured = await discover(configured, { settings, env, transport });
    const asked = name === "inherit" ? configured.defaultName : name;
    if (!asked) return stepIn(agent);
    const standing = findAgentModels(asked);
    if (standing) return standing.create(agent);
    const found = configured.resolve(asked);
    limits.set(found.provider, found.maxConcurrent);
    return { ...found, stream: found.model.stream };
  };
  return {
    async resolve(name, inherited, agent) {
      const findFor = (other: string) => find(other, agent);
      if (name !== "inherit") return withFallbacks(name, settings.fallbacks, findFor);
      const above = inherited?.passedOn ?? inherited;
      if (above) return agentModels?.names.includes(above.id) ? agentModels.create(agent) : above;
      if (typeof model !== "object") return withFallbacks(model ?? name, settings.fallbacks, findFor);
      return withFallbacks(name, settings.fallbacks, async (other) =>
        other === name ? wrap(name, model) : findFor(other),
      );
    },
    maxConcurrent(provider) {
      const found =
        limits.get(provider) ??
        findOwn(settings.providers, provider)?.maxConcurrent ??
        Number.POSITIVE_INFINITY;
      return limits.has(provider)
        ? Math.min(found, findOwn(settings.providers, provider)?.maxConcurrent ?? CALLS_AT_ONCE)
        : found;
    },
    close: () => transport?.close(),
  };
}

/** Why a model of this name could not be called; null if it could. */
export function explainModel(
  name: string,
  sources: Pick<ModelOptions, "settings" | "env"> & { agentModels?: Pick<AgentModels, "names"> },
): RetinueError | null {
  if (sources.agentModels?.names.includes(sources.settings.aliases[name] ?? name)) return null;
  try {
    checkModelName(name, sources);
    return null;
  } catch (thrown) {
    if (thrown instanceof RetinueError) return thrown;
    throw thrown;
  }
}

/** With no provider set up, an Ollama server on this machine becomes the default. */
async function discover(configured: Models, sources: ModelSources): Promise<Models> {
  const { findOllama } = await import("../models/ollama/find-ollama.ts");
  const model = await findOllama(sources);
  return model ? createModels({ ...sources, settings: { ...sources.settings, model } }) : configured;
}
