import { realpath } from "node:fs/promises";
import { relative, sep } from "node:path";
import { checkGraph } from "../budget/task-graph.ts";
import { resolvePath } from "../files/resolve-path.ts";
import type { Agent } from "../schema/agent.ts";
import { checkJson } from "../schema/check-json.ts";
import { messageOf } from "../schema/error.ts";
import { MAX_PLAN_STEPS, type PlanDraft, PlanSchema, type PlanStep } from "../schema/plan.ts";

/** What a plan is checked against. */
export type DraftLimits = {
  /** Agents that the steps may be delegated to. */
  agents: readonly Agent[];
  projectDir: string;
  maxSteps?: number;
  /** Steps that are done already: others may depend on them, none may take their ids. */
  done?: readonly string[];
};

/** A checked draft, with roles and files in their own names; or everything that is wrong with it, a sentence each. */
export type CheckedDraft = { ok: true; draft: PlanDraft } | { ok: false; problems: readonly string[] };

/** Holds a draft against its schema, then against the agents, the project and itself. */
export async function checkDraft(value: unknown, limits: DraftLimits): Promise<CheckedDraft> {
  const wrong = await checkJson(PlanSchema, value);
  if (wrong.length > 0) return { ok: false, problems: wrong };
  const draft = value as PlanDraft;
  const problems: string[] = [];
  const most = Math.min(limits.maxSteps ?? MAX_PLAN_STEPS, MAX_PLAN_STEPS);
  if (draft.steps.length > most)
    problems.push(`the plan has ${draft.steps.length} steps; at most ${most} are allowed`);
  problems.push(...graphProblems(draft.steps, limits.done ?? []));
  const steps: PlanStep[] = [];
  for (const step of draft.steps) {
    const role = agentOf(step.role, limits.agents);
    if (!role) problems.push(unknownRole(step, limits.agents));
    const files = await insideProject(step, limits.projectDir, problems);
    steps.push({ ...step, role: role?.name ?? step.role, files });
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, draft: { ...draft, steps } };
}

function graphProblems(steps: readonly PlanStep[], done: readonly string[]): string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  for (const { id } of steps) {
    if (done.includes(id)) problems.push(`step '${id}' has the id of a step that is done already`);
    else if (ids.has(id)) problems.push(`two steps have the id '${id}'`);
    ids.add(id);
  }
  const known = [...ids, ...done].join(", ");
  for (const { id, dependsOn } of steps) {
    for (const needed of dependsOn)
      if (!ids.has(needed) && !done.includes(needed))
        problems.push(`step '${id}' depends on '${needed}', which is no step; steps: ${known}`);
  }
  if (problems.length > 0) return problems;
  try {
    checkGraph(withoutDone(steps, done));
    return [];
  } catch (thrown) {
    return [messageOf(thrown)];
  }
}

/** Steps as the scheduler sees them: what is done need not be waited for. */
export function withoutDone(steps: readonly PlanStep[], done: readonly string[]): PlanStep[] {
  return steps.map((step) => ({ ...step, dependsOn: step.dependsOn.filter((id) => !done.includes(id)) }));
}

function agentOf(role: string, agents: readonly Agent[]): Agent | undefined {
  const wanted = role.toLowerCase();
  return agents.find(({ name, aliases }) => [name, ...aliases].some((one) => one.toLowerCase() === wanted));
}

function unknownRole({ id, role }: PlanStep, agents: readonly Agent[]): string {
  const names = agents.map((agent) => agent.name).join(", ") || "none";
  return `step '${id}' is for '${role}', which is no agent that can be delegated to; available: ${names}`;
}

async function insideProject(step: PlanStep, projectDir: string, problems: string[]): Promise<string[]> {
  const project = await realpath(projectDir);
  const files: string[] = [];
  for (const file of step.files) {
    const real = await resolvePath(file, project).catch(() => null);
    const inside = real === project || real?.startsWith(project.endsWith(sep) ? project : project + sep);
    if (real && inside) files.push(relative(project, real).replaceAll(sep, "/") || ".");
    else problems.push(`step '${step.id}' names the file '${file}', which is not in the project`);
  }
  return files;
}
