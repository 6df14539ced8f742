import type { ExecutionPlan, PlanDraft, PlanStep } from "@retinue/core/schema/plan";

/** A plan while it is edited. */
export type EditedPlan = Pick<ExecutionPlan, "goal" | "summary" | "risks" | "steps">;

/** One change of a draft. */
export type DraftChange =
  | { kind: "words"; goal?: string; summary?: string }
  | { kind: "step"; id: string; change: Partial<Omit<PlanStep, "id">> }
  | { kind: "added"; role: string }
  | { kind: "removed"; id: string }
  | { kind: "moved"; id: string; by: -1 | 1 };

/** The part of a plan that can be edited. */
export function draftPlan({ goal, summary, risks = [], steps }: ExecutionPlan): EditedPlan {
  return { goal, summary, risks, steps };
}

/** A draft after a change. Nothing is left waiting for a step that was removed. */
export function changeDraft(draft: EditedPlan, change: DraftChange): EditedPlan {
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
export function sentDraft({ goal, summary, risks = [], steps }: EditedPlan): PlanDraft {
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

/** What the server has against a draft: by the ids of the steps that it is about, and what is about the whole. */
export type PlanProblems = { steps: ReadonlyMap<string, readonly string[]>; general: readonly string[] };

/** Sentences such as `available: …` belong to the one before. */
const GOES_ON = /^(?:available|steps|ids): /;

/** Takes a refusal apart, so that each sentence can stand at its step. */
export function planProblems(message: string, steps: readonly Pick<PlanStep, "id">[]): PlanProblems {
  const found = new Map<string, string[]>();
  const general: string[] = [];
  for (const sentence of splitSentences(message)) {
    const about = findSteps(sentence, steps);
    for (const id of about)
      found.set(id, [...new Set([...(found.get(id) ?? []), inWords(withoutPlace(sentence))])]);
    if (about.length === 0) general.push(sentence);
  }
  return { steps: found, general };
}

function splitSentences(message: string): string[] {
  const said = message.replace(/^(?:the plan is not valid|the body cannot be used): /, "");
  const sentences: string[] = [];
  for (const part of said.split("; ")) {
    const last = sentences.at(-1);
    if (last !== undefined && GOES_ON.test(part)) sentences[sentences.length - 1] = `${last}; ${part}`;
    else sentences.push(part);
  }
  return sentences;
}

function findSteps(sentence: string, steps: readonly Pick<PlanStep, "id">[]): string[] {
  const index = /^steps\.(\d+)(?:\.|:)/.exec(sentence)?.[1];
  const at = index === undefined ? undefined : steps[Number(index)];
  if (at) return [at.id];
  const circle = /in a circle: (.+)$/.exec(sentence)?.[1]?.split(" → ") ?? [];
  const named = /(?:step|task|the id) '([^']+)'/.exec(sentence)?.[1];
  const ids = new Set([...circle, ...(named === undefined ? [] : [named])]);
  return [...new Set(steps.map(({ id }) => id))].filter((id) => ids.has(id));
}

const PLACES: readonly [RegExp, string][] = [
  [/^steps\.\d+\.successCriteria(?:\.\d+)?: /, "success criteria: "],
  [/^steps\.\d+\.dependsOn(?:\.\d+)?: /, "waits for: "],
  [/^steps\.\d+\.estimate\.toolCalls: /, "tool calls: "],
  [/^steps\.\d+\./, ""],
  [/^(?:step|task) '[^']+' /, ""],
];

/** The sentence as it reads at the step itself. */
function withoutPlace(sentence: string): string {
  for (const [place, words] of PLACES) if (place.test(sentence)) return sentence.replace(place, words);
  return sentence;
}

/** What a schema says, as people would. */
function inWords(sentence: string): string {
  return sentence
    .replace(/^tasks depend/, "steps depend")
    .replace(/: String is too short.*$/, " must not be empty")
    .replace(/: String does not match pattern.*$/, " must not be empty")
    .replace(/: Array has too few items.*$/, " need at least one line")
    .replace(/: String is too long.*$/, " is too long");
}

const kept = new Map<string, EditedPlan>();

/** A plan that was changed by others meanwhile is another one. */
const nameDraft = ({ id, version }: ExecutionPlan) => `${id} ${version}`;

/** What was changed of a plan and not saved before the page went elsewhere. */
export function keptDraft(plan: ExecutionPlan): EditedPlan | undefined {
  return kept.get(nameDraft(plan));
}

/** Keeps changes for as long as the page is open; null forgets them. */
export function keepPlanDraft(plan: ExecutionPlan, draft: EditedPlan | null): void {
  if (draft) kept.set(nameDraft(plan), draft);
  else kept.delete(nameDraft(plan));
}
