import { RetinueError } from "../../schema/error.ts";
import { openWorkingProject } from "../open-project.ts";
import { pickAgent, readTask } from "../run/read-task.ts";
import { formatOf, limitsOf } from "../run/run-options.ts";
import type { Terminal } from "../terminal.ts";
import { drawPlan } from "./draw-plan.ts";
import { carryOut, type PlanRunOptions, withPlanSession } from "./plan-session.ts";

/** `retinue plan "goal"`: makes a plan, stores it and prints it; with `--approve` it is carried out at once. */
export async function makePlan(
  argument: string | undefined,
  options: PlanRunOptions,
  terminal: Terminal,
): Promise<number> {
  if (argument !== undefined && argument !== "" && !/\s/.test(argument.trim())) throw oneWord(argument);
  const project = await openWorkingProject(options, terminal);
  const agent = pickAgent(project.registry, options.agent);
  const goal = await readTask(argument, terminal);
  return withPlanSession(project, options, terminal, async (session) => {
    const { maxSteps, model } = options;
    const plan = await session.runtime.planForGoal(goal, {
      agent,
      signal: session.signal,
      limits: limitsOf(options),
      ...(maxSteps !== undefined && { maxSteps }),
      ...(model && { model }),
    });
    const json = formatOf(options) === "json";
    if (!options.approve) {
      session.view.close();
      terminal.print(json ? JSON.stringify(plan, null, 2) : drawPlan(plan).join("\n"));
      if (!json)
        terminal.tell(
          `hint: carry it out with \`retinue plan run ${plan.id} --approve\`, change it with: retinue plan edit ${plan.id}`,
        );
      return 0;
    }
    if (!json && !options.print) session.view.terminal.tell(drawPlan(plan).join("\n"));
    return carryOut(session, session.runtime.plans.approve(plan.id), options, terminal);
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
