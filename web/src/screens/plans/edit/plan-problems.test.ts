import { expect, test } from "vitest";
import { planProblems } from "./plan-problems.ts";

const steps = [{ id: "read" }, { id: "code" }];

test("each sentence of a refusal stands at the step that it is about", () => {
  const { steps: found, general } = planProblems(
    "the plan is not valid: step 'code' is for 'codr', which is no agent that can be delegated to; available: coder, tester; " +
      "step 'read' names the file '../x', which is not in the project; the plan has 31 steps",
    steps,
  );
  expect([...found]).toEqual([
    ["code", ["is for 'codr', which is no agent that can be delegated to; available: coder, tester"]],
    ["read", ["names the file '../x', which is not in the project"]],
  ]);
  expect(general).toEqual(["the plan has 31 steps"]);
});

test("fields are found by the place of their step", () => {
  const { steps: found } = planProblems(
    "the body cannot be used: steps.1.title: String is too short (0 < 1); steps.1.title: String does not match pattern; " +
      "steps.0.successCriteria: Array has too few items (0 < 1); steps.0.estimate.toolCalls: the type is wrong",
    steps,
  );
  expect(found.get("code")).toEqual(["title must not be empty"]);
  expect(found.get("read")).toEqual([
    "success criteria need at least one line",
    "tool calls: the type is wrong",
  ]);
});

test("every step of a circle is told of it", () => {
  const { steps: found } = planProblems(
    "the plan is not valid: tasks depend on each other in a circle: read → code → read",
    steps,
  );
  expect([...found.keys()]).toEqual(["read", "code"]);
});
