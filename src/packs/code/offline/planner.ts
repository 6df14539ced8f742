import { needsModel } from "../../../models/offline/offline-words.ts";
import { answerTo, faultsIn, nextCalls } from "../../../models/offline/past-calls.ts";
import type { OfflineCall, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { taskSections, taskText } from "../../../models/offline/task-text.ts";
import { wordsOf } from "../../../text/terms.ts";
import { type PlannedPart, planTemplate } from "../planning/plan-template.ts";
import { intentOf } from "./intents.ts";
import { countsIn, rankFiles } from "./rank-files.ts";
import { queryOf } from "./search-terms.ts";
import { splitRequest } from "./split-request.ts";

const MAX_PARTS = 4;
const MAX_FILES = 8;
const COUNTED_FILES = 40;
const MAX_TASK = 5_000;
/** Words of one part that are searched for when there is no better tool; ten calls must do for all. */
const SEARCHED_WORDS = 2;

/**
 * The planner: a plan by a template. What the goal asks for is taken apart by its verbs; which files that touches comes
 * from `plan_files`, or else from where its words are.
 */
export const planner: Procedure = {
  agents: ["planner"],
  next(situation) {
    if (/^## Where the plan stands$/m.test(situation.task))
      return {
        cannot: needsModel("find another way after a step failed", "make a plan by template for a new goal"),
      };
    const goal = goalOf(situation.task);
    const parts = splitRequest(goal).slice(0, MAX_PARTS);
    if (parts.length === 0)
      return { cannot: needsModel("plan without a goal", "plan a goal that is stated") };
    const calls = parts.map(({ text }) => searchesFor(text, situation.tools));
    const move = nextCalls(situation, [() => calls.flat()]);
    if (move) return move;
    const planned = parts.map(({ text, after }, index): PlannedPart => {
      const files = filesFrom(calls[index] ?? [], text, situation);
      return { text, after, intent: intentOf(text) ?? "write", files };
    });
    const faults = faultsIn(situation.calls);
    const plan = planTemplate(goal, planned, agentsIn(situation.task));
    const said = [
      `**Summary**: A template plan with ${plan.steps.length} steps for “${shortened(goal)}”, made by rules: it says who does what in which order and where; how is left to the steps.`,
      `\`\`\`json\n${JSON.stringify(plan, null, 2)}\n\`\`\``,
      ...(faults.length > 0 ? [`Did not work:\n${faults.map((fault) => `- ${fault}`).join("\n")}`] : []),
    ];
    return { say: said.join("\n\n") };
  },
};

/** The goal itself, without the words that ask for a plan of it. */
export function goalOf(task: string): string {
  return taskText(task)
    .replace(
      /^(?:please\s+)?(?:create|make|draw up|write|generate)\s+(?:a|an|the)\s+(?:[\w-]+\s+){0,2}plan\s+(?:to|for|that|of)\s*:?\s*/i,
      "",
    )
    .replace(/^plan\s+(?:how to\s+|to\s+|for\s+)?(?=\w+\s)/i, "")
    .trim();
}

/** The agents that a task offers for the steps; undefined if it says nothing of them. */
function agentsIn(task: string): string[] | undefined {
  const section = /^## Agents\n+([\s\S]*?)(?=\n## |(?![\s\S]))/m.exec(taskSections(task))?.[1];
  return section === undefined
    ? undefined
    : [...section.matchAll(/^- `([^`\n]+)`/gm)].map(([, name = ""]) => name);
}

function searchesFor(text: string, tools: readonly string[]): OfflineCall[] {
  const task = text.slice(0, MAX_TASK);
  if (tools.includes("plan_files")) return [{ tool: "plan_files", input: { task, limit: MAX_FILES } }];
  if (!tools.includes("grep")) return [];
  const [verb] = wordsOf(text);
  return queryOf(text)
    .concepts.filter(({ name }) => name !== verb)
    .slice(0, SEARCHED_WORDS)
    .map(({ pattern }) => ({
      tool: "grep",
      input: { pattern, mode: "count", ignoreCase: true, limit: COUNTED_FILES },
    }));
}

function filesFrom(calls: readonly OfflineCall[], text: string, situation: Situation): string[] {
  const { concepts, paths } = queryOf(text);
  const answers = calls.flatMap((call) => {
    const past = answerTo(situation.calls, call);
    return past && !past.failed ? [past] : [];
  });
  const listed = answers.filter(({ tool }) => tool === "plan_files").flatMap(({ result }) => pathsIn(result));
  const hits = answers
    .filter(({ tool }) => tool === "grep")
    .flatMap(({ input, result }) => {
      const concept = concepts.find(({ pattern }) => pattern === input.pattern);
      return concept ? [{ concept, counts: countsIn(result) }] : [];
    });
  const ranked = hits.length > 0 ? rankFiles(hits).map(({ path }) => path) : [];
  const named = paths.filter((path) => /\.\w+$/.test(path) && !path.includes(".."));
  return [...new Set([...named, ...listed, ...ranked])].slice(0, MAX_FILES);
}

/** The files of a list of `path  reasons`. */
function pathsIn(result: string): string[] {
  return [...result.matchAll(/^(\S.*?) {2}\S/gm)].map(([, path = ""]) => path);
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
