import { reportOf } from "../../../runtime/planning/report-plan.ts";
import { RetinueError } from "../../../schema/error.ts";
import { drawPlan } from "../../plan/draw-plan.ts";
import type { Desk } from "./engine.ts";

/** `/plan goal`: makes a plan and shows it. */
export async function makePlan(desk: Desk, goal: string): Promise<void> {
  if (goal === "") throw new RetinueError("input", "say what is to be reached: /plan goal");
  const { runtime, agent, model } = desk;
  const plan = await runtime.planForGoal(goal, { agent, ...(model && { model }) });
  desk.output(drawPlan(plan).join("\n"));
  desk.say(`carry it out with: /plan run`);
}

/** `/plan run [ID]`: approves a plan, by default the last, and carries it out. */
export async function runPlan(desk: Desk, id: string): Promise<void> {
  const { runtime, model } = desk;
  const plan = id === "" ? runtime.plans.list(1)[0] : runtime.plans.find(id);
  if (!plan) throw new RetinueError("input", "there is no plan yet; make one with: /plan goal");
  const result = await runtime.executePlan(runtime.plans.approve(plan.id), { ...(model && { model }) });
  desk.output(reportOf(result).trimEnd());
}
