import { settleEnded } from "../../runtime/planning/plan-result.ts";
import { sayMore } from "../measures.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { withRecord } from "../trace/open-record.ts";
import { drawPlan } from "./draw-plan.ts";
import { planNamed } from "./plan-session.ts";

/** Options of `retinue plan list`. */
export type PlanListOptions = CommonOptions & { limit: number };

/** `retinue plan list`. */
export async function listPlans({ limit, json }: PlanListOptions, terminal: Terminal): Promise<void> {
  const found = await withRecord(terminal, (store) =>
    // One more says whether there are more.
    store.plans({ limit: limit + 1 }).map((plan) => settleEnded(store, plan)),
  );
  const plans = found?.slice(0, limit) ?? [];
  if (found && found.length > limit) terminal.tell(sayMore(limit));
  if (json) return terminal.print(JSON.stringify(plans, null, 2));
  if (plans.length === 0) return terminal.print('no plans yet; make one with: retinue plan "goal"');
  const rows = plans.map((plan) => [
    plan.id,
    new Date(plan.updatedAtMs).toISOString().slice(0, 16).replace("T", " "),
    plan.status,
    String(plan.steps.length),
    plainLine(plan.project, 40),
    plainLine(plan.goal, 60),
  ]);
  terminal.print(
    table([["PLAN", "CHANGED (UTC)", "STATUS", "STEPS", "PROJECT", "GOAL"], ...rows]).join("\n"),
  );
}

/** `retinue plan show`. */
export async function showPlan(id: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const named = await planNamed(id, options, terminal);
  const plan = (await withRecord(terminal, (store) => settleEnded(store, named))) ?? named;
  terminal.print(options.json ? JSON.stringify(plan, null, 2) : drawPlan(plan).join("\n"));
}
