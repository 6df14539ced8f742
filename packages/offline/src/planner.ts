import { readQuery } from "@retinue/code/survey/search-query";
import type { PlanDraft, PlanStep } from "@retinue/core/schema/plan";
import {
  findNextCalls,
  listAnswered,
  listFaults,
  type OfflineCall,
  type Procedure,
  reportFaults,
  type Situation,
  taskSections,
  taskText,
} from "./conversation.ts";
import { cutShort, needsModel, shortenLine } from "./offline-words.ts";
import { classifyFile, isFile } from "./source-line.ts";
import { findIntent, splitRequest } from "./split-request.ts";

const MAX_PARTS = 4;
const MAX_FILES = 8;
const MAX_TASK = 5_000;
const SHOWN_GOAL = 120;

/**
 * The planner: a plan by a template. What the goal asks for is taken apart by its verbs; which files that touches comes
 * from `plan_files`.
 */
export const planner: Procedure = {
  agents: ["planner"],
  next(situation) {
    if (/^## Where the plan stands$/m.test(situation.task))
      return {
        cannot: needsModel("find another way after a step failed", "make a plan by template for a new goal"),
      };
    const goal = readGoal(situation.task);
    const parts = splitRequest(goal).slice(0, MAX_PARTS);
    if (parts.length === 0)
      return { cannot: needsModel("plan without a goal", "plan a goal that is stated") };
    const searchFor = (text: string) => ({
      tool: "plan_files",
      input: { task: text.slice(0, MAX_TASK), limit: MAX_FILES },
    });
    const canSearch = situation.tools.includes("plan_files");
    const move = findNextCalls(situation, [
      () => (canSearch ? parts.map(({ text }) => searchFor(text)) : []),
    ]);
    if (move) return move;
    const planned = parts.map(({ text, after }): PlannedPart => {
      const files = findFiles(searchFor(text), text, situation);
      const intent = findIntent(text) ?? "write";
      return { text, after, intent: intent === "plan" ? "write" : intent, files };
    });
    const plan = fillTemplate(goal, planned, readAgents(situation.task));
    const said = [
      `**Summary**: A template plan with ${plan.steps.length} steps for “${shortenLine(goal, SHOWN_GOAL)}”, made by rules: it says who does what in which order and where; how is left to the steps.`,
      `\`\`\`json\n${JSON.stringify(plan, null, 2)}\n\`\`\``,
      reportFaults(listFaults(situation.calls)),
    ];
    return { say: said.filter(Boolean).join("\n\n") };
  },
};

/** The goal itself, without the words that ask for a plan of it. */
function readGoal(task: string): string {
  return taskText(task)
    .replace(
      /^(?:please\s+)?(?:create|make|draw up|write|generate)\s+(?:a|an|the)\s+(?:[\w-]+\s+){0,2}plan\s+(?:to|for|that|of)\s*:?\s*/i,
      "",
    )
    .replace(/^plan\s+(?:how to\s+|to\s+|for\s+)?(?=\w+\s)/i, "")
    .trim();
}

/** The agents that a task offers for the steps; undefined if it says nothing of them. */
function readAgents(task: string): string[] | undefined {
  const section = /^## Agents\n+([\s\S]*?)(?=\n## |(?![\s\S]))/m.exec(taskSections(task))?.[1];
  return section === undefined
    ? undefined
    : [...section.matchAll(/^- `([^`\n]+)`/gm)].map(([, name = ""]) => name);
}

function findFiles(call: OfflineCall, text: string, situation: Situation): string[] {
  const named = readQuery(text).paths.filter((path) => isFile(path) && !path.includes(".."));
  const listed = listAnswered(situation.calls, [call]).flatMap(({ result }) => readPaths(result));
  return [...new Set([...named, ...listed])].slice(0, MAX_FILES);
}

/** The files of a list of `path  reasons`. */
function readPaths(result: string): string[] {
  return [...result.matchAll(/^(\S.*?) {2}\S/gm)].map(([, path = ""]) => path);
}

/** One part of a goal: what it asks for, the parts it builds on, and the files it likely touches. */
export type PlannedPart = {
  text: string;
  after: readonly number[];
  intent: keyof typeof STEPS;
  files: readonly string[];
};

/** What the step for each kind of work is, and what it usually takes. */
const STEPS = {
  look: {
    id: "research",
    role: "researcher",
    adds: " Change nothing.",
    criterion: "The question is answered with file and line",
    estimate: { toolCalls: 10, minutes: 3 },
  },
  debug: {
    id: "diagnose",
    role: "debugger",
    adds: " Change nothing.",
    criterion: "The cause is named with file and line",
    estimate: { toolCalls: 12, minutes: 3 },
  },
  write: {
    id: "implement",
    role: "coder",
    adds: " Use what the steps before found out. Keep to the conventions of the code around it.",
    criterion: "The tests of the touched files pass",
    estimate: { toolCalls: 20, minutes: 5 },
  },
  test: {
    id: "test",
    role: "tester",
    adds: "",
    criterion: "The tests ran; run, passed and failed are reported, each failure with file and line",
    estimate: { toolCalls: 12, minutes: 3 },
  },
  review: {
    id: "review",
    role: "reviewer",
    adds: "",
    criterion: "Findings are listed worst first with file and line, or it is said that there are none",
    estimate: { toolCalls: 8, minutes: 2 },
  },
} as const;

const MANY_FILES = 5;
const TITLE_CHARS = 120;
/** Every task repeats the goal. */
const GOAL_CHARS = 4_000;
const ASKS_FOR_FIX = /^(?:please\s+)?(?:fix|repair|correct|solve|resolve)\b/i;

/**
 * The usual way to a goal: find out, change, test, review. Changes that share a file follow each other, others run side
 * by side; a defect is diagnosed before it is fixed; a question is only looked into. Of agents that are
 * not there, no step is added.
 */
export function fillTemplate(
  given: string,
  parts: readonly PlannedPart[],
  agents?: readonly string[],
): PlanDraft {
  const goal = given.length > GOAL_CHARS ? `${given.slice(0, GOAL_CHARS)}…` : given;
  const changes = parts.filter(({ intent }) => intent === "write");
  const steps: PlanStep[] = [];
  const ids = new Map<PlannedPart, string>();
  const add = (step: PlanStep) => {
    if (agents === undefined || agents.includes(step.role)) steps.push(step);
  };
  if (changes.length > 0) add(writeFirstStep(goal, changes));
  const first = steps.map(({ id }) => id);
  for (const [index, part] of parts.entries()) {
    const step = writePart(part, `${index + 1}`, goal);
    const before = part.after.flatMap((each) => ids.get(parts[each] ?? part) ?? []);
    const needed = [...before, ...steps.filter((each) => mustFollow(step, each)).map(({ id }) => id)];
    steps.push({ ...step, dependsOn: removeDuplicates(needed.length > 0 ? needed : first) });
    ids.set(part, step.id);
  }
  if (changes.length > 0) {
    if (!steps.some(({ role }) => role === "tester")) add(writeTest(goal, steps));
    if (!steps.some(({ role }) => role === "reviewer")) add(writeReview(goal, steps));
  }
  const summary = `By template: ${steps.map(({ role, id }) => `${id} (${role})`).join(", ")}.`;
  return { goal, summary, steps };
}

/** Tests and reviews come after the changes, and changes of one file one after the other. */
function mustFollow(step: PlanStep, before: PlanStep): boolean {
  if (before.role !== "coder") return false;
  return step.role === "coder" ? overlaps(step, before) : step.role === "tester" || step.role === "reviewer";
}

function overlaps(a: PlanStep, b: PlanStep): boolean {
  return a.files.length === 0 || b.files.length === 0 || a.files.some((path) => b.files.includes(path));
}

type Draft = Omit<PlanStep, "role" | "estimate" | "complexity" | "dependsOn"> &
  Partial<Pick<PlanStep, "dependsOn">>;

function makeStep(
  intent: keyof typeof STEPS,
  { id, title, task, dependsOn = [], files, successCriteria }: Draft,
): PlanStep {
  const { role, estimate } = STEPS[intent];
  const complexity = role !== "coder" ? "low" : files.length > MANY_FILES ? "high" : "medium";
  return { id, title, role, task, dependsOn, files, successCriteria, estimate, complexity };
}

function writeFirstStep(goal: string, changes: readonly PlannedPart[]): PlanStep {
  const files = removeDuplicates(changes.flatMap((part) => part.files));
  const where = files.length > 0 ? ` Begin with ${files.join(", ")}.` : "";
  const ending = `${where} Change nothing.`;
  if (changes.every(({ text }) => ASKS_FOR_FIX.test(text)))
    return makeStep("debug", {
      id: "diagnose",
      title: "Find the cause",
      task: `Find the cause of what is to be fixed: ${endSentence(goal)} See it fail first, then go from the symptom to the line.${ending}`,
      files,
      successCriteria: [
        "The cause is named with file and line, or it is said how far it could be narrowed down",
      ],
    });
  return makeStep("look", {
    id: "research",
    title: "Find out how it is now",
    task: `Before this is done: ${endSentence(goal)} Find out how the code concerned works now, which functions and files the change will touch, which tests cover them, and which conventions it must follow.${ending}`,
    files,
    successCriteria: [
      "The places to change are named with file and line",
      "The tests that cover them are named, or it is said that there are none",
    ],
  });
}

function writePart({ text, intent, files }: PlannedPart, number: string, goal: string): PlanStep {
  const { id, adds, criterion } = STEPS[intent];
  const isChange = intent === "write";
  return makeStep(intent, {
    id: `${id}-${number}`,
    title: cutShort(text, TITLE_CHARS),
    task: `${endSentence(text)}${text === goal ? "" : ` It is part of this goal: ${endSentence(goal)}`}${adds}`,
    files: isChange ? files.filter((path) => classifyFile(path) !== "test") : files,
    successCriteria: [...(isChange ? [`It is done: ${text}`] : []), criterion],
  });
}

function writeTest(goal: string, steps: readonly PlanStep[]): PlanStep {
  const files = removeDuplicates(steps.flatMap((step) => step.files));
  return makeStep("test", {
    id: "test",
    title: "Test the change",
    task: `Write the tests that this change lacks and run them together with those of the touched files: ${endSentence(goal)}`,
    dependsOn: listIds(steps, ["coder"]),
    files: files.filter((path) => classifyFile(path) === "test"),
    successCriteria: ["Each new behaviour has a test that fails without it", "All tests that were run pass"],
  });
}

function writeReview(goal: string, steps: readonly PlanStep[]): PlanStep {
  return makeStep("review", {
    id: "review",
    title: "Review the change",
    task: `Review everything that was changed for this goal: ${endSentence(goal)} Look for defects, unsafe input, missing tests and what was left undone.`,
    dependsOn: listIds(steps, ["coder", "tester"]),
    files: removeDuplicates(steps.flatMap((step) => step.files)),
    successCriteria: [STEPS.review.criterion],
  });
}

function listIds(steps: readonly PlanStep[], roles: readonly string[]): string[] {
  return steps.filter(({ role }) => roles.includes(role)).map(({ id }) => id);
}

function endSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

function removeDuplicates<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)];
}
