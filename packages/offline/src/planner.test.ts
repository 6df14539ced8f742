import { checkGraph } from "@retinue/core/budget/task-graph";
import { checkJson } from "@retinue/core/schema/check-json";
import { PlanSchema } from "@retinue/core/schema/plan";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fillTemplate, type PlannedPart } from "./planner.ts";

type Intent = PlannedPart["intent"];

const part = (
  text: string,
  intent: Intent = "write",
  files: string[] = [],
  after: number[] = [],
): PlannedPart => ({
  text,
  intent,
  files,
  after,
});
const listOrder = (parts: readonly PlannedPart[]) =>
  fillTemplate("the goal", parts).steps.map(({ id, role, dependsOn }) =>
    `${id} ${role} ${dependsOn.join("+")}`.trim(),
  );

test("a change is researched, made, tested and reviewed", () => {
  expect(listOrder([part("Add a flag", "write", ["src/cli.ts", "src/cli.test.ts"])])).toEqual([
    "research researcher",
    "implement-1 coder research",
    "test tester implement-1",
    "review reviewer implement-1+test",
  ]);
});

test("changes of different files run side by side, those of one file one after the other", () => {
  const apart = listOrder([
    part("Add a flag", "write", ["src/cli.ts"]),
    part("Add a column", "write", ["src/db.ts"]),
  ]);
  expect(apart.slice(1, 3)).toEqual(["implement-1 coder research", "implement-2 coder research"]);
  const shared = listOrder([
    part("Add a flag", "write", ["src/cli.ts"]),
    part("Rename it", "write", ["src/cli.ts"]),
  ]);
  expect(shared.slice(1, 3)).toEqual(["implement-1 coder research", "implement-2 coder implement-1"]);
  const unknown = listOrder([part("Add a flag"), part("Add a column")]);
  expect(unknown[2]).toBe("implement-2 coder implement-1");
});

test("a defect is diagnosed before it is fixed", () => {
  expect(listOrder([part("Fix the rounding error")])[0]).toBe("diagnose debugger");
});

test("a question is only looked into, without further steps", () => {
  expect(listOrder([part("Find the parser", "look"), part("Review src/a.ts", "review")])).toEqual([
    "research-1 researcher",
    "review-2 reviewer",
  ]);
});

test("tests and a review that the goal itself asks for are not added twice, and come after the changes", () => {
  expect(listOrder([part("Add a flag"), part("Run the tests", "test"), part("Review it", "review")])).toEqual(
    [
      "research researcher",
      "implement-1 coder research",
      "test-2 tester implement-1",
      "review-3 reviewer implement-1",
    ],
  );
});

test("test files go to the tester, the others to the coder", () => {
  const { steps } = fillTemplate("g", [part("Add a flag", "write", ["src/cli.ts", "src/cli.test.ts"])]);
  expect(steps.find(({ role }) => role === "coder")?.files).toEqual(["src/cli.ts"]);
  expect(steps.find(({ role }) => role === "tester")?.files).toEqual(["src/cli.test.ts"]);
});

test("whatever the goal, the plan fits its schema and has no circle", async () => {
  const intent = fc.constantFrom<Intent>("look", "review", "test", "debug", "write");
  const files = fc.array(fc.constantFrom("src/a.ts", "src/b.ts", "test/a.test.ts"), { maxLength: 3 });
  const parts = fc
    .array(
      fc.tuple(
        fc.string({ minLength: 1, maxLength: 400 }).map((text) => `x${text}`),
        intent,
        files,
      ),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((all) =>
      all.map(([text, kind, touched], index) => part(text, kind, touched, index > 0 ? [index - 1] : [])),
    );
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, maxLength: 30_000 }), parts, async (goal, given) => {
      const plan = fillTemplate(goal, given);
      expect(await checkJson(PlanSchema, plan)).toEqual([]);
      expect(() => checkGraph(plan.steps)).not.toThrow();
    }),
    { numRuns: 50 },
  );
});
