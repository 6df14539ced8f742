import { expect, test } from "vitest";
import type { ExecutionPlan } from "../../schema/plan.ts";
import type { PlanQuery } from "../record.ts";
import type { Stage } from "./contract-stage.ts";

function makePlan(id: string, more: Partial<ExecutionPlan> = {}): ExecutionPlan {
  return {
    ...{
      id,
      version: 1,
      status: "draft",
      goal: "nul \0 and a lone \ud800 surrogate",
      summary: "",
      steps: [],
    },
    ...{ agent: "main", project: "/project", createdAtMs: 0, updatedAtMs: 0, results: [] },
    planning: { sessionId: null, toolCalls: 0 },
    executionSessionId: null,
    ...more,
  };
}

/** What the record promises of plans. */
export function describePlans(stage: Stage): void {
  const list = async (query?: PlanQuery) => (await stage.record.listPlans(query)).plans.map(({ id }) => id);

  test("a plan comes back as it was stored, and of several versions the newest", async () => {
    const { record } = stage;
    const first = makePlan("pln_a");
    await record.addPlan(first);
    expect(await record.readPlan("pln_a")).toEqual(first);
    const second = makePlan("pln_a", { version: 2, goal: "another" });
    await record.addPlan(second);
    await record.addPlan(makePlan("pln_b", { updatedAtMs: 5 }));
    expect(await record.readPlan("pln_a")).toEqual(second);
    expect(await record.findPlan("pln_a")).toEqual(second);
    const { plans } = await record.listPlans();
    expect(plans.map(({ id, version }) => [id, version])).toEqual([
      ["pln_b", 1],
      ["pln_a", 2],
    ]);
    expect(await record.readPlan("pln_c")).toBeUndefined();
  });

  test("plans are listed by the order of their changes, whatever the clock said, and those of a project alone", async () => {
    const { record } = stage;
    await record.addPlan(makePlan("pln_a", { updatedAtMs: 9_000, project: "/other\ud800" }));
    await record.addPlan(makePlan("pln_b", { updatedAtMs: 5_000 }));
    await record.addPlan(makePlan("pln_c", { updatedAtMs: 1_000 }));
    expect(await list()).toEqual(["pln_c", "pln_b", "pln_a"]);
    await record.changePlan(makePlan("pln_b", { status: "approved", updatedAtMs: 0 }), ["draft"]);
    expect(await list()).toEqual(["pln_b", "pln_c", "pln_a"]);
    expect(await list({ project: "/project" })).toEqual(["pln_b", "pln_c"]);
    expect(await list({ project: "/other\ud800", limit: 1 })).toEqual(["pln_a"]);
  });

  test("plans are read in pages without gap or repetition, or all at once", async () => {
    const { record } = stage;
    const ids = Array.from({ length: 60 }, (_, index) => `pln_${String(index).padStart(2, "0")}`);
    for (const id of ids) await record.addPlan(makePlan(id));
    const newest = ids.toReversed();
    const first = await record.listPlans();
    expect(first.plans.map(({ id }) => id)).toEqual(newest.slice(0, 50));
    const second = await record.listPlans({ before: first.next ?? 0 });
    expect(second.plans.map(({ id }) => id)).toEqual(newest.slice(50));
    expect(second.next).toBeNull();
    expect(await record.listPlans({ limit: 60 })).toMatchObject({ next: null });
    expect(await list({ limit: -1 })).toEqual(newest);
    expect((await record.listPlans({ limit: -1 })).next).toBeNull();
  });

  test("a version that somebody else has added is refused, and a status is changed by one of two only", async () => {
    const { record } = stage;
    const other = stage.isShared ? stage.openAnother() : record;
    await record.addPlan(makePlan("pln_a"));
    await expect(other.addPlan(makePlan("pln_a", { goal: "x" }))).rejects.toThrow("changed by somebody else");
    const running = makePlan("pln_a", { status: "running" });
    expect(await record.changePlan(running, ["draft", "approved"])).toBe(true);
    expect(await other.changePlan(running, ["draft", "approved"])).toBe(false);
    expect(await other.changePlan(makePlan("pln_a", { version: 2 }), ["running"])).toBe(false);
    expect(await other.changePlan(makePlan("pln_b"), ["draft"])).toBe(false);
    expect(await other.readPlan("pln_a")).toEqual(running);
  });

  test("a plan is found by the beginning of its id, and an error names what there is", async () => {
    const { record } = stage;
    await expect(record.findPlan("pln")).rejects.toThrow("there are none yet");
    await record.addPlan(makePlan("pln_ab"));
    await record.addPlan(makePlan("pln_ac"));
    expect((await record.findPlan("pln_ab")).id).toBe("pln_ab");
    await expect(record.findPlan("pln_a")).rejects.toThrow("fits several plans: pln_ab, pln_ac");
    await expect(record.findPlan("x")).rejects.toThrow("no plan 'x'; the latest are: pln_ac, pln_ab");
    for (const prefix of ["", "pln%"])
      await expect(record.findPlan(prefix)).rejects.toThrow(`no plan '${prefix}'`);
    for (const id of ["pln_ad", "pln_ae", "pln_af", "pln_ag"]) await record.addPlan(makePlan(id));
    await expect(record.findPlan("pln_a")).rejects.toThrow("pln_ab, pln_ac, pln_ad, pln_ae, pln_af and more");
  });
}
