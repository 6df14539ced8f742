export { assistantTools } from "@retinue/assistant/assistant-tools";
export { codeTools } from "@retinue/code/code-tools";
export * from "@retinue/core";
export type { OfflineMove as Move, Procedure, Situation } from "@retinue/offline/conversation";
export { researchTools } from "@retinue/research/research-tools";
export { builtInAgents } from "./built-in-agents.ts";
export { builtInTools } from "./built-in-tools.ts";
export {
  type BuiltInOptions as RuntimeOptions,
  createBuiltInRuntime as createRuntime,
} from "./create-runtime.ts";
export { loadProject, type Project, type ProjectOptions } from "./load-project.ts";
