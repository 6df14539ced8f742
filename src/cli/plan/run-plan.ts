import { RetinueError } from "../../schema/error.ts";
import type { Terminal } from "../terminal.ts";
import { carryOut, type PlanRunOptions, planNamed, projectOf, withPlanSession } from "./plan-session.ts";

/** `retinue plan run`: carries out a plan that a person has approved. */
export async function runPlan(id: string, options: PlanRunOptions, terminal: Terminal): Promise<number> {
  const named = await planNamed(id, options, terminal);
  const project = await projectOf(named, options, terminal);
  return withPlanSession(project, options, terminal, async (session) => {
    const { plans } = session.runtime;
    const plan = plans.find(named.id);
    if (plan.status === "draft" && !options.approve) {
      throw new RetinueError(
        "denied",
        `plan ${plan.id} is a draft that nobody has approved`,
        `look at it with \`retinue plan show ${plan.id}\`, then: retinue plan approve ${plan.id}`,
      );
    }
    return carryOut(session, plan.status === "draft" ? plans.approve(plan.id) : plan, options, terminal);
  });
}
