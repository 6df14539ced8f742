import type { ExecutionPlan, PlanDraft, PlanStep } from "../../../../../src/schema/plan.ts";

/** A plan while it is edited. */
export type Draft = Pick<ExecutionPlan, "goal" | "summary" | "risks" | "steps">;

/** One change of a draft. */
export type DraftChange =
  | { kind: "words"; goal?: string; summary?: string }
  | { kind: "step"; id: string; change: Partial<Omit<PlanStep, "id">> }
  | { kind: "added"; role: string }
  | { kind: "removed"; id: string }
  | { kind: "moved"; id: string; by: -1 | 1 };

/** The part of a plan that can be edited. */
export function draftOf({ goal, summary, risks = [], steps }: ExecutionPlan): Draft {
  return { goal, summary, risks, steps };
}

/** A draft after a change. Nothing is left waiting for a step that was removed. */
export function changeDraft(draft: Draft, change: DraftChange): Draft {
  const { steps } = draft;
  switch (change.kind) {
    case "words":
      return { ...draft, goal: change.goal ?? draft.goal, summary: change.summary ?? draft.summary };
    case "step":
      return {
        ...draft,
        steps: steps.map((step) => (step.id === change.id ? { ...step, ...change.change } : step)),
      };
    case "added":
      return { ...draft, steps: [...steps, emptyStep(steps, change.role)] };
    case "removed":
      return {
        ...draft,
        steps: steps
          .filter(({ id }) => id !== change.id)
          .map((step) => ({ ...step, dependsOn: step.dependsOn.filter((id) => id !== change.id) })),
      };
    case "moved":
      return { ...draft, steps: moved(steps, change.id, change.by) };
  }
}

/** A draft as the server takes it: lines that say nothing are left out. */
export function sentDraft({ goal, summary, risks = [], steps }: Draft): PlanDraft {
  const told = (lines: readonly string[]) => lines.map((line) => line.trim()).filter(Boolean);
  return {
    goal: goal.trim(),
    summary: summary.trim(),
    risks,
    steps: steps.map((step) => ({
      ...step,
      files: told(step.files),
      successCriteria: told(step.successCriteria),
    })),
  };
}

function emptyStep(steps: readonly PlanStep[], role: string): PlanStep {
  const taken = new Set(steps.map(({ id }) => id));
  let number = steps.length + 1;
  while (taken.has(`step-${number}`)) number++;
  return {
    id: `step-${number}`,
    title: "",
    role,
    task: "",
    dependsOn: [],
    files: [],
    successCriteria: [],
    estimate: { toolCalls: 5 },
  };
}

function moved(steps: readonly PlanStep[], id: string, by: -1 | 1): readonly PlanStep[] {
  const from = steps.findIndex((step) => step.id === id);
  const step = steps[from];
  const other = steps[from + by];
  if (!step || !other) return steps;
  return steps.with(from, other).with(from + by, step);
}
