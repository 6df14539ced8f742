import type { RunResult, RunStatus } from "./result.ts";
import { filledText, list, oneOf, type Shape, shape, type TypeIn, text, textWith } from "./shape.ts";

/** More steps than this are no plan that a person could approve. */
export const MAX_PLAN_STEPS = 30;

const CALLS: Shape<number> = { type: "integer", minimum: 0, maximum: 100_000 };
const MINUTES: Shape<number> = { type: "number", minimum: 0, maximum: 100_000 };

/** One step of a plan: a task for one agent, with what it waits for, what it touches and how its success shows. */
export const PlanStepSchema = shape({
  /** Short and unique in the plan, such as `write-tests`. */
  id: textWith({ pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$" }),
  /** One line for a person. */
  title: filledText(300),
  /** Name or alias of the agent that does it. */
  role: textWith({ minLength: 1, maxLength: 100 }),
  /** The whole task as that agent reads it. */
  task: filledText(20_000),
  /** Ids of the steps whose results it needs. */
  dependsOn: list(text, { maxItems: MAX_PLAN_STEPS }),
  /** Files it will likely read or change, relative to the project. */
  files: list(textWith({ minLength: 1, maxLength: 1_000 }), { maxItems: 200 }),
  /** What must be true when it is done; at least one. */
  successCriteria: list(filledText(2_000), { minItems: 1, maxItems: 50 }),
  estimate: shape({ toolCalls: CALLS, "minutes?": MINUTES }),
  /** How hard it looks from afar. */
  "complexity?": oneOf("low", "medium", "high"),
});
export type PlanStep = TypeIn<typeof PlanStepSchema>;

/** What a planner answers with, and what a person edits: the part of a plan that is its own. */
export const PlanSchema = shape({
  "goal?": textWith({ maxLength: 20_000 }),
  "summary?": textWith({ maxLength: 5_000 }),
  "risks?": list(textWith({ maxLength: 2_000 }), { maxItems: 50 }),
  steps: list(PlanStepSchema, { minItems: 1, maxItems: MAX_PLAN_STEPS }),
});
export type PlanDraft = TypeIn<typeof PlanSchema>;

/** Life of a plan. */
export type PlanStatus = (typeof PLAN_STATUSES)[number];
export const PLAN_STATUSES = ["draft", "approved", "running", "completed", "failed"] as const;

/** A checked plan for a goal, as it is stored, shown, edited and approved. */
export type ExecutionPlan = {
  id: string;
  /** Rises with every change of the steps. */
  version: number;
  status: PlanStatus;
  goal: string;
  /** How the planner sees the way to the goal; may be empty. */
  summary: string;
  /** What could go wrong, and what the planner could not find out. */
  risks?: readonly string[];
  steps: readonly PlanStep[];
  /** The agent in whose name the steps are delegated: its rights and limits bind all of them. */
  agent: string;
  /** The project it was made for. */
  project: string;
  createdAtMs: number;
  updatedAtMs: number;
  /** The session it was made in, and the tool calls that took. */
  planning: { sessionId: string | null; toolCalls: number };
  /** The session of its latest execution. */
  executionSessionId: string | null;
  /** What was done so far; steps that succeeded are not done again. */
  results: readonly StepResult[];
};

/** How one step ended. */
export type StepResult = {
  step_id: string;
  title: string;
  role: string;
  status: RunStatus | "skipped";
  success: boolean;
  /** Why it did not begin, or what went wrong. */
  reason?: string;
  /** Another plan took its place after it failed. */
  replaced?: true;
  /** It was done by an earlier execution of the same plan. */
  reused?: true;
  /** Absent if it never began. */
  result?: RunResult;
};

/** Tool calls by phase, subtrees included. */
export type PhaseCalls = { planning: number; execution: number; review: number; total: number };

/** What executing a plan came to; files and tests are measured by the host. */
export type PlanResult = {
  plan_id: string;
  session_id: string;
  goal: string;
  status: "completed" | "failed" | "cancelled";
  success: boolean;
  summary: string;
  /** In the order of the plan that was last in force, then those that it replaced. */
  steps: readonly StepResult[];
  /** The reviewer's result; null if nothing was there to review, or no reviewer. */
  review: RunResult | null;
  /** True if a failed step led to another plan. */
  replanned: boolean;
  files_created: readonly string[];
  files_modified: readonly string[];
  files_deleted: readonly string[];
  /** Null if no tests were counted. */
  tests_run: number | null;
  tests_passed: number | null;
  warnings: readonly string[];
  tool_calls: PhaseCalls;
  tokens: number;
  /** Unknown prices are `null`, never 0. */
  cost_usd: number | null;
  duration_ms: number;
};

/** How a plan is executed. */
export type ExecutionTerms = {
  /** What happens to steps that do not depend on one that failed. */
  onFailure: "continue" | "stop";
  /** Whether the planner is asked for another way, once, when a step has failed. */
  replan: boolean;
  /** Whether changes are reviewed at the end. */
  review: boolean;
};

/** What a run that the host leads is about; kept in its row, so that any process can go on with it. */
export type Conducted =
  | { kind: "planning"; planId: string; maxSteps: number }
  | ({ kind: "execution"; planId: string } & ExecutionTerms)
  | { kind: "program" };
