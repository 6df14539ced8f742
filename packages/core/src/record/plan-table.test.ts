import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { storedPlan } from "../../../../test/fixtures/plans.ts";
import type { ExecutionPlan } from "../schema/plan.ts";
import { createStore } from "./create-store.ts";

const makePlan = (id: string, more: Partial<ExecutionPlan> = {}) =>
  storedPlan(id, { goal: "a goal with a lone \ud800 surrogate", ...more });

test("a plan comes back as it was stored, and of several versions the newest", () => {
  const store = createStore({ path: ":memory:" });
  const first = makePlan("pln_a");
  store.addPlan(first);
  expect(store.plan("pln_a")).toEqual(first);
  const second = makePlan("pln_a", { version: 2, goal: "another" });
  store.addPlan(second);
  store.addPlan(makePlan("pln_b", { updatedAtMs: 5 }));
  expect(store.plan("pln_a")).toEqual(second);
  expect(store.plans().map(({ id, version }) => [id, version])).toEqual([
    ["pln_b", 1],
    ["pln_a", 2],
  ]);
  expect(store.plans({ limit: 1 })).toHaveLength(1);
  expect(store.plan("pln_c")).toBeUndefined();
});

test("plans are listed by the order of their changes, whatever the clock said, and those of a project alone", () => {
  const store = createStore({ path: ":memory:" });
  store.addPlan(makePlan("pln_a", { updatedAtMs: 9_000, project: "/other" }));
  store.addPlan(makePlan("pln_b", { updatedAtMs: 5_000 }));
  store.addPlan(makePlan("pln_c", { updatedAtMs: 1_000 }));
  const ids = (query = {}) => store.plans(query).map(({ id }) => id);
  expect(ids()).toEqual(["pln_c", "pln_b", "pln_a"]);
  store.changePlan(makePlan("pln_b", { status: "approved", updatedAtMs: 0 }), ["draft"]);
  expect(ids()).toEqual(["pln_b", "pln_c", "pln_a"]);
  expect(ids({ project: "/project" })).toEqual(["pln_b", "pln_c"]);
  expect(ids({ project: "/other", limit: 1 })).toEqual(["pln_a"]);
});

test("a version that another process has added is refused, and a status is changed by one of two only", async () => {
  const dir = mkdtempSync(join(tmpdir(), "retinue-plans-"));
  const one = createStore({ path: join(dir, "x.db") });
  const other = createStore({ path: join(dir, "x.db") });
  one.addPlan(makePlan("pln_a"));
  expect(() => other.addPlan(makePlan("pln_a"))).toThrow("changed by somebody else");
  const running = makePlan("pln_a", { status: "running" });
  expect(one.changePlan(running, ["draft", "approved"])).toBe(true);
  expect(other.changePlan(running, ["draft", "approved"])).toBe(false);
  expect(other.changePlan(makePlan("pln_a", { version: 2 }), ["running"])).toBe(false);
  expect(other.plan("pln_a")?.status).toBe("running");
  await Promise.all([one.shutdown(), other.shutdown()]);
  rmSync(dir, { recursive: true });
});

test("a plan is found by the beginning of its id, and an error names what there is", () => {
  const store = createStore({ path: ":memory:" });
  expect(() => store.findPlan("pln")).toThrow("there are none yet");
  store.addPlan(makePlan("pln_ab"));
  store.addPlan(makePlan("pln_ac"));
  expect(store.findPlan("pln_ab").id).toBe("pln_ab");
  expect(() => store.findPlan("pln_a")).toThrow("fits several plans: pln_ab, pln_ac");
  expect(() => store.findPlan("x")).toThrow("no plan 'x'; the latest are: pln_ac, pln_ab");
  expect(() => store.findPlan("")).toThrow("no plan ''");
  for (const id of ["pln_ad", "pln_ae", "pln_af", "pln_ag"]) store.addPlan(makePlan(id));
  expect(() => store.findPlan("pln_a")).toThrow("pln_ab, pln_ac, pln_ad, pln_ae, pln_af and more");
});
