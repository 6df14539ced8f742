import type { ExecutionPlan } from "@retinue/core/schema/plan";
import { after, say } from "@retinue/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { answerPlan, step, storedPlan } from "../fixtures/plans.ts";
import { clearGround, type Ground, makeGround, openDesk, type WorkDesk } from "./work-desk.ts";

let ground: Ground;
beforeEach(() => {
  ground = makeGround();
});
afterEach(() => clearGround(ground));

async function endings({ t }: WorkDesk, count: number): Promise<void> {
  while (t.events.filter((event) => event.type === "session.ended").length < count)
    await new Promise((resolve) => setImmediate(resolve));
  await t.runtime.record.committed();
}
const plansOf = async (server: WorkDesk) => (await server.get("/api/plans")).body.plans as ExecutionPlan[];

test("a plan is begun, and once made it is shown, edited, approved and carried out", async () => {
  const { promise: gate, resolve: go } = Promise.withResolvers<void>();
  const server = await openDesk(ground, {
    main: [],
    planner: [after(gate, answerPlan(step("look"), step("change", ["look"])))],
    worker: () => say("did it"),
  });
  const { body } = await server.post("/api/plans", { goal: "Make it right" });
  expect((await server.get(`/api/sessions/${body.sessionId}`)).body).toMatchObject({
    session: { state: "running", title: "Make it right" },
  });
  expect(await plansOf(server)).toEqual([]);
  go();
  await endings(server, 1);
  const [plan] = await plansOf(server);
  expect(plan).toMatchObject({ status: "draft", planning: { sessionId: body.sessionId } });
  const path = `/api/plans/${plan?.id}`;
  const steps = plan?.steps.slice(0, 1) ?? [];
  expect((await server.put(path, { steps })).body).toMatchObject({ version: 2, status: "draft" });
  const cyclic = steps.map((one) => ({ ...one, dependsOn: ["nowhere"] }));
  expect((await server.put(path, { steps: cyclic })).status).toBe(422);
  expect((await server.put(path, { steps: [] })).status).toBe(400);
  expect((await server.post(`${path}/approve`)).body).toMatchObject({ status: "approved" });
  const run = await server.post(`${path}/run`, {});
  expect(run.body.sessionId).toMatch(/^ses_/);
  await endings(server, 2);
  while ((await server.get(path)).body.status === "running")
    await new Promise((resolve) => setImmediate(resolve));
  expect((await server.get(path)).body).toMatchObject({
    status: "completed",
    executionSessionId: run.body.sessionId,
  });
  expect((await server.post(`${path}/run`, {})).status).toBe(422);
  await server.stop();
});

test("what keeps a plan from beginning is said at once", async () => {
  const server = await openDesk(ground, { lead: [] });
  const { status, body } = await server.post("/api/plans", { goal: "x", agent: "nobody" });
  expect(status).toBe(422);
  expect(JSON.stringify(body)).toContain("nobody");
  expect((await server.post("/api/plans", { goal: " " })).status).toBe(400);
  await server.stop();
});

test("every plan of the project is on some page, once, the last changed first, also one that changes meanwhile", async () => {
  const server = await openDesk(ground, { main: [] });
  const { record } = server.t.runtime;
  const numbers = Array.from({ length: 450 }, (_, index) => index);
  for (const index of numbers)
    for (const project of [ground.projectDir, "/elsewhere"])
      await record.addPlan(
        storedPlan(`pln_${index}${project === "/elsewhere" ? "_other" : ""}`, { project }),
      );
  const ids: string[] = [];
  const sizes: number[] = [];
  for (let next: unknown = ""; next !== null; ) {
    const { status, body } = await server.get(`/api/plans${next === "" ? "" : `?after=${String(next)}`}`);
    expect(status).toBe(200);
    const page = body.plans as ExecutionPlan[];
    ids.push(...page.map(({ id }) => id));
    sizes.push(page.length);
    // The last plan that was read becomes the first of all.
    const change = { project: ground.projectDir, status: "approved" } as const;
    await record.changePlan(storedPlan(ids.at(-1) ?? "", change), ["draft"]);
    next = body.next;
  }
  expect(sizes).toEqual([200, 200, 50]);
  expect(ids).toEqual(numbers.map((index) => `pln_${index}`).reverse());
  expect((await server.get("/api/plans?limit=2")).body.plans).toMatchObject([
    { id: "pln_0" },
    { id: "pln_50" },
  ]);
  expect(await server.t.runtime.plans.list()).toHaveLength(450);
  expect((await server.get("/api/plans?after=x")).status).toBe(400);
  await server.stop();
});
