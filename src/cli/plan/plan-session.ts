import { realpathSync } from "node:fs";
import { PlanLeft } from "../../runtime/planning/plan-errors.ts";
import type { ExecuteOptions } from "../../runtime/planning/plans.ts";
import { reportOf } from "../../runtime/planning/report-plan.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import { RetinueError } from "../../schema/error.ts";
import type { ExecutionPlan, PlanResult } from "../../schema/plan.ts";
import type { Store } from "../../store/create-store.ts";
import { EXIT, exitCodeOfResult } from "../exit-code.ts";
import { openRunView, type RunView } from "../live/run-view.ts";
import { type CommonOptions, type OpenProject, openSoundProject, projectDirOf } from "../open-project.ts";
import { plainText } from "../plain-text.ts";
import { formatOf, limitsOf, type RunOptions } from "../run/run-options.ts";
import { runtimeOptions, watchUnanswered } from "../run/run-task.ts";
import { catchSignals } from "../run/stop-signals.ts";
import type { Terminal } from "../terminal.ts";
import { withRecord } from "../trace/open-record.ts";

/** Options of the commands that make or carry out a plan. */
export type PlanRunOptions = RunOptions & {
  approve?: boolean;
  maxSteps?: number;
  maxConcurrent?: number;
  onFailure?: "continue" | "stop";
  replan: boolean;
  review: boolean;
};

/** A runtime while a command works with plans, what shows it, and what stops it. */
export type PlanSession = { runtime: Runtime; view: RunView; signal: AbortSignal; unanswered(): boolean };

/** Opens a runtime that shows what happens, lets `work` use it, and gives the exit code; signals stop the work. */
export async function withPlanSession(
  project: OpenProject,
  options: RunOptions,
  terminal: Terminal,
  work: (session: PlanSession) => Promise<number>,
): Promise<number> {
  if (formatOf(options) === "stream-json")
    throw new RetinueError("usage", "a plan is printed as text or JSON, not as a stream", "use --json");
  const given = runtimeOptions(project, options, terminal);
  const view = await openRunView(options, terminal);
  const runtime = createRuntime({ ...given, ...(given.approve && { approve: view.asking(given.approve) }) });
  const signals = catchSignals(view.terminal);
  const stopping = new AbortController();
  const left = Promise.withResolvers<never>();
  signals.onStop((signal) => {
    if (signal === "SIGINT") stopping.abort();
    else runtime.drain(project.settings.graceSeconds * 1_000).catch(left.reject);
  });
  runtime.events(view.take);
  const unanswered = watchUnanswered(runtime);
  try {
    const working = work({ runtime, view, signal: stopping.signal, unanswered }).catch((thrown: unknown) => {
      if (signals.exitCode === undefined) throw thrown;
      if (thrown instanceof PlanLeft) view.terminal.tell(`left in the middle; ${thrown.hint}`);
      return signals.exitCode;
    });
    const code = await Promise.race([working, left.promise]);
    return signals.exitCode ?? code;
  } finally {
    view.close();
    await runtime.close();
    signals.release();
  }
}

/** Carries a plan out and prints the outcome. */
export async function carryOut(
  { runtime, view, signal, unanswered }: PlanSession,
  plan: ExecutionPlan,
  options: PlanRunOptions,
  terminal: Terminal,
): Promise<number> {
  const { onFailure, replan, review, maxConcurrent, model } = options;
  const terms: ExecuteOptions = {
    replan,
    review,
    signal,
    limits: limitsOf(options),
    ...(onFailure && { onFailure }),
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(model && { model }),
  };
  const result = await runtime.executePlan(plan, terms);
  view.close();
  const json = formatOf(options) === "json";
  terminal.print(json ? JSON.stringify(result, null, 2) : plainText(reportOf(result)).trimEnd());
  if (!result.success && !json)
    terminal.tell(
      `hint: change it with \`retinue plan edit ${plan.id}\`, or go on with: retinue plan run ${plan.id}`,
    );
  return exitCodeOfPlan(result, unanswered());
}

function exitCodeOfPlan({ success, steps }: PlanResult, unanswered: boolean): number {
  if (success) return unanswered ? EXIT.denied : EXIT.ok;
  const failed = steps.find((one) => !one.replaced && !one.success && one.result)?.result;
  if (failed) return exitCodeOfResult(failed, unanswered);
  return unanswered ? EXIT.denied : EXIT.failed;
}

/** The plan that a person names, read from the database alone. */
export async function planNamed(
  id: string,
  options: CommonOptions,
  terminal: Terminal,
): Promise<ExecutionPlan> {
  const found = await withRecord(terminal, (store) =>
    findPlan(store, id, realpathSync(projectDirOf(options, terminal))),
  );
  if (found) return found;
  throw noPlans(id);
}

function findPlan(store: Store, id: string, project: string): ExecutionPlan {
  if (id !== "last") return store.findPlan(id);
  const [newest] = store.plans({ project, limit: 1 });
  if (newest) return newest;
  throw new RetinueError(
    "input",
    `no plan of ${project} is recorded`,
    "see them all with: retinue plan list",
  );
}

/** The project that a plan was made for, whatever the current folder is. */
export function projectOf(
  plan: ExecutionPlan,
  options: RunOptions,
  terminal: Terminal,
): Promise<OpenProject> {
  return openSoundProject({ ...options, cwd: plan.project }, terminal);
}

function noPlans(id: string): RetinueError {
  return new RetinueError(
    "input",
    `no plan '${id}'; there are none yet`,
    'make one with: retinue plan "goal"',
  );
}
