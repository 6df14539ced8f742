import { resultText } from "../delegate/result-text.ts";
import type { Conduct, Move } from "../run/conductor.ts";
import type { BatchTask } from "../schema/delegation.ts";
import {
  type ExecutionPlan,
  type ExecutionTerms,
  MAX_PLAN_STEPS,
  type PlanStep,
  type StepResult,
} from "../schema/plan.ts";
import type { ErrorType } from "../schema/result.ts";
import { cutAt } from "../tools/truncate.ts";
import { withoutDone } from "./check-draft.ts";
import { askPlanner, PLANNER } from "./make-plan.ts";
import { askForRest, reviewTask, stepTask } from "./plan-prompts.ts";
import { type PlanningPorts, type PlanRecord, readPlanRecord } from "./plan-record.ts";
import { changedFiles, planResult, REVIEW_CALL, reviewStepOf, settlePlan } from "./plan-result.ts";
import { reportOf } from "./report-plan.ts";
import { FIRST_BATCH, SECOND_BATCH, stepResults } from "./step-results.ts";

const REVIEWER = "reviewer";
/** Of a result that an earlier session has left: what fits into a task beside everything else. */
const MAX_EARLIER_CHARS = 8_000;

/** What is decided by: the plan as stored, the record as it stands. */
type Standing = { plan: ExecutionPlan; record: PlanRecord; results: readonly StepResult[] };

/** Leads the run that executes a plan: its steps, once another plan for what failed, a review, the outcome. */
export function conductExecution(ports: PlanningPorts, planId: string, terms: ExecutionTerms): Conduct {
  const look = async (): Promise<Standing> => {
    const plan = await ports.record.findPlan(planId);
    const record = await readPlanRecord(ports.record, ports.sessionId);
    return { plan, record, results: stepResults(plan, record) };
  };
  const next = async (): Promise<Move> => {
    const at = await look();
    if (!at.record.calls.has(FIRST_BATCH) && at.results.some((one) => !one.success))
      return batch(ports, at, FIRST_BATCH, terms);
    return (
      (await otherWay(ports, at, terms)) ??
      review(ports, await look(), terms) ??
      (await finish(ports, await look()))
    );
  };
  return { next, report: async () => reportOf(await planResult(ports, (await look()).plan)) };
}

/** All steps that are not done, for the scheduler: each begins when what it needs has succeeded. */
function batch(ports: PlanningPorts, at: Standing, id: string, terms: ExecutionTerms): Move {
  const { plan, results } = at;
  const done = results.filter((one) => one.success);
  const left = plan.steps.filter((step) => !done.some((one) => one.step_id === step.id));
  const tasks = withoutDone(
    left,
    done.map((one) => one.step_id),
  ).map((step, index): BatchTask => {
    const needed = done.filter((one) => left[index]?.dependsOn.includes(one.step_id));
    return taskOf(ports, step, { plan, needed, isReviewed: isReviewed(step, plan, terms) });
  });
  return {
    call: { id, tool: "delegate_many", input: { tasks, mode: "parallel", onFailure: terms.onFailure } },
  };
}

/** Whether what a step changes is reviewed later in any case. */
function isReviewed(step: PlanStep, { steps }: ExecutionPlan, terms: ExecutionTerms): boolean {
  if (step.role === REVIEWER) return false;
  return terms.review || steps.some((other) => other.role === REVIEWER && other.id !== step.id);
}

function taskOf(
  ports: PlanningPorts,
  step: PlanStep,
  { plan, needed, isReviewed }: { plan: ExecutionPlan; needed: readonly StepResult[]; isReviewed: boolean },
): BatchTask {
  const here = needed.flatMap((one) => (one.result && !one.reused ? one.result.run_id : []));
  const earlier = needed.flatMap(({ step_id: id, reused, result }) => {
    if (!reused || !result) return [];
    return resultText({ ...result, details: cutAt(result.details, MAX_EARLIER_CHARS) }, ports, id);
  });
  const task = stepTask(step, { goal: plan.goal, isReviewed });
  return {
    id: step.id,
    agent: step.role,
    task: earlier.length > 0 ? `${task}\n\n## Results this builds on\n${earlier.join("\n")}` : task,
    successCriteria: step.successCriteria.map((criterion) => `- ${criterion}`).join("\n"),
    dependsOn: step.dependsOn,
    ...(here.length > 0 && { fromResults: here }),
  };
}

/** After a failure: asks the planner for the rest, and runs that; null if there is nothing (more) to try. */
async function otherWay(ports: PlanningPorts, at: Standing, terms: ExecutionTerms): Promise<Move | null> {
  const { plan, record, results } = at;
  const agents = ports.agents();
  if (!terms.replan || record.calls.has(SECOND_BATCH) || !results.some(canBeMended)) return null;
  if (!record.calls.has(FIRST_BATCH) || !agents.some(({ name }) => name === PLANNER)) return null;
  const done = results.filter((one) => one.success).map((one) => one.step_id);
  const maxSteps = Math.max(1, MAX_PLAN_STEPS - done.length);
  const ask = { goal: plan.goal, agents: stepAgents(agents), maxSteps };
  const standing = results.map((one) => escaped(one, ports));
  const asking = { ids: ["replan", "mend-replan"] as const, first: askForRest(ask, standing), ask, done };
  const answer = await askPlanner(ports, record, asking);
  if ("move" in answer) return "fail" in answer.move ? null : answer.move;
  const kept = plan.steps.filter((step) => done.includes(step.id));
  const changed = { ...plan, version: plan.version + 1, steps: [...kept, ...answer.draft.steps] };
  await ports.record.addPlan({ ...changed, updatedAtMs: ports.now() });
  const updated = { ...at, plan: changed, results: stepResults(changed, record) };
  return batch(ports, updated, SECOND_BATCH, terms);
}

/** What a person must fix, no other plan gets around. */
const FOR_A_PERSON: ReadonlySet<ErrorType | undefined> = new Set([
  "auth",
  "config",
  "budget",
  "spawn_limit",
  "cancelled",
]);

function canBeMended({ status, success, result }: StepResult): boolean {
  return !success && status !== "skipped" && !FOR_A_PERSON.has(result?.error?.type);
}

/** A planner among the steps would plan the plan. */
export function stepAgents<One extends { name: string }>(agents: readonly One[]): One[] {
  return agents.filter(({ name }) => name !== PLANNER);
}

/** Another pair of eyes on what was changed, unless the plan has its own at the end. */
function review(
  ports: PlanningPorts,
  { plan, record, results }: Standing,
  terms: ExecutionTerms,
): Move | null {
  if (!terms.review || record.calls.has(REVIEW_CALL) || reviewStepOf(plan, results)) return null;
  const { files_created, files_modified, files_deleted } = changedFiles(record);
  const files = [...files_created, ...files_modified, ...files_deleted].sort();
  const reviewer = ports.agents().find(({ name, aliases }) => [name, ...aliases].includes(REVIEWER));
  if (files.length === 0 || !reviewer) return null;
  const standing = results.filter((one) => one.result).map((one) => escaped(one, ports));
  const input = { agent: reviewer.name, task: reviewTask(plan.goal, files, standing) };
  return { call: { id: REVIEW_CALL, tool: "delegate", input } };
}

async function finish(ports: PlanningPorts, { plan }: Standing): Promise<Move> {
  const result = await planResult(ports, plan);
  await settlePlan(ports, plan, result);
  if (result.success) return { say: reportOf(result) };
  const message = `plan ${plan.id} failed: ${result.summary}; see it with: retinue plan show ${plan.id}`;
  return { fail: message, type: "failed" };
}

/** What runs said of themselves stands in tasks for others only as data. */
function escaped(one: StepResult, { escapeText }: PlanningPorts): StepResult {
  const { reason, result } = one;
  return {
    ...one,
    ...(reason !== undefined && { reason: escapeText(reason) }),
    ...(result && { result: { ...result, summary: escapeText(result.summary) } }),
  };
}
