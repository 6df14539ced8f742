import { PlanList, PlanRequest, PlanRunRequest } from "@retinue/core/schema/api/inspect";
import { type ExecutionPlan, PlanSchema } from "@retinue/core/schema/plan";
import { declared, shape, text } from "@retinue/core/schema/shape";
import { chooseModel, mustBeWritable, readProjectFolder, type ServerDesk } from "../desk.ts";
import { NotFound } from "../http/http-errors.ts";
import { PAGED, readPageSize } from "../http/paging.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";

const MOST = 200;
const PLAN = declared<ExecutionPlan>();
const BEGUN = shape({ sessionId: text });

/** Plans: made, shown, edited, approved and carried out. */
export const planRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/plans",
    summary: "Plans of this project, the last changed first; `after` takes the `next` of the page before.",
    query: PAGED,
    answer: PlanList,
    async handle({ query: { after, limit } }, desk) {
      const from = after === undefined ? undefined : Number(after);
      const { plans, next } = await desk.runtime.plans.page(readPageSize(limit, MOST), from);
      return { plans, next: next === null ? null : String(next) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/plans",
    summary: "Begins to make a plan; it is there, as a draft, when the session has ended.",
    body: PlanRequest,
    answer: BEGUN,
    async handle({ body: { goal, agent, model } }, desk) {
      await desk.project.reload();
      const chosen = { ...(agent !== undefined && { agent }), ...chooseModel(desk, model) };
      return begun(desk, (onSession) => desk.runtime.planForGoal(goal, { ...chosen, onSession }));
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/plans/:id",
    summary: "One plan.",
    answer: PLAN,
    handle: ({ params: { id } }, desk) => ownPlan(desk, id),
  }),
  defineRoute({
    method: "put",
    path: "/api/plans/:id",
    summary: "Puts other steps into a plan, which is then a draft again.",
    body: PlanSchema,
    answer: PLAN,
    async handle({ params: { id }, body }, desk) {
      await ownPlan(desk, id);
      await desk.project.reload();
      return desk.runtime.plans.edit(id, body);
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/plans/:id/approve",
    summary: "Marks a draft as what the person wants.",
    answer: PLAN,
    async handle({ params: { id } }, desk) {
      await ownPlan(desk, id);
      return await desk.runtime.plans.approve(id);
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/plans/:id/run",
    summary: "Begins to carry out a plan, which approves it; steps that succeeded before are not done again.",
    body: PlanRunRequest,
    answer: BEGUN,
    async handle({ params: { id }, body: { model, onFailure } }, desk) {
      await ownPlan(desk, id);
      await desk.project.reload();
      const chosen = { ...(onFailure !== undefined && { onFailure }), ...chooseModel(desk, model) };
      return begun(desk, (onSession) => desk.runtime.executePlan(id, { ...chosen, onSession }));
    },
  }),
];

/** Answers as soon as there is a session; what goes wrong before that is thrown, what goes wrong later is in the record. */
async function begun(
  desk: ServerDesk,
  begin: (onSession: (sessionId: string) => void) => Promise<unknown>,
): Promise<{ sessionId: string }> {
  await mustBeWritable(desk);
  const sessionId = await new Promise<string>((resolve, reject) => {
    begin(resolve).catch(reject);
  });
  await desk.runtime.record.written();
  return { sessionId };
}

/** Plans are found by the whole id only, and those of other projects not at all. */
async function ownPlan(desk: ServerDesk, id: string): Promise<ExecutionPlan> {
  const plan = await desk.runtime.record.readPlan(id);
  if (plan && plan.project === readProjectFolder(desk)) return await desk.runtime.plans.find(id);
  throw new NotFound(`there is no plan '${id}' in this project`);
}
