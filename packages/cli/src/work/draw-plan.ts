import type { ExecutionPlan, PlanStep, StepResult } from "@retinue/core/schema/plan";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine, stripControls } from "@retinue/core/text/plain-text";
import { drawTable } from "../text-layout.ts";

/** A plan for a person: what it is for, a line per step with what it waits for, then each step in full. */
export function drawPlan(plan: ExecutionPlan): string[] {
  const { id, status, version, steps, goal, summary } = plan;
  const calls = steps.reduce((sum, step) => sum + step.estimate.toolCalls, 0);
  const lines = [
    `${id}  ${status}  version ${version}  ${showCount(steps.length, "step")}, about ${showCount(calls, "tool call")}`,
    `goal: ${cutToLine(goal, 500)}`,
  ];
  if (summary) lines.push(cutToLine(summary, 500));
  for (const risk of plan.risks ?? []) lines.push(`risk: ${cutToLine(risk, 500)}`);
  const results = new Map(plan.results.filter((one) => !one.replaced).map((one) => [one.step_id, one]));
  const head = ["#", "STEP", "ROLE", "NEEDS", "CALLS", ...(results.size > 0 ? ["STATUS"] : []), "TITLE"];
  const rows = steps.map((step, index) => [
    String(index + 1),
    step.id,
    cutToLine(step.role, 20),
    listNeeds(step, steps),
    String(step.estimate.toolCalls),
    ...(results.size > 0 ? [results.get(step.id)?.status ?? "-"] : []),
    cutToLine(step.title, 70),
  ]);
  lines.push("", ...drawTable([head, ...rows]));
  for (const [index, step] of steps.entries())
    lines.push(
      "",
      ...describeStep(step, index, results.get(step.id)),
      ...describeOutcome(results.get(step.id)),
    );
  return lines;
}

/** What a step waits for, by the numbers of the table. */
function listNeeds({ dependsOn }: PlanStep, steps: readonly PlanStep[]): string {
  const numbers = dependsOn.map((id) => steps.findIndex((step) => step.id === id) + 1);
  return numbers.sort((a, b) => a - b).join(", ") || "-";
}

/** Criteria have a mark only if somebody has judged them. */
const VERDICTS = { met: "✓", not_met: "✗", not_verified: "?" } as const;

function describeStep(step: PlanStep, index: number, result: StepResult | undefined): string[] {
  const { title, task, files, successCriteria, complexity, estimate } = step;
  const rough = [complexity, estimate.minutes === undefined ? undefined : `about ${estimate.minutes} min`];
  const about = rough.filter(Boolean).join(", ");
  const verdict = result?.result?.criteria?.verdict;
  const mark = verdict ? VERDICTS[verdict] : "-";
  return [
    `${index + 1}. ${cutToLine(title, 200)}${about ? ` (${about})` : ""}`,
    ...indented(stripControls(task)),
    ...(files.length > 0 ? indented(`files: ${cutToLine(files.join(", "), 1_000)}`) : []),
    ...successCriteria.flatMap((criterion) => indented(`${mark} ${cutToLine(criterion, 500)}`)),
  ];
}

function describeOutcome(result: StepResult | undefined): string[] {
  if (!result) return [];
  const { status, reason, result: run } = result;
  return indented(`${status}: ${cutToLine(reason ?? run?.summary ?? "", 500)}`);
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `   ${line}`.trimEnd());
}
