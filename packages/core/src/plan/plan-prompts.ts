import { loadPrompt } from "../run/load-prompt.ts";
import type { Agent } from "../schema/agent.ts";
import type { PlanStep, StepResult } from "../schema/plan.ts";
import { cutAt } from "../tools/truncate.ts";

const load = (name: string, values: Record<string, string> = {}) =>
  loadPrompt(new URL(`./prompts/${name}.md`, import.meta.url), values);

/** What every task for the planner holds. */
export type PlannerAsk = { goal: string; agents: readonly Agent[]; maxSteps: number };

const MAX_ANSWER_CHARS = 12_000;
const MAX_SUMMARY_CHARS = 500;

/** Asks for a plan. */
export function askForPlan(ask: PlannerAsk): string {
  return load("plan-goal", shared(ask));
}

/** Sends a plan back with what is wrong with it. */
export function askToCorrect(ask: PlannerAsk, problems: readonly string[], answer: string): string {
  const list = problems.map((problem) => `- ${problem}`).join("\n");
  return load("plan-correct", { ...shared(ask), problems: list, answer: cutAt(answer, MAX_ANSWER_CHARS) });
}

/** Asks for another plan for what is left. */
export function askForRest(ask: PlannerAsk, results: readonly StepResult[]): string {
  return load("plan-again", { ...shared(ask), standing: standingOf(results) });
}

/** A step as its agent reads it. */
export function stepTask(
  { task, title, files }: PlanStep,
  { goal, isReviewed }: { goal: string; isReviewed: boolean },
): string {
  const list = files.length > 0 ? `Files it is about: ${files.join(", ")}` : "";
  const review = isReviewed
    ? "The plan has its own review of everything at the end: have no other one made.\n"
    : "";
  return load("plan-step", { task, title, goal: oneLine(goal), review, files: list }).trimEnd();
}

/** Asks for a judgement on what was changed. */
export function reviewTask(goal: string, files: readonly string[], results: readonly StepResult[]): string {
  const list = files.map((file) => `- ${file}`).join("\n");
  return load("plan-review", { goal: oneLine(goal), files: list, standing: standingOf(results) });
}

/** One line per step: how it ended, and what it says of itself. */
export function standingOf(results: readonly StepResult[]): string {
  return results.map((one) => `- ${standingLine(one)}`).join("\n") || "- nothing was begun";
}

function standingLine({ step_id, title, role, status, reason, result }: StepResult): string {
  const said = cutAt(oneLine(reason ?? result?.summary ?? ""), MAX_SUMMARY_CHARS);
  return `\`${step_id}\` (${role}, ${oneLine(title)}): ${status}${said ? `. ${said}` : ""}`;
}

function shared({ goal, agents, maxSteps }: PlannerAsk): Record<string, string> {
  const list = agents.map(({ name, description }) => `- \`${name}\`: ${oneLine(description)}`);
  return { goal, maxSteps: String(maxSteps), agents: list.join("\n"), form: load("plan-form") };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
