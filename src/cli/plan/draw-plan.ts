import type { ExecutionPlan, PlanStep, StepResult } from "../../schema/plan.ts";
import { countOf } from "../measures.ts";
import { plainLine, plainText, table } from "../plain-text.ts";

/** A plan for a person: what it is for, a line per step with what it waits for, then each step in full. */
export function drawPlan(plan: ExecutionPlan): string[] {
  const { id, status, version, steps, goal, summary } = plan;
  const calls = steps.reduce((sum, step) => sum + step.estimate.toolCalls, 0);
  const lines = [
    `${id}  ${status}  version ${version}  ${countOf(steps.length, "step")}, about ${countOf(calls, "tool call")}`,
    `goal: ${plainLine(goal, 500)}`,
  ];
  if (summary) lines.push(plainLine(summary, 500));
  for (const risk of plan.risks ?? []) lines.push(`risk: ${plainLine(risk, 500)}`);
  const results = new Map(plan.results.filter((one) => !one.replaced).map((one) => [one.step_id, one]));
  const head = ["#", "STEP", "ROLE", "NEEDS", "CALLS", ...(results.size > 0 ? ["STATUS"] : []), "TITLE"];
  const rows = steps.map((step, index) => [
    String(index + 1),
    step.id,
    plainLine(step.role, 20),
    needsOf(step, steps),
    String(step.estimate.toolCalls),
    ...(results.size > 0 ? [results.get(step.id)?.status ?? "-"] : []),
    plainLine(step.title, 70),
  ]);
  lines.push("", ...table([head, ...rows]));
  for (const [index, step] of steps.entries())
    lines.push("", ...detailsOf(step, index, results.get(step.id)), ...outcomeOf(results.get(step.id)));
  return lines;
}

/** What a step waits for, by the numbers of the table. */
function needsOf({ dependsOn }: PlanStep, steps: readonly PlanStep[]): string {
  const numbers = dependsOn.map((id) => steps.findIndex((step) => step.id === id) + 1);
  return numbers.sort((a, b) => a - b).join(", ") || "-";
}

/** Criteria have a mark only if somebody has judged them. */
const VERDICTS = { met: "✓", not_met: "✗", not_verified: "?" } as const;

function detailsOf(step: PlanStep, index: number, result: StepResult | undefined): string[] {
  const { title, task, files, successCriteria, complexity, estimate } = step;
  const rough = [complexity, estimate.minutes === undefined ? undefined : `about ${estimate.minutes} min`];
  const about = rough.filter(Boolean).join(", ");
  const verdict = result?.result?.criteria?.verdict;
  const mark = verdict ? VERDICTS[verdict] : "-";
  return [
    `${index + 1}. ${plainLine(title, 200)}${about ? ` (${about})` : ""}`,
    ...indented(plainText(task)),
    ...(files.length > 0 ? indented(`files: ${plainLine(files.join(", "), 1_000)}`) : []),
    ...successCriteria.flatMap((criterion) => indented(`${mark} ${plainLine(criterion, 500)}`)),
  ];
}

function outcomeOf(result: StepResult | undefined): string[] {
  if (!result) return [];
  const { status, reason, result: run } = result;
  return indented(`${status}: ${plainLine(reason ?? run?.summary ?? "", 500)}`);
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `   ${line}`.trimEnd());
}
