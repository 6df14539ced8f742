import { expect, test } from "vitest";
import { changeDraft, type Draft, sentDraft } from "./plan-draft.ts";

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
const draft: Draft = { goal: "g", summary: "", steps: [step("a"), step("b", "a"), step("c", "a", "b")] };
const idsOf = ({ steps }: Draft) => steps.map(({ id }) => id);

test("nothing waits for a step that was removed", () => {
  const left = changeDraft(draft, { kind: "removed", id: "a" });
  expect(left.steps.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ["b", []],
    ["c", ["b"]],
  ]);
});

test("a step moves by one place and never out of the list", () => {
  expect(idsOf(changeDraft(draft, { kind: "moved", id: "c", by: -1 }))).toEqual(["a", "c", "b"]);
  expect(idsOf(changeDraft(draft, { kind: "moved", id: "a", by: -1 }))).toEqual(["a", "b", "c"]);
  expect(idsOf(changeDraft(draft, { kind: "moved", id: "c", by: 1 }))).toEqual(["a", "b", "c"]);
});

test("an added step gets an id that no other has", () => {
  const one = changeDraft({ ...draft, steps: [step("step-2")] }, { kind: "added", role: "tester" });
  expect(idsOf(one)).toEqual(["step-2", "step-3"]);
  expect(one.steps[1]?.role).toBe("tester");
});

test("lines that say nothing are not sent", () => {
  const edited = changeDraft(draft, {
    kind: "step",
    id: "a",
    change: { successCriteria: ["tests pass ", "", "  "], files: ["src/a.ts", ""] },
  });
  expect(sentDraft(edited).steps[0]).toMatchObject({ successCriteria: ["tests pass"], files: ["src/a.ts"] });
});
