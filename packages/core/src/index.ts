export { type AgentInput, defineAgent } from "./agents/define-agent.ts";
export { AGENT_FRONTMATTER_SCHEMA } from "./agents/frontmatter-schema.ts";
export { type LoadOptions, loadAgents } from "./agents/load-agents.ts";
export { type AgentRegistry, createRegistry } from "./agents/registry.ts";
export type { SpawnOptions, SpawnTask } from "./delegate/spawn-options.ts";
export { AnsweredElsewhere, type Approver } from "./host/approvals.ts";
export type { RuntimeOptions } from "./host/create-host.ts";
export { PlanLeft } from "./plan/plan-errors.ts";
export type { ExecuteOptions, PlanOptions } from "./plan/plans.ts";
export type { Record } from "./record/record.ts";
export { createSqliteRecord } from "./record/sqlite/create-sqlite-record.ts";
export type { Divergence } from "./replay/divergence.ts";
export type { ReplayReport } from "./replay/replay-session.ts";
export type { AgentModels } from "./run/model/callable-model.ts";
export type { ApprovalAnswer, ApprovalRequest } from "./run/ports.ts";
export { createRuntime, type Runtime } from "./runtime/create-runtime.ts";
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
export type { PermissionMode } from "./schema/rights.ts";
export type { Settings } from "./schema/settings.ts";
export type { ProgramSession, SessionOptions } from "./session/program-session.ts";
export type { RunRequest } from "./session/root-run.ts";
export type { ResumedHandle, RunHandle } from "./session/sessions.ts";
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
