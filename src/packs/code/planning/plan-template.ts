import type { PlanDraft, PlanStep } from "../../../schema/plan.ts";
import type { Intent } from "../offline/intents.ts";
import { kindOf } from "../review/finding.ts";

/** One piece of a goal: what it asks for, the pieces it builds on, and the files it likely touches. */
export type PlannedPart = {
  text: string;
  after: readonly number[];
  intent: Intent;
  files: readonly string[];
};

type Role = "researcher" | "debugger" | "coder" | "tester" | "reviewer";
type Draft = Omit<PlanStep, "estimate" | "complexity">;

const CALLS: Readonly<Record<Role, number>> = {
  researcher: 10,
  debugger: 12,
  coder: 20,
  tester: 12,
  reviewer: 8,
};
const MINUTES: Readonly<Record<Role, number>> = {
  researcher: 3,
  debugger: 3,
  coder: 5,
  tester: 3,
  reviewer: 2,
};
/** Who looks at changes, and so comes after those that the plan has before. */
const JUDGES = new Set(["tester", "reviewer"]);
const MANY_FILES = 5;
const TITLE_CHARS = 120;
/** Every task repeats the goal. */
const GOAL_CHARS = 4_000;
const MENDS = /^(?:please\s+)?(?:fix|repair|correct|solve|resolve)\b/i;

/**
 * The usual way to a goal: find out, change, test, review. Changes that share a file follow each other, others run side
 * by side; a defect is diagnosed before it is mended; what only asks is looked into and nothing more. Of agents that are
 * not there, no step is added.
 */
export function planTemplate(
  given: string,
  parts: readonly PlannedPart[],
  agents?: readonly string[],
): PlanDraft {
  const goal = given.length > GOAL_CHARS ? `${given.slice(0, GOAL_CHARS)}…` : given;
  const changes = parts.filter(({ intent }) => intent === "write" || intent === "plan");
  const steps: Draft[] = [];
  const idOf = new Map<PlannedPart, string>();
  const isThere = ({ role }: Draft) => agents === undefined || agents.includes(role);
  if (changes.length > 0) steps.push(...[lookAhead(goal, changes)].filter(isThere));
  const [first] = steps.map(({ id }) => id);
  for (const [index, part] of parts.entries()) {
    const before = part.after.flatMap((each) => idOf.get(parts[each] ?? part) ?? []);
    const step = stepFor(part, `${index + 1}`, goal);
    const sharing = steps.filter(
      (each) => each.role === "coder" && step.role === "coder" && overlaps(each, step),
    );
    const judged = JUDGES.has(step.role) ? steps.filter(({ role }) => role === "coder") : [];
    const needed = [...before, ...[...sharing, ...judged].map(({ id }) => id)];
    steps.push({ ...step, dependsOn: distinct(needed.length > 0 ? needed : first ? [first] : []) });
    idOf.set(part, step.id);
  }
  if (changes.length > 0) steps.push(...closing(goal, steps, isThere));
  return { goal, summary: summaryOf(steps), steps: steps.map(withEstimate) };
}

function lookAhead(goal: string, changes: readonly PlannedPart[]): Draft {
  const files = distinct(changes.flatMap((part) => part.files));
  const mends = changes.every(({ text }) => MENDS.test(text));
  const where = files.length > 0 ? ` Begin with ${files.join(", ")}.` : "";
  return mends
    ? {
        id: "diagnose",
        title: "Find the cause",
        role: "debugger",
        task: `Find the cause of what is to be mended: ${sentence(goal)} See it fail first, then go from the symptom to the line.${where} Change nothing.`,
        dependsOn: [],
        files,
        successCriteria: [
          "The cause is named with file and line, or it is said how far it could be narrowed down",
        ],
      }
    : {
        id: "research",
        title: "Find out how it is now",
        role: "researcher",
        task: `Before this is done: ${sentence(goal)} Find out how the code concerned works now, which functions and files the change will touch, which tests cover them, and which conventions it must follow.${where} Change nothing.`,
        dependsOn: [],
        files,
        successCriteria: [
          "The places to change are named with file and line",
          "The tests that cover them are named, or it is said that there are none",
        ],
      };
}

function stepFor({ text, intent, files }: PlannedPart, number: string, goal: string): Draft {
  const title = text.length > TITLE_CHARS ? `${text.slice(0, TITLE_CHARS - 1)}…` : text;
  const base = { title, files, dependsOn: [] };
  const whole = `${sentence(text)}${text === goal ? "" : ` It is part of this goal: ${sentence(goal)}`}`;
  if (intent === "look")
    return {
      ...base,
      id: `research-${number}`,
      role: "researcher",
      task: `${whole} Change nothing.`,
      successCriteria: ["The question is answered with file and line"],
    };
  if (intent === "debug")
    return {
      ...base,
      id: `diagnose-${number}`,
      role: "debugger",
      task: `${whole} Change nothing.`,
      successCriteria: ["The cause is named with file and line"],
    };
  if (intent === "test")
    return {
      ...base,
      id: `test-${number}`,
      role: "tester",
      task: whole,
      successCriteria: [
        "The tests ran; run, passed and failed are reported, each failure with file and line",
      ],
    };
  if (intent === "review")
    return {
      ...base,
      id: `review-${number}`,
      role: "reviewer",
      task: whole,
      successCriteria: [
        "Findings are listed worst first with file and line, or it is said that there are none",
      ],
    };
  return {
    ...base,
    id: `implement-${number}`,
    role: "coder",
    files: files.filter((path) => kindOf(path) !== "test"),
    task: `${whole} Use what the steps before found out. Keep to the conventions of the code around it.`,
    successCriteria: [`It is done: ${text}`, "The tests of the touched files pass"],
  };
}

/** A test of what was changed, and a review of everything at the end. */
function closing(goal: string, steps: readonly Draft[], isThere: (step: Draft) => boolean): Draft[] {
  const coders = steps.filter(({ role }) => role === "coder").map(({ id }) => id);
  const testers = steps.filter(({ role }) => role === "tester").map(({ id }) => id);
  const files = distinct(steps.flatMap((step) => step.files));
  const test: Draft = {
    id: "test",
    title: "Test the change",
    role: "tester",
    task: `Write the tests that this change lacks and run them together with those of the touched files: ${sentence(goal)}`,
    dependsOn: coders,
    files: files.filter((path) => kindOf(path) === "test"),
    successCriteria: ["Each new behaviour has a test that fails without it", "All tests that were run pass"],
  };
  const added = (testers.length > 0 ? [] : [test]).filter(isThere);
  const reviewed: Draft = {
    id: "review",
    title: "Review the change",
    role: "reviewer",
    task: `Review everything that was changed for this goal: ${sentence(goal)} Look for defects, unsafe input, missing tests and what was left undone.`,
    dependsOn: distinct([...coders, ...testers, ...added.map(({ id }) => id)]),
    files,
    successCriteria: [
      "Findings are listed worst first with file and line, or it is said that there are none",
    ],
  };
  return steps.some(({ role }) => role === "reviewer") ? added : [...added, reviewed].filter(isThere);
}

function overlaps(a: Draft, b: Draft): boolean {
  return a.files.length === 0 || b.files.length === 0 || a.files.some((path) => b.files.includes(path));
}

function withEstimate({ id, title, role, task, dependsOn, files, successCriteria }: Draft): PlanStep {
  const known = role as Role;
  const estimate = { toolCalls: CALLS[known], minutes: MINUTES[known] };
  const complexity = known !== "coder" ? "low" : files.length > MANY_FILES ? "high" : "medium";
  return { id, title, role, task, dependsOn, files, successCriteria, estimate, complexity };
}

function summaryOf(steps: readonly Draft[]): string {
  return `By template: ${steps.map(({ role, id }) => `${id} (${role})`).join(", ")}.`;
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
