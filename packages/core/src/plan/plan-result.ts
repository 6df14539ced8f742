import type { Record } from "../record/record.ts";
import { isClosed } from "../run/read-row.ts";
import type { ExecutionPlan, PhaseCalls, PlanResult, PlanStatus, StepResult } from "../schema/plan.ts";
import type { MessageNode } from "../schema/record.ts";
import type { RunResult } from "../schema/result.ts";
import { addUpFiles, countTests, type FileFigures, lastRuns } from "../schema/subtree.ts";
import { cutAt } from "../tools/truncate.ts";
import { countCalls } from "./make-plan.ts";
import {
  endedResult,
  findLastRun,
  type PlanningPorts,
  type PlanRecord,
  readPlanRecord,
  resultsBelow,
} from "./plan-record.ts";
import { SECOND_BATCH, stepResults } from "./step-results.ts";

/** Call id of the review at the end. */
export const REVIEW_CALL = "review";
const PLANNER_CALLS = ["replan", "mend-replan"];

/** What an execution came to, read from the record; of one that is still running, what there is so far. */
export async function planResult(
  { record, sessionId, now }: Pick<PlanningPorts, "record" | "sessionId" | "now">,
  plan: ExecutionPlan,
): Promise<PlanResult> {
  const done = await readPlanRecord(record, sessionId);
  const { root } = done;
  const steps = stepResults(plan, done);
  const inForce = steps.filter((one) => !one.replaced);
  const success = inForce.every((one) => one.success);
  const cancelled = root?.status === "cancelled";
  const status = success ? "completed" : cancelled ? "cancelled" : "failed";
  const below = resultsBelow([...done.calls.values()].flatMap((call) => call.runs));
  const review =
    endedResult(findLastRun(done.calls.get(REVIEW_CALL))) ?? reviewStepOf(plan, steps)?.result ?? null;
  const high = review && findHigh(review.details);
  return {
    plan_id: plan.id,
    session_id: sessionId,
    goal: plan.goal,
    status,
    success,
    summary: [...(high ? [`The review found, high: ${high}`] : []), summaryOf(inForce)].join("; "),
    steps,
    review,
    replanned: done.calls.has(SECOND_BATCH),
    ...changedFiles(done),
    ...countTests(lastRuns(below.flatMap((one) => one.tests))),
    warnings: [
      ...warningsOf(steps, done, review),
      ...(high ? [`go on with: retinue run --resume ${sessionId} "Fix what the review found"`] : []),
    ],
    tool_calls: phaseCalls(plan, done, steps),
    tokens: sum(below, (one) => one.tokens.self),
    cost_usd: below.some((one) => one.cost_usd.self === null)
      ? null
      : sum(below, (one) => one.cost_usd.self ?? 0),
    duration_ms: root ? durationOf(root, now()) : 0,
  };
}

const MAX_FINDING_CHARS = 300;

/** The first finding of a review that it calls high. */
function findHigh(text: string): string | null {
  const line = text.split("\n").find((one) => HIGH.test(one) && !NONE_HIGH.test(one));
  if (line === undefined) return null;
  const finding = line
    .replace(HIGH, "")
    .replaceAll(/[*_`#]+/g, "")
    .replace(/^[\s\-•\d.):(]+/, "")
    .trim();
  return cutAt(finding, MAX_FINDING_CHARS) || null;
}

/** As a severity: `high: …`, `**High**`, `[high]`, `Severity: high`; not "high time". */
const HIGH =
  /severity\W{0,6}high\b\W*|(?:\*\*|__|\[|\()?\bhigh\b(?:\*\*|__|\]|\))?\s*(?::|–|—|-(?=\s)|,|$|(?<=[*_\])]\s*))/i;
const NONE_HIGH = /\b(?:no|none|nothing|without|0)\b[^.]{0,20}\bhigh\b|\bhigh\b\W{0,4}(?:none|0\b)/i;

/** Ends a plan with what its execution came to; false if somebody else has changed it, or executes it, meanwhile. */
export async function settlePlan(
  { record, sessionId, now }: Pick<PlanningPorts, "record" | "sessionId" | "now">,
  plan: ExecutionPlan,
  { success, steps }: Pick<PlanResult, "success" | "steps">,
): Promise<boolean> {
  if (plan.executionSessionId !== sessionId) return false;
  const status: PlanStatus = success ? "completed" : "failed";
  return record.changePlan({ ...plan, status, results: steps, updatedAtMs: now() }, ["running"]);
}

/** A plan as it stands: if the session that executed it was ended from outside, the plan ends with what was done. */
export async function settleEnded(record: Record, plan: ExecutionPlan): Promise<ExecutionPlan> {
  if (plan.status !== "running" || plan.executionSessionId === null) return plan;
  const session = await record.readSession(plan.executionSessionId);
  if (session?.status === "running") return plan;
  const ports = { record, sessionId: plan.executionSessionId, now: Date.now };
  await settlePlan(ports, plan, await planResult(ports, plan));
  return (await record.readPlan(plan.id)) ?? plan;
}

/** Plans as they stand, in their order. */
export async function settleAll(record: Record, plans: readonly ExecutionPlan[]): Promise<ExecutionPlan[]> {
  const settled: ExecutionPlan[] = [];
  for (const plan of plans) settled.push(await settleEnded(record, plan));
  return settled;
}

/** Files that runs of the execution made, changed or deleted, by the host's own measure. */
export function changedFiles({ calls }: PlanRecord): FileFigures {
  return addUpFiles(resultsBelow([...calls.values()].flatMap((call) => call.runs)));
}

/** The plan's own review of everything: a reviewer's step after all that changed files, with nothing after it. */
export function reviewStepOf(plan: ExecutionPlan, results: readonly StepResult[]): StepResult | undefined {
  const changes = ({ result }: StepResult) => [
    ...(result?.files_created ?? []),
    ...(result?.files_modified ?? []),
    ...(result?.files_deleted ?? []),
  ];
  const changing = results.filter((one) => changes(one).length > 0 && !one.reused);
  return results.find((one) => {
    if (one.role !== "reviewer" || !one.success || one.reused || one.replaced) return false;
    if (plan.steps.some((step) => step.dependsOn.includes(one.step_id))) return false;
    const before = allBefore(plan, one.step_id);
    return changing.every((step) => step.replaced || before.has(step.step_id));
  });
}

function allBefore(plan: ExecutionPlan, id: string): ReadonlySet<string> {
  const before = new Set<string>();
  const left = [id];
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    for (const needed of plan.steps.find((step) => step.id === at)?.dependsOn ?? []) {
      if (before.has(needed)) continue;
      before.add(needed);
      left.push(needed);
    }
  }
  return before;
}

/** A plan's own review counts as review; asking the planner again counts as planning. */
function phaseCalls(plan: ExecutionPlan, { calls }: PlanRecord, steps: readonly StepResult[]): PhaseCalls {
  const own = reviewStepOf(plan, steps)?.result?.run_id;
  const phases = { planning: plan.planning.toolCalls, execution: 0, review: 0 };
  for (const [id, { runs }] of calls) {
    for (const row of runs) {
      const used = countCalls(resultsBelow([row]));
      if (PLANNER_CALLS.includes(id)) phases.planning += used;
      else if (id === REVIEW_CALL || row.run_id === own) phases.review += used;
      else phases.execution += used;
    }
  }
  return { ...phases, total: phases.planning + phases.execution + phases.review };
}

function warningsOf(steps: readonly StepResult[], { calls }: PlanRecord, review: RunResult | null): string[] {
  const warnings = steps.flatMap(({ step_id, result }) =>
    (result?.warnings ?? []).map((warning) => `${step_id}: ${warning}`),
  );
  const asked = PLANNER_CALLS.map((id) => calls.get(id)).findLast((call) => call !== undefined);
  if (asked && !calls.has(SECOND_BATCH)) {
    const why =
      endedResult(findLastRun(asked))?.error?.message ?? "what the planner answered is no valid plan";
    warnings.push(`no other plan was found: ${why}`);
  }
  if (calls.has(REVIEW_CALL) && !review?.success)
    warnings.push(`the review did not succeed: ${review?.error?.message ?? "it did not begin"}`);
  return warnings;
}

function summaryOf(steps: readonly StepResult[]): string {
  const done = steps.filter((one) => one.success).length;
  const failed = steps.filter((one) => !one.success && one.status !== "skipped").map((one) => one.step_id);
  const skipped = steps.filter((one) => one.status === "skipped").map((one) => one.step_id);
  return [
    `${done} of ${steps.length} steps done`,
    failed.length > 0 ? `failed: ${failed.join(", ")}` : "",
    skipped.length > 0 ? `not begun: ${skipped.join(", ")}` : "",
  ]
    .filter(Boolean)
    .join("; ");
}

function durationOf(root: MessageNode, nowMs: number): number {
  if (isClosed(root) && root.duration_ms !== null) return root.duration_ms;
  return Math.max(0, nowMs - Date.parse(root.started_at));
}

function sum(results: readonly RunResult[], of: (one: RunResult) => number): number {
  return results.reduce((total, one) => total + of(one), 0);
}
