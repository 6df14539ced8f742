import type { ExecutionPlan, StepResult } from "../../../../src/schema/plan.ts";

/** How a step stands, in the words of runs: one that was cut short is not simply done. */
export function standingOfStep({ status, result, success }: StepResult): string {
  if (result?.partial && success) return "partial";
  return status === "completed" && !success ? "failed" : status;
}

/** What became of the steps that are in the plan now. */
export function resultsOf({ results }: ExecutionPlan): ReadonlyMap<string, StepResult> {
  return new Map(results.filter(({ replaced }) => !replaced).map((result) => [result.step_id, result]));
}
