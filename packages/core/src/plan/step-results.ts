import { metadataOf } from "../run/read-row.ts";
import type { ExecutionPlan, PlanStep, StepResult } from "../schema/plan.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";
import { endedResult, findLastRun, type MadeCall, type PlanRecord, refusalOf } from "./plan-record.ts";

/** Call ids of the two batches that an execution has at most. */
export const FIRST_BATCH = "execute";
export const SECOND_BATCH = "execute-again";

/** How the steps of a plan stand by the record of an execution, in the order of the plan, then those it replaced. */
export function stepResults(plan: ExecutionPlan, { calls }: PlanRecord): StepResult[] {
  const first = calls.get(FIRST_BATCH);
  const second = calls.get(SECOND_BATCH);
  const standing = new Map<string, StepResult>();
  for (const step of plan.steps) {
    const reused = plan.results.find((one) => one.step_id === step.id && one.success);
    const done = endedResult(findLastRun(first, step.id));
    const kept = done?.success ? ended(step, done) : reused && ({ ...reused, reused: true } as const);
    standing.set(step.id, kept ?? ofBatch(step, second ?? first));
  }
  const results = plan.steps.map((step) => explained(step, standing));
  return second && first ? [...results, ...replaced(first, plan)] : results;
}

function ended({ id, title, role }: Pick<PlanStep, "id" | "title" | "role">, result: RunResult): StepResult {
  const { status, success, error } = result;
  return { step_id: id, title, role, status, success, ...(error && { reason: error.message }), result };
}

function ofBatch(step: PlanStep, batch: MadeCall | undefined): StepResult {
  const row = findLastRun(batch, step.id);
  const result = endedResult(row);
  const neverBegan = result?.bailout_reason === "not_started";
  if (result && !neverBegan) return ended(step, result);
  const about = { step_id: step.id, title: step.title, role: step.role, success: false };
  if (row && !neverBegan) return { ...about, status: "running" };
  const told = batch && (refusalOf(batch, step.id) ?? (batch.runs.length === 0 ? batch.text : undefined));
  const reason = neverBegan ? result.error?.message : told;
  const begun = reason !== undefined && !reason.startsWith("not started: ");
  return { ...about, status: begun ? "failed" : "skipped", ...(reason !== undefined && { reason }) };
}

/** Says of a step that did not begin what it waited for. */
function explained(step: PlanStep, standing: ReadonlyMap<string, StepResult>): StepResult {
  const own = standing.get(step.id) ?? ofBatch(step, undefined);
  if (own.status !== "skipped") return own;
  const missing = step.dependsOn.find((id) => !standing.get(id)?.success);
  const reason = missing
    ? `it needs '${missing}', which did not succeed`
    : (own.reason ?? "it did not begin");
  return { ...own, reason: reason.replace(/^not started: /, "") };
}

/** Steps of the first batch that failed, now that another plan is in force. */
function replaced(first: MadeCall, plan: ExecutionPlan): StepResult[] {
  const byTask = new Map<string, MessageNode>();
  for (const row of first.runs) {
    const { taskId } = metadataOf(row);
    if (typeof taskId === "string") byTask.set(taskId, row);
  }
  return [...byTask].flatMap(([id, row]) => {
    const result = endedResult(row);
    if (!result || result.success || result.bailout_reason === "not_started") return [];
    const title = plan.steps.find((step) => step.id === id)?.title ?? id;
    return [{ ...ended({ id, title, role: result.agent }, result), replaced: true as const }];
  });
}

/** Results that still hold after an edit: of steps that are as they were, and so is everything they built on. */
export function keptResults(plan: ExecutionPlan, steps: readonly PlanStep[]): StepResult[] {
  const before = new Map(plan.steps.map((step) => [step.id, JSON.stringify(step)]));
  const after = new Map(steps.map((step) => [step.id, step]));
  const known = new Map<string, boolean>();
  const holds = (id: string): boolean => {
    const answer = known.get(id);
    if (answer !== undefined) return answer;
    const step = after.get(id);
    const same = step !== undefined && sameStep(step, before.get(id)) && step.dependsOn.every(holds);
    known.set(id, same);
    return same;
  };
  return plan.results.filter((one) => one.success && !one.replaced && holds(one.step_id));
}

function sameStep(step: PlanStep, before: string | undefined): boolean {
  if (before === undefined) return false;
  const sorted = (value: object) =>
    JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(step) === sorted(JSON.parse(before) as object);
}
