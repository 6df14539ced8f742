import { expect, test } from "vitest";
import { step, storedPlan } from "../../../../test/fixtures/plans.ts";
import { type MadeRun, writeSession } from "../../../../test/fixtures/recorded-session.ts";
import { readTree } from "../record/read-tree.ts";
import { createSqliteRecord } from "../record/sqlite/create-sqlite-record.ts";
import { failedResult } from "../schema/failed-result.ts";
import type { PlanStep, StepResult } from "../schema/plan.ts";
import type { MadeCall } from "./plan-record.ts";
import { FIRST_BATCH, keptResults, SECOND_BATCH, stepResults } from "./step-results.ts";

/** A batch whose runs were made for these steps. */
async function batchOf(
  runs: readonly (Partial<MadeRun> & { step: string; isOpen?: true })[],
  text = "",
): Promise<MadeCall> {
  const record = createSqliteRecord({ path: ":memory:" });
  const made = runs.map(
    ({ step: id, isOpen, ...more }, index): MadeRun => ({
      agent: "worker",
      task: id,
      from: index * 10,
      ...(!isOpen && { to: index * 10 + 5 }),
      ...more,
    }),
  );
  await writeSession(record, { sessionId: "ses_1", title: "t", runs: made });
  await record.committed();
  const nodes = await readTree(record, "ses_1");
  await record.close();
  for (const [index, node] of nodes.entries()) {
    const { step: id, status = "completed", error = "" } = runs[index] ?? { step: "" };
    const failed = failedResult(
      { runId: node.run_id, sessionId: "ses_1", agent: "worker" },
      { type: "failed", message: error, recoverable: false },
    );
    const { error: _, ...whole } = failed;
    const result = status === "completed" ? { ...whole, status, success: true } : { ...failed, status };
    node.metadata_json = JSON.stringify({ taskId: id, result });
  }
  return { text, runs: nodes };
}

const resultsOf = async (
  steps: PlanStep[],
  batches: { first?: MadeCall; second?: MadeCall },
  results: StepResult[] = [],
) => {
  const calls = new Map<string, MadeCall>();
  if (batches.first) calls.set(FIRST_BATCH, batches.first);
  if (batches.second) calls.set(SECOND_BATCH, batches.second);
  const plan = storedPlan("pln_1", { steps, results });
  return stepResults(plan, { root: null, calls }).map(({ step_id, status, reason, reused, replaced }) =>
    [step_id, status, reason, reused && "reused", replaced && "replaced"].filter(Boolean).join(" "),
  );
};
const done = (id: string, more: Partial<StepResult> = {}): StepResult => ({
  step_id: id,
  title: `Do ${id}`,
  role: "worker",
  status: "completed",
  success: true,
  ...more,
});

test("each step has the end of its last attempt, in the order of the plan", async () => {
  const first = await batchOf([
    { step: "b", status: "failed", error: "no" },
    { step: "b" },
    { step: "a", status: "failed", error: "broken" },
  ]);
  expect(await resultsOf([step("a"), step("b")], { first })).toEqual(["a failed broken", "b completed"]);
});

test("a step under way runs, and one that did not begin names what it waited for", async () => {
  const first = await batchOf([
    { step: "a", status: "failed", error: "broken" },
    { step: "b", isOpen: true },
  ]);
  const steps = [step("a"), step("b"), step("c", ["a"]), step("d")];
  expect(await resultsOf(steps, { first })).toEqual([
    "a failed broken",
    "b running",
    "c skipped it needs 'a', which did not succeed",
    "d skipped it did not begin",
  ]);
});

test("before anything ran every step is skipped", async () => {
  expect(await resultsOf([step("a")], {})).toEqual(["a skipped it did not begin"]);
});

test("a step that an earlier execution had done is reused; one that had failed then is not", async () => {
  const earlier = [done("a"), done("b", { success: false, status: "failed" })];
  const first = await batchOf([{ step: "b" }]);
  expect(await resultsOf([step("a"), step("b")], { first }, earlier)).toEqual([
    "a completed reused",
    "b completed",
  ]);
});

test("after another plan came for what failed, its steps are told, then those it replaced", async () => {
  const first = await batchOf([{ step: "a" }, { step: "b", status: "failed", error: "broken" }]);
  const second = await batchOf([{ step: "b2" }]);
  expect(await resultsOf([step("a"), step("b2")], { first, second })).toEqual([
    "a completed",
    "b2 completed",
    "b failed broken replaced",
  ]);
});

test("an edit keeps what was done of steps that are as they were, and so is all they built on", () => {
  const steps = [step("a"), step("b", ["a"]), step("c", ["b"]), step("d")];
  const plan = storedPlan("pln_1", { steps, results: steps.map(({ id }) => done(id)) });
  const kept = (edited: PlanStep[]) => keptResults(plan, edited).map(({ step_id }) => step_id);
  expect(kept(steps)).toEqual(["a", "b", "c", "d"]);
  expect(kept([step("a"), step("b", ["a"], { task: "another" }), step("c", ["b"]), step("d")])).toEqual([
    "a",
    "d",
  ]);
  expect(kept([step("b"), step("d")])).toEqual(["d"]);
  const { id, ...rest } = step("d");
  expect(kept([{ ...rest, id }])).toEqual(["d"]);
});

test("a failed or replaced result is never kept", () => {
  const results = [done("a", { success: false, status: "failed" }), done("b", { replaced: true })];
  const plan = storedPlan("pln_1", { steps: [step("a"), step("b")], results });
  expect(keptResults(plan, plan.steps)).toEqual([]);
});
