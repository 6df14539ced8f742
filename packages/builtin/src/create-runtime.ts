import { findZone } from "@retinue/assistant/local-store";
import type { RuntimeOptions } from "@retinue/core/host/create-host";
import type { Environment } from "@retinue/core/models/providers";
import { createRuntime, type Runtime } from "@retinue/core/runtime/create-runtime";
import { findPlaces } from "@retinue/core/settings/places";
import type { Procedure } from "@retinue/offline/conversation";
import { createOfflineModels } from "@retinue/offline/offline-models";
import { KNOWN_TOOLS } from "./built-in-agents.ts";
import { builtInTools } from "./built-in-tools.ts";
import type { Project } from "./load-project.ts";

/** How a runtime with everything built in is set up. */
export type BuiltInOptions = RuntimeOptions & {
  /** How more agents work on the offline model; those of the built-in agents are there anyway. */
  procedures?: readonly Procedure[];
};

/** Creates a runtime that works without a key, on the offline model, and knows the built-in tools and the person's time zone. */
export function createBuiltInRuntime(options: BuiltInOptions): Runtime {
  return createRuntime(withBuiltIns(options));
}

/** The options of a runtime that works in a project as it was loaded. */
export function pickProjectOptions(
  { registry, settings, places: { dataDir, configDir } }: Project,
  place: { projectDir: string; env: Environment },
): RuntimeOptions {
  return { ...place, agents: registry, tools: builtInTools, settings, dataDir, configDir };
}

/** The options of the core for those of a runtime with everything built in. */
export function withBuiltIns({ procedures, ...options }: BuiltInOptions): RuntimeOptions {
  const env = options.env ?? process.env;
  const configDir = options.configDir ?? findPlaces(env).configDir;
  return {
    agentModels: createOfflineModels(procedures),
    knownTools: KNOWN_TOOLS,
    zone: () => findZone(options.settings?.assistant ?? {}, { env, configDir }),
    ...options,
  };
}
