import { ModelError } from "../models/model-error.ts";
import type { CallableModel } from "../run/model/callable-model.ts";
import { RetinueError } from "../schema/error.ts";
import type { Settings } from "../schema/settings.ts";

type Find = (name: string) => Promise<CallableModel>;

/**
 * A model with those that the settings name to stand in for it, by its id or by the name that was asked for. One that is
 * not set up, say because there is no key, fails when it is called, so that the record and the person are told; if all are,
 * the first one's error is thrown.
 */
export async function withFallbacks(
  name: string,
  fallbacks: Settings["fallbacks"],
  find: Find,
): Promise<CallableModel> {
  if (!fallbacks) return find(name);
  const first = await attempt(name, find);
  const names = namesFor(first.model.id, fallbacks) ?? namesFor(name, fallbacks) ?? [];
  const others = await Promise.all(names.map((other) => attempt(other, find)));
  if (first.error && others.every(({ error }) => error)) throw first.error;
  return others.length === 0 ? first.model : { ...first.model, fallbacks: others.map(({ model }) => model) };
}

function namesFor(name: string, all: NonNullable<Settings["fallbacks"]>): readonly string[] | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

async function attempt(name: string, find: Find): Promise<{ model: CallableModel; error?: RetinueError }> {
  try {
    return { model: await find(name) };
  } catch (error) {
    if (!(error instanceof RetinueError)) throw error;
    return { model: unavailable(name, error), error };
  }
}

/** Stands for a model that is not set up: every call fails with the reason. */
export function unavailable(id: string, reason: RetinueError): CallableModel {
  const { message, hint } = reason;
  const fail = async (): Promise<never> => {
    throw new ModelError({ type: "config", message: hint ? `${message} (${hint})` : message, cause: reason });
  };
  const [provider = id] = id.split("/", 1);
  const model = { specificationVersion: "v4", provider, modelId: id, supportedUrls: {} } as const;
  return { id, provider, model: { ...model, doStream: fail, doGenerate: fail }, price: null };
}
