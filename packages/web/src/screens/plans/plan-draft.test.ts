import { expect, test } from "vitest";
import { changeDraft, type EditedPlan, planProblems, sentDraft } from "./plan-draft.ts";

const step = (id: string, ...dependsOn: string[]) => ({
  id,
  title: id,
  role: "coder",
  task: `do ${id}`,
  dependsOn,
  files: [],
  successCriteria: ["it is done"],
  estimate: { toolCalls: 1 },
});
const draft: EditedPlan = { goal: "g", summary: "", steps: [step("a"), step("b", "a"), step("c", "a", "b")] };
const listIds = ({ steps }: EditedPlan) => steps.map(({ id }) => id);

test("nothing waits for a step that was removed", () => {
  const left = changeDraft(draft, { kind: "removed", id: "a" });
  expect(left.steps.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ["b", []],
    ["c", ["b"]],
  ]);
});

test("a step moves by one place and never out of the list", () => {
  expect(listIds(changeDraft(draft, { kind: "moved", id: "c", by: -1 }))).toEqual(["a", "c", "b"]);
  expect(listIds(changeDraft(draft, { kind: "moved", id: "a", by: -1 }))).toEqual(["a", "b", "c"]);
  expect(listIds(changeDraft(draft, { kind: "moved", id: "c", by: 1 }))).toEqual(["a", "b", "c"]);
});

test("an added step gets an id of its own", () => {
  const one = changeDraft({ ...draft, steps: [step("step-2")] }, { kind: "added", role: "tester" });
  expect(listIds(one)).toEqual(["step-2", "step-3"]);
  expect(one.steps[1]?.role).toBe("tester");
});

test("empty lines are not sent", () => {
  const edited = changeDraft(draft, {
    kind: "step",
    id: "a",
    change: { successCriteria: ["tests pass ", "", "  "], files: ["src/a.ts", ""] },
  });
  expect(sentDraft(edited).steps[0]).toMatchObject({ successCriteria: ["tests pass"], files: ["src/a.ts"] });
});

const steps = [{ id: "read" }, { id: "code" }];

test("each sentence of a refusal is shown at the step that it is about", () => {
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

test("every step of a circle gets the message", () => {
  const { steps: found } = planProblems(
    "the plan is not valid: tasks depend on each other in a circle: read → code → read",
    steps,
  );
  expect([...found.keys()]).toEqual(["read", "code"]);
});
