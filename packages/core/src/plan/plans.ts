import { requireAgent } from "../agents/registry.ts";
import { hadProjectText } from "../delegate/recall-session.ts";
import { resolveLimits } from "../delegate/resolve-tools.ts";
import { readTree } from "../record/read-tree.ts";
import type { PlanPage } from "../record/record.ts";
import { fitToLead } from "../run/conductor.ts";
import { createId } from "../run/create-id.ts";
import { heldPrivateData, wasTainted } from "../run/read-row.ts";
import type { Host } from "../run/run.ts";
import type { Agent, Limits } from "../schema/agent.ts";
import { RetinueError } from "../schema/error.ts";
import { AT_LEAST_ONE, checkNumber } from "../schema/number-range.ts";
import {
  type ExecutionPlan,
  type ExecutionTerms,
  MAX_PLAN_STEPS,
  type PlanDraft,
  type PlanResult,
} from "../schema/plan.ts";
import type { RunResult } from "../schema/result.ts";
import { realFolder } from "../session/open-session.ts";
import type { Sessions } from "../session/sessions.ts";
import { type CheckedDraft, checkDraft } from "./check-draft.ts";
import { reachableFrom } from "./conduct-plan.ts";
import { createPlan, PLANNER } from "./make-plan.ts";
import { isRunning, noPlanner, notNow, notPlanned, PlanLeft } from "./plan-errors.ts";
import { planResult, settleAll, settleEnded, settlePlan } from "./plan-result.ts";
import { tidyDraft } from "./read-draft.ts";
import { stepAgents } from "./run-plan.ts";
import { keptResults } from "./step-results.ts";

/** How a plan is made. */
export type PlanOptions = {
  /** In whose name steps will be delegated; `main` by default. */
  agent?: string;
  /** The model that agents inherit. */
  model?: string;
  maxSteps?: number;
  limits?: Limits;
  signal?: AbortSignal;
  /** Told the session it is made in, as soon as there is one. */
  onSession?: (sessionId: string) => void;
};

/** How a plan is executed. */
export type ExecuteOptions = Partial<ExecutionTerms> & {
  model?: string;
  /** Steps at once; the agent's own limit stays. */
  maxConcurrent?: number;
  limits?: Limits;
  signal?: AbortSignal;
  /** Told the session it is executed in, as soon as there is one. */
  onSession?: (sessionId: string) => void;
};

const LEADER = "main";
const BEGINNABLE = ["draft", "approved", "failed"] as const;

/** Plans from the goal to the outcome. */
export class Plans {
  readonly #host: Host;
  readonly #sessions: Sessions;

  constructor(host: Host, sessions: Sessions) {
    this.#host = host;
    this.#sessions = sessions;
  }

  /** The plans of this project, the last changed first; all of them, unless limited. */
  async list(limit = -1): Promise<ExecutionPlan[]> {
    return (await this.page(limit)).plans;
  }

  /** A part of that list: `next` of one page is `before` of the one behind it. */
  async page(limit: number, before?: number): Promise<PlanPage> {
    const { record } = this.#host;
    const { plans, next } = await record.listPlans({ project: this.#project(), limit, before });
    return { plans: await settleAll(record, plans), next };
  }

  /** The plan whose id begins so. */
  async find(id: string): Promise<ExecutionPlan> {
    const { record } = this.#host;
    return await settleEnded(record, await record.findPlan(id));
  }

  /**
   * Asks the planner for a plan, checks it and stores it as a draft. Throws if there is none in the end, and `PlanLeft` if the
   * session is left to be resumed.
   */
  async planForGoal(goal: string, options: PlanOptions = {}): Promise<ExecutionPlan> {
    if (goal.trim() === "") throw new RetinueError("input", "there is no goal to plan for");
    checkNumber("maxSteps", options.maxSteps, AT_LEAST_ONE);
    resolveLimits(this.#host, "limits", options.limits);
    const agent = this.#leader(options.agent ?? LEADER);
    if (!this.#reachable(agent).some(({ name }) => name === PLANNER)) throw noPlanner(agent);
    const planId = createId("pln");
    const maxSteps = Math.min(options.maxSteps ?? MAX_PLAN_STEPS, MAX_PLAN_STEPS);
    const result = await this.#run(fitToLead(agent), options, {
      task: goal,
      conducted: { kind: "planning", planId, maxSteps },
      ...(options.onSession && { onSession: options.onSession }),
    });
    const plan = await this.#host.record.readPlan(planId);
    if (plan) return plan;
    throw (await this.#isLeft(result)) ? new PlanLeft(result) : notPlanned(result);
  }

  /** Stores a plan that a person or a program has made; checked as the planner's are. */
  async add(goal: string, draft: unknown, agentName = LEADER): Promise<ExecutionPlan> {
    const agent = this.#leader(agentName);
    const checked = await this.#checked(draft, agent);
    const about = {
      id: createId("pln"),
      goal: this.#host.redactor.redact(goal),
      agent: agent.name,
      project: this.#project(),
      planning: { sessionId: null, toolCalls: 0 },
    };
    const plan = createPlan(about, checked, this.#host.clock.wallMs());
    await this.#host.record.addPlan(plan);
    return plan;
  }

  /** Puts other steps into a plan, which is then a draft again; what is done and unchanged stays done. */
  async edit(id: string, draft: unknown): Promise<ExecutionPlan> {
    const plan = await this.find(id);
    if (plan.status === "running") throw isRunning(plan);
    this.#mustBeHere(plan);
    const {
      goal = plan.goal,
      summary = plan.summary,
      risks = plan.risks ?? [],
      steps,
    } = await this.#checked(draft, this.#leader(plan.agent));
    const edited: ExecutionPlan = {
      ...plan,
      version: plan.version + 1,
      status: "draft",
      goal,
      summary,
      risks,
      steps,
      results: keptResults(plan, steps),
      updatedAtMs: this.#host.clock.wallMs(),
    };
    await this.#host.record.addPlan(edited);
    return edited;
  }

  /** Marks a draft as what a person wants. */
  async approve(id: string): Promise<ExecutionPlan> {
    const plan = await this.find(id);
    if (plan.status === "approved") return plan;
    const approved: ExecutionPlan = { ...plan, status: "approved", updatedAtMs: this.#host.clock.wallMs() };
    if (await this.#host.record.changePlan(approved, ["draft"])) return approved;
    throw plan.status === "running" ? isRunning(plan) : notNow(plan, "approved");
  }

  /**
   * Executes a plan; calling it is the approval. Steps that succeeded before are not done again. Throws `PlanLeft` if the
   * session is left to be resumed: the plan then ends when that session does.
   */
  async executePlan(given: ExecutionPlan | string, options: ExecuteOptions = {}): Promise<PlanResult> {
    const { record } = this.#host;
    checkNumber("maxConcurrent", options.maxConcurrent, AT_LEAST_ONE);
    resolveLimits(this.#host, "limits", options.limits);
    const found = await this.find(typeof given === "string" ? given : given.id);
    if (found.status === "running") throw isRunning(found);
    if (found.status === "completed") throw notNow(found, "executed again");
    this.#mustBeHere(found);
    const plan =
      typeof given !== "string" && differs(given, found) ? await this.edit(found.id, given) : found;
    const agent = this.#leader(plan.agent);
    await this.#checked(plan, agent);
    const { onFailure = "continue", replan = true, review = true } = options;
    const { sessionId: plannedIn } = plan.planning;
    const planned = plannedIn === null ? [] : await readTree(record, plannedIn);
    // If the session was removed, nobody knows any more what the planner had read.
    const isUnknown = plannedIn !== null && planned.length === 0;
    const earlier = [plannedIn, ...plan.results.map((one) => one.result?.session_id)];
    const told = await Promise.all(
      earlier.map((sessionId) => (sessionId ? hadProjectText(record, sessionId) : false)),
    );
    const result = await this.#run(fitToLead(agent, options.maxConcurrent), options, {
      task: `Carry out plan ${plan.id}: ${plan.goal}`,
      conducted: { kind: "execution", planId: plan.id, onFailure, replan, review },
      tainted:
        isUnknown ||
        planned.some(wasTainted) ||
        plan.results.some((one) => one.success && one.result?.tainted),
      privateData:
        isUnknown ||
        planned.some(heldPrivateData) ||
        plan.results.some((one) => one.success && one.result?.private_data !== false),
      projectText: told.includes(true),
      onSession: async (sessionId) => {
        await this.#claim(plan, sessionId);
        options.onSession?.(sessionId);
      },
    });
    if (await this.#isLeft(result)) throw new PlanLeft(result);
    const ports = { record, sessionId: result.session_id, now: () => this.#host.clock.wallMs() };
    const last = await record.findPlan(plan.id);
    const outcome = await planResult(ports, last);
    await settlePlan(ports, last, outcome);
    return outcome;
  }

  /** Nobody else begins a plan that this process has begun. */
  async #claim(plan: ExecutionPlan, executionSessionId: string): Promise<void> {
    const { record, clock } = this.#host;
    const claimed = { ...plan, status: "running" as const, executionSessionId, updatedAtMs: clock.wallMs() };
    if (!(await record.changePlan(claimed, BEGINNABLE))) throw isRunning(plan);
  }

  async #run(
    agent: Agent,
    { model, limits, signal }: Pick<PlanOptions, "model" | "limits" | "signal">,
    request: Pick<
      Parameters<Sessions["start"]>[0],
      "task" | "conducted" | "tainted" | "privateData" | "projectText" | "onSession"
    >,
  ): Promise<RunResult> {
    if (signal?.aborted) throw new RetinueError("failed", "cancelled before it began");
    const handle = await this.#sessions.start({
      ...request,
      agent: agent.name,
      leader: agent,
      ...(model && { model }),
      ...(limits !== undefined && { limits }),
    });
    const stop = () => this.#sessions.cancel(handle.sessionId, "cancelled");
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) await stop();
    const result = await handle.result;
    signal?.removeEventListener("abort", stop);
    return result;
  }

  /** Whether the session of a result continues later, here or in another process. */
  async #isLeft({ session_id: sessionId }: RunResult): Promise<boolean> {
    return (await this.#host.record.readSession(sessionId))?.status === "running";
  }

  #project(): string {
    return realFolder(this.#host.projectDir);
  }

  #mustBeHere({ id, project }: ExecutionPlan): void {
    if (realFolder(project) === this.#project()) return;
    throw new RetinueError(
      "input",
      `plan ${id} is for another project, ${project}`,
      `name it with: -C ${project}`,
    );
  }

  #leader(name: string): Agent {
    return requireAgent(this.#host.registry, name);
  }

  #reachable(agent: Agent): readonly Agent[] {
    return reachableFrom(this.#host, agent);
  }

  async #checked(draft: unknown, agent: Agent): Promise<PlanDraft> {
    const { redactor, projectDir } = this.#host;
    const agents = stepAgents(this.#reachable(agent));
    const checked: CheckedDraft = await checkDraft(tidyDraft(redactor.redactJson(draft)), {
      agents,
      projectDir,
    });
    if (checked.ok) return checked.draft;
    throw new RetinueError(
      "input",
      `the plan is not valid: ${checked.problems.join("; ")}`,
      "see the form of a plan with: retinue plan show ID --json",
    );
  }
}

function differs(given: ExecutionPlan, stored: ExecutionPlan): boolean {
  const essence = ({ goal, summary, risks = [], steps }: ExecutionPlan) =>
    JSON.stringify([goal, summary, risks, steps]);
  return essence(given) !== essence(stored);
}
