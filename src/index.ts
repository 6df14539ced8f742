export { type AgentInput, defineAgent } from "./agents/define-agent.ts";
export { AGENT_FRONTMATTER_SCHEMA } from "./agents/frontmatter-schema.ts";
export { type LoadOptions, loadAgents } from "./agents/load-agents.ts";
export { type AgentRegistry, createRegistry } from "./agents/registry.ts";
export type { ApprovalAnswer, ApprovalRequest } from "./loop/ports.ts";
export type { Move, Procedure, Situation } from "./models/offline/procedure.ts";
export { codeTools } from "./packs/code/code-tools.ts";
export { researchTools } from "./packs/research/research-tools.ts";
export type { Approver, PermissionMode } from "./runtime/approvals.ts";
export { AnsweredElsewhere } from "./runtime/parking/answered-elsewhere.ts";
export { PlanLeft } from "./runtime/planning/plan-errors.ts";
export type { ExecuteOptions, PlanOptions } from "./runtime/planning/plans.ts";
export type { ProgramSession, SessionOptions } from "./runtime/program-session.ts";
export type { Divergence } from "./runtime/replay/divergence.ts";
export type { ReplayReport } from "./runtime/replay/replay-session.ts";
export type { SpawnOptions, SpawnTask } from "./runtime/runs/spawn-options.ts";
export {
  createRuntime,
  type ResumedHandle,
  type RunHandle,
  type RunRequest,
  type Runtime,
  type RuntimeOptions,
} from "./runtime/runtime.ts";
export type { Agent, BrokenAgent, Deliverable, Limits, Problem } from "./schema/agent.ts";
export { RetinueError } from "./schema/error.ts";
export type { RetinueEvent } from "./schema/event.ts";
export {
  type ExecutionPlan,
  type PlanDraft,
  type PlanResult,
  PlanSchema,
  type PlanStatus,
  type PlanStep,
  type StepResult,
} from "./schema/plan.ts";
export type { MessageNode, MessageRow, SessionRow } from "./schema/record.ts";
export type { RunError, RunResult, RunStatus } from "./schema/result.ts";
export type { Settings } from "./schema/settings.ts";
export { createStore, type Store } from "./store/create-store.ts";
export {
  type AnyTool,
  type ChildHandle,
  type ChildOptions,
  type ChildTask,
  defineTool,
  type EarlierCall,
  type Spawner,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from "./tools/tool.ts";
