import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { defineAgent } from "../agents/define-agent.ts";
import type { ExecutionPlan, PlanStep } from "../schema/plan.ts";
import { checkDraft } from "./check-draft.ts";
import { keptResults } from "./step-results.ts";

const projectDir = mkdtempSync(join(tmpdir(), "retinue-draft-"));
afterAll(() => rmSync(projectDir, { recursive: true }));
const agents = [defineAgent({ name: "coder", aliases: ["executor"], description: "d", prompt: "p" })];

function step(id: string, dependsOn: string[] = [], more: Partial<PlanStep> = {}): PlanStep {
  return {
    id,
    title: id,
    role: "coder",
    task: id,
    dependsOn,
    files: [],
    successCriteria: ["x"],
    estimate: { toolCalls: 1 },
    ...more,
  };
}

test("roles are known by alias and in any case, and stand in the plan by name", async () => {
  const checked = await checkDraft({ steps: [step("a", [], { role: "Executor" })] }, { agents, projectDir });
  expect(checked).toMatchObject({ ok: true, draft: { steps: [{ role: "coder" }] } });
});

test("files inside the project are made relative to it, others are refused", async () => {
  const files = [`${projectDir}/src/a.ts`, "./b.ts", ".", "new/../c.ts"];
  const checked = await checkDraft({ steps: [step("a", [], { files })] }, { agents, projectDir });
  expect(checked).toMatchObject({
    ok: true,
    draft: { steps: [{ files: ["src/a.ts", "b.ts", ".", "c.ts"] }] },
  });
  for (const file of ["..", `${projectDir}-other/x`, "~/x", "a/../../x", "nul\0"]) {
    const refused = await checkDraft({ steps: [step("a", [], { files: [file] })] }, { agents, projectDir });
    expect(refused, file).toMatchObject({ ok: false });
  }
});

test("steps may build on what is done, but not take its place", async () => {
  const limits = { agents, projectDir, done: ["old"] };
  expect(await checkDraft({ steps: [step("a", ["old"])] }, limits)).toMatchObject({ ok: true });
  expect(await checkDraft({ steps: [step("old")] }, limits)).toEqual({
    ok: false,
    problems: ["step 'old' has the id of a step that is done already"],
  });
});

test.each([
  null,
  1,
  [],
  {},
  { steps: {} },
  { steps: [null] },
  { steps: [{ id: "../x" }] },
  { steps: [step("a")], x: 1 },
])("%j is refused with a reason and never throws", async (value) => {
  const checked = await checkDraft(value, { agents, projectDir });
  expect(checked.ok ? [] : checked.problems).not.toEqual([]);
});

const EMPTY: ExecutionPlan = {
  id: "pln_x",
  version: 1,
  status: "failed",
  goal: "g",
  summary: "",
  steps: [],
  agent: "main",
  project: projectDir,
  createdAtMs: 0,
  updatedAtMs: 0,
  planning: { sessionId: null, toolCalls: 0 },
  executionSessionId: null,
  results: [],
};

/** Graphs with edges in any direction, so that some have circles and some do not. */
const graphs = fc.integer({ min: 1, max: 8 }).chain((size) => {
  const ids = Array.from({ length: size }, (_, at) => `s${at}`);
  return fc.tuple(...ids.map((id) => fc.subarray(ids).map((dependsOn) => step(id, dependsOn))));
});

test("a plan is accepted exactly if its steps can be put in an order", async () => {
  await fc.assert(
    fc.asyncProperty(graphs, async (steps) => {
      const placed = new Set<string>();
      for (let round = 0; round < steps.length; round++)
        for (const one of steps) if (one.dependsOn.every((id) => placed.has(id))) placed.add(one.id);
      const checked = await checkDraft({ steps }, { agents, projectDir });
      expect(checked.ok).toBe(placed.size === steps.length);
    }),
    { numRuns: 200 },
  );
});

test("after an edit a result holds only if its step and all it built on are as they were", () => {
  const steps = [step("a"), step("b", ["a"]), step("c"), step("d", ["c"])];
  const results = steps.map(({ id }) => ({
    step_id: id,
    title: id,
    role: "coder",
    status: "completed" as const,
    success: true,
  }));
  const plan = { ...EMPTY, steps, results };
  const edited = [step("a", [], { task: "other" }), step("b", ["a"]), step("c"), step("d", ["c"])];
  expect(keptResults(plan, edited).map((one) => one.step_id)).toEqual(["c", "d"]);
  expect(keptResults(plan, steps)).toHaveLength(4);
  expect(keptResults(plan, [step("d", [])])).toEqual([]);
});
