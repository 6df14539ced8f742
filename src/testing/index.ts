export { type Script, type ScriptedModel, scriptedModel } from "./scripted-model.ts";
export {
  after,
  callDelegate,
  callDelegateMany,
  callTool,
  callTools,
  failWith,
  hang,
  say,
  type ScriptedCall,
  type ScriptedUsage,
  type ScriptRequest,
  type Step,
  type StepMaker,
} from "./step.ts";
export { assembleRuntime, type RuntimeInternals } from "../runtime/runtime.ts";
export { type TestRuntime, testRuntime, type TestRuntimeOptions } from "./test-runtime.ts";
