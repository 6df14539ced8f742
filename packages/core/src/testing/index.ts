export type { RuntimeInternals } from "../host/create-host.ts";
export { type ReplayReport, replaySession } from "../replay/replay-session.ts";
export { assembleRuntime } from "../runtime/create-runtime.ts";
export { type Script, type ScriptedModel, scriptedModel } from "./scripted-model.ts";
export {
  after,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  hang,
  type ScriptedCall,
  type ScriptedUsage,
  type ScriptRequest,
  type Step,
  type StepMaker,
  say,
} from "./step.ts";
export { type TestRuntime, type TestRuntimeOptions, testRuntime } from "./test-runtime.ts";
