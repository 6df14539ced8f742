import { PlanLeft } from "@retinue/core/plan/plan-errors";
import type { ExecuteOptions } from "@retinue/core/plan/plans";
import { reportOf } from "@retinue/core/plan/report-plan";
import type { Record } from "@retinue/core/record/record";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import { RetinueError } from "@retinue/core/schema/error";
import type { ExecutionPlan, PlanResult } from "@retinue/core/schema/plan";
import { stripControls } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { chooseExitCode, EXIT } from "../exit-code.ts";
import { findRealProject, type OpenProject, openSoundProject, openWorkingProject } from "../open-project.ts";
import { requireRecord } from "../open-record.ts";
import { omitAbsent, parseAmount, parseWholeNumber, SHOWING } from "../options.ts";
import type { TaskView } from "../progress/task-view.ts";
import { type Cli, changeOptions, printResult } from "../terminal.ts";
import { drawPlan } from "../work/draw-plan.ts";
import { chooseFormat, pickAgent, pickLimits, type RunOptions, readTask } from "../work/run-options.ts";
import { withRuntime } from "../work/run-task.ts";

/** What names a plan. */
export const PLAN_ID = "a plan's id or the beginning of it; `last` for this project's last plan";

/** Declares `retinue plan "goal"` and `retinue plan run`. */
export function registerPlanRun(plan: CliCommand): void {
  const make = plan
    .command("make", { isDefault: true })
    .description("make a plan for a goal, store it and print it; nothing is carried out without --approve")
    .argument("[goal]", "the goal; without one it is read from stdin")
    .option("--agent <name>", "the agent in whose name steps are delegated; `main` by default")
    .option("--max-steps <n>", "at most this many steps", parseWholeNumber);
  addExecution(make, "approve the plan unseen and carry it out at once")
    .examples(
      'retinue plan "Add a health check" --max-steps 5',
      'retinue plan --approve "Review the last commit"',
    )
    .performs(makePlan);
  const run = plan
    .command("run")
    .description("carry out an approved plan; what an earlier attempt has done is not done again")
    .argument("<id>", PLAN_ID);
  addExecution(run, "approve it as well")
    .examples("retinue plan run last", "retinue plan run last --on-failure stop")
    .performs(runPlan);
}

function addExecution(command: CliCommand, approve: string): CliCommand {
  return command
    .shares(...SHOWING, "maxDepth", "maxAgents")
    .option("--approve", approve)
    .option("-m, --model <model>", "an alias or provider/model-id for agents that inherit theirs")
    .option(
      "--max-budget-usd <amount>",
      "at most this much for planning, and for carrying it out",
      parseAmount,
    )
    .option("--max-concurrent <n>", "how many steps at once", parseWholeNumber)
    .oneOf("--on-failure <policy>", "what happens to steps that do not need one that failed", [
      "continue",
      "stop",
    ])
    .option("--no-replan", "do not look for another way when a step fails")
    .option("--no-review", "do not have changes reviewed at the end");
}

/** `retinue plan "goal"`: makes a plan, stores it and prints it; with `--approve` it is carried out at once. */
async function makePlan(argument: string | undefined, cli: Cli<PlanRunOptions>): Promise<number> {
  if (argument !== undefined && argument !== "" && !/\s/.test(argument.trim())) throw oneWord(argument);
  const project = await openWorkingProject(cli);
  const agent = pickAgent(project.registry, cli.options.agent);
  const goal = await readTask(argument, cli);
  return withPlanSession(project, cli, async (session) => {
    const { maxSteps, model } = cli.options;
    const plan = await session.runtime.planForGoal(goal, {
      agent,
      signal: session.signal,
      limits: pickLimits(cli.options),
      ...omitAbsent({ maxSteps, model: model || undefined }),
    });
    const json = chooseFormat(cli.options) === "json";
    if (!cli.options.approve) {
      session.view.close();
      printResult(changeOptions(cli, { json }), { value: plan, text: () => drawPlan(plan) });
      if (!json)
        cli.tell(
          `hint: carry it out with \`retinue plan run ${plan.id} --approve\`, change it with: retinue plan edit ${plan.id}`,
        );
      return 0;
    }
    if (!json && !cli.options.print) session.view.terminal.tell(drawPlan(plan).join("\n"));
    return carryOut(session, await session.runtime.plans.approve(plan.id), cli);
  });
}

/** A single word is far more likely a mistyped command than a goal. */
function oneWord(word: string): RetinueError {
  return new RetinueError(
    "usage",
    `'${word}' is neither a command of retinue plan nor a goal`,
    "commands: list, show, edit, approve, run; a goal has more than one word",
  );
}

/** `retinue plan run`: carries out a plan that a person has approved. */
async function runPlan(id: string, cli: Cli<PlanRunOptions>): Promise<number> {
  const named = await findNamedPlan(id, cli);
  const project = await openPlanProject(named, cli);
  return withPlanSession(project, cli, async (session) => {
    const { plans } = session.runtime;
    const plan = await plans.find(named.id);
    if (plan.status === "draft" && !cli.options.approve) {
      throw new RetinueError(
        "denied",
        `plan ${plan.id} is a draft that nobody has approved`,
        `look at it with \`retinue plan show ${plan.id}\`, then: retinue plan approve ${plan.id}`,
      );
    }
    return carryOut(session, plan.status === "draft" ? await plans.approve(plan.id) : plan, cli);
  });
}

type PlanRunOptions = RunOptions & {
  approve?: boolean;
  maxSteps?: number;
  maxConcurrent?: number;
  onFailure?: "continue" | "stop";
  replan: boolean;
  review: boolean;
};

/** A runtime while a command works with plans, what shows it, and what stops it. */
type PlanSession = { runtime: Runtime; view: TaskView; signal: AbortSignal; unanswered(): boolean };

/** Opens a runtime that shows what happens, lets `work` use it, and gives the exit code; signals stop the work. */
async function withPlanSession(
  project: OpenProject,
  cli: Cli<RunOptions>,
  work: (session: PlanSession) => Promise<number>,
): Promise<number> {
  if (chooseFormat(cli.options) === "stream-json")
    throw new RetinueError("usage", "a plan is printed as text or JSON, not as a stream", "use --json");
  return withRuntime(project, cli, {}, async ({ signals, stopWith, ...open }) => {
    const stopping = new AbortController();
    const stopped = stopWith(() => stopping.abort());
    const working = work({ ...open, signal: stopping.signal }).catch((thrown: unknown) => {
      if (signals.exitCode === undefined) throw thrown;
      if (thrown instanceof PlanLeft) open.view.terminal.tell(`left in the middle; ${thrown.hint}`);
      return signals.exitCode;
    });
    const code = await Promise.race([working, stopped]);
    return signals.exitCode ?? code;
  });
}

/** Carries a plan out and prints the outcome. */
async function carryOut(
  { runtime, view, signal, unanswered }: PlanSession,
  plan: ExecutionPlan,
  cli: Cli<PlanRunOptions>,
): Promise<number> {
  const { onFailure, replan, review, maxConcurrent, model } = cli.options;
  const terms: ExecuteOptions = {
    replan,
    review,
    signal,
    limits: pickLimits(cli.options),
    ...omitAbsent({ onFailure, maxConcurrent, model: model || undefined }),
  };
  const result = await runtime.executePlan(plan, terms);
  view.close();
  const json = chooseFormat(cli.options) === "json";
  printResult(changeOptions(cli, { json }), {
    value: result,
    text: () => stripControls(reportOf(result)).trimEnd(),
  });
  if (!result.success && !json)
    cli.tell(
      `hint: change it with \`retinue plan edit ${plan.id}\`, or go on with: retinue plan run ${plan.id}`,
    );
  return choosePlanExitCode(result, unanswered());
}

function choosePlanExitCode({ success, steps }: PlanResult, unanswered: boolean): number {
  if (success) return unanswered ? EXIT.denied : EXIT.ok;
  const failed = steps.find((one) => !one.replaced && !one.success && one.result)?.result;
  if (failed) return chooseExitCode(failed, unanswered);
  return unanswered ? EXIT.denied : EXIT.failed;
}

/** The plan that a person names, read from the database alone. */
export async function findNamedPlan(id: string, cli: Cli): Promise<ExecutionPlan> {
  const message = `no plan '${id}'; there are none yet`;
  const unknown = new RetinueError("input", message, 'make one with: retinue plan "goal"');
  return requireRecord(cli, unknown, (record) => findPlan(record, id, findRealProject(cli)));
}

async function findPlan(record: Record, id: string, project: string): Promise<ExecutionPlan> {
  if (id !== "last") return await record.findPlan(id);
  const [newest] = (await record.listPlans({ project, limit: 1 })).plans;
  if (newest) return newest;
  throw new RetinueError(
    "input",
    `no plan of ${project} is recorded`,
    "see them all with: retinue plan list",
  );
}

/** The project that a plan was made for, whatever the current folder is. */
export function openPlanProject(plan: ExecutionPlan, cli: Cli<RunOptions>): Promise<OpenProject> {
  return openSoundProject(changeOptions(cli, { cwd: plan.project }));
}
