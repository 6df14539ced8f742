import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { askToGoOn, endCut, joinAnswer } from "./cut-answer.ts";
import type { Reply } from "./model/reply.ts";

const reply: Reply = {
  ...{ text: "", reasoning: [], calls: [], finish: "length", usage: undefined, modelId: undefined },
  maxOutputTokens: 4_096,
};
const lastText = (run: ReturnType<typeof makeRun>["run"]) => JSON.stringify(run.history.at(-1));

test("words that a model repeats before it goes on stand in the answer once", () => {
  const repeated = "the cache is emptied only at night";
  expect(joinAnswer([`It is slow because ${repeated}`, `${repeated}, by a job.`])).toBe(
    `It is slow because ${repeated}, by a job.`,
  );
});

test.each([
  ["a few characters", "one and ", "and two"],
  ["a row of numbers", `0 ${"1 2 ".repeat(10)}`, `${"1 2 ".repeat(10)}3`],
  ["three short words", "we say we do it ", "we do it now"],
  ["nothing", "one ", "two"],
])("a part that begins with %s that the text ended with is kept whole", (_, text, part) => {
  expect(joinAnswer([text, part])).toBe(text + part);
});

test("a model that is asked to go on is shown the end of all it wrote, and never half a character", () => {
  const { run } = makeRun();
  const written = `${"Q".repeat(50)}😀${"y".repeat(199)}`;
  askToGoOn(run, [written], reply);
  expect(run.cutAnswer).toEqual([written]);
  expect(lastText(run)).toContain("y".repeat(199));
  expect(lastText(run)).not.toMatch(/\\ud[c-f]|Q/);
  expect(lastText(run)).toContain("4,096 output tokens");
});

test("a cut answer that cannot go on ends as partial, with all its parts and a warning", () => {
  const { run } = makeRun();
  run.cutAnswer = ["one ", "two"];
  expect(endCut(run, "out of time", "deadline")).toEqual({
    status: "completed",
    text: "one two",
    partial: true,
    bailout: "deadline",
  });
  expect(run.warnings).toEqual([expect.stringContaining("out of time")]);
});
