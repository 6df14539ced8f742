import type { Conduct, Move } from "../run/conductor.ts";
import type { ExecutionPlan, PlanDraft } from "../schema/plan.ts";
import type { RunResult } from "../schema/result.ts";
import { type CheckedDraft, checkDraft } from "./check-draft.ts";
import { askForPlan, askToCorrect, type PlannerAsk } from "./plan-prompts.ts";
import {
  endedResult,
  findLastRun,
  lastWords,
  type PlanningPorts,
  type PlanRecord,
  readPlanRecord,
  resultsBelow,
} from "./plan-record.ts";
import { readDraft } from "./read-draft.ts";

/** The agent that makes plans. */
export const PLANNER = "planner";

/** The planner's answer to a call, and whether it is a plan. */
export type PlannerAnswer =
  | { kind: "failed"; result: RunResult | undefined; message: string }
  | ({ kind: "answer"; text: string } & { checked: CheckedDraft });

/** Leads the run that makes a plan: the planner is asked, and asked once more if its plan is not sound. */
export function conductPlanning(ports: PlanningPorts, planId: string, maxSteps: number): Conduct {
  const next = async (): Promise<Move> => {
    const made = await ports.record.readPlan(planId);
    if (made) return { say: `Plan ${made.id} has ${made.steps.length} steps.` };
    const record = await readPlanRecord(ports.record, ports.sessionId);
    const ask = { goal: record.root?.request_content ?? "", agents: ports.agents(), maxSteps };
    const step = await askPlanner(ports, record, { ids: ["plan", "mend-plan"], first: askForPlan(ask), ask });
    if ("move" in step) return step.move;
    const runs = [...record.calls.values()].flatMap((call) => call.runs);
    const about = { id: planId, goal: ask.goal, agent: ports.agent, project: ports.projectDir };
    const planning = { sessionId: ports.sessionId, toolCalls: countCalls(resultsBelow(runs)) };
    const plan = createPlan({ ...about, planning }, step.draft, ports.now());
    await ports.record.addPlan(plan);
    return { say: `Plan ${plan.id} has ${plan.steps.length} steps.` };
  };
  return { next, report: async () => "The plan was not finished." };
}

/** A plan of checked steps, which nobody has approved yet. */
export function createPlan(
  {
    id,
    goal,
    agent,
    project,
    planning,
  }: Pick<ExecutionPlan, "id" | "goal" | "agent" | "project" | "planning">,
  { steps, summary = "", risks = [] }: PlanDraft,
  nowMs: number,
): ExecutionPlan {
  return {
    id,
    version: 1,
    status: "draft",
    goal,
    summary,
    ...(risks.length > 0 && { risks }),
    steps,
    agent,
    project,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    planning,
    executionSessionId: null,
    results: [],
  };
}

/** What to ask the planner for, under which call ids, and which steps are done already. */
export type Asking = {
  ids: readonly [first: string, second: string];
  first: string;
  ask: PlannerAsk;
  done?: readonly string[];
};

/** The planner's draft if it has given a sound one; otherwise the next move: to ask, to send back once, or to fail. */
export async function askPlanner(
  ports: PlanningPorts,
  record: PlanRecord,
  { ids, first, ask, done }: Asking,
): Promise<{ draft: PlanDraft } | { move: Move }> {
  const delegate = (id: string, task: string): { move: Move } => ({
    move: { call: { id, tool: "delegate", input: { agent: PLANNER, task } } },
  });
  const [begin, again] = ids;
  if (!record.calls.has(begin)) return delegate(begin, first);
  const id = record.calls.has(again) ? again : begin;
  const answer = await readAnswer(ports, record, { id, ask, done });
  if (answer.kind === "failed") {
    const type = answer.result?.error?.type ?? "failed";
    return { move: { fail: `the planner gave no plan: ${answer.message}`, type } };
  }
  if (answer.checked.ok) return { draft: answer.checked.draft };
  const { problems } = answer.checked;
  if (id === begin) return delegate(again, askToCorrect(ask, problems, ports.escapeText(answer.text)));
  return { move: { fail: `the plan is not valid: ${problems.join("; ")}`, type: "bad_response" } };
}

async function readAnswer(
  { projectDir }: PlanningPorts,
  record: PlanRecord,
  { id, ask, done }: { id: string; ask: PlannerAsk; done?: readonly string[] },
): Promise<PlannerAnswer> {
  const call = record.calls.get(id);
  const row = findLastRun(call);
  const result = endedResult(row);
  if (!row || result?.status !== "completed") {
    const message = result?.error?.message ?? call?.text ?? "it was not reached";
    return { kind: "failed", result, message };
  }
  const text = lastWords(row);
  const value = readDraft(text);
  const limits = { agents: ask.agents, projectDir, maxSteps: ask.maxSteps, done };
  const checked: CheckedDraft =
    value === undefined
      ? { ok: false, problems: ["the answer holds no JSON object with steps"] }
      : await checkDraft(value, limits);
  return { kind: "answer", text, checked };
}

/** Tool calls of several runs. */
export function countCalls(results: readonly RunResult[]): number {
  return results.reduce((sum, result) => sum + result.tool_calls_used, 0);
}
