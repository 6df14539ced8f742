/** Everything of the program that the golden sessions use, in one place. */
export type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
export {
  type Agent,
  type AgentInput,
  type AgentRegistry,
  type AnyTool,
  createRegistry,
  defineAgent,
  defineTool,
  type ReplayReport,
  RetinueError,
  type RetinueEvent,
  type RunRequest,
  type RunResult,
  type Runtime,
  type RuntimeOptions,
  type Settings,
} from "@retinue/builtin";
export { builtInTools } from "@retinue/builtin/built-in-tools";
export { withBuiltIns } from "@retinue/builtin/create-runtime";
export { loadProject, type Project } from "@retinue/builtin/load-project";
export { runCli } from "@retinue/cli/run-cli";
export type { Terminal } from "@retinue/cli/terminal";
export type { Clock } from "@retinue/core/budget/clock";
export {
  after,
  assembleRuntime,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  hang,
  type Script,
  type ScriptedModel,
  type ScriptRequest,
  type Step,
  type StepMaker,
  say,
  scriptedModel,
} from "@retinue/core/testing";
