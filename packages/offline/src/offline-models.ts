import type { AgentModels } from "@retinue/core/run/model/callable-model";
import type { Procedure } from "./conversation.ts";
import { OFFLINE_NAMES, OFFLINE_NOTICE } from "./offline-words.ts";

/** The offline model for every agent; `procedures` come before the built-in ones. Its rules are loaded when one is first asked for. */
export function createOfflineModels(procedures: readonly Procedure[] = []): AgentModels {
  return {
    names: OFFLINE_NAMES,
    notice: OFFLINE_NOTICE,
    async create(agent) {
      const { createAgentModel: offlineModel } = await import("./offline-model.ts");
      return offlineModel(agent, procedures);
    },
  };
}
