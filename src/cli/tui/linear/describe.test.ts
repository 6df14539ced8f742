import { expect, test } from "vitest";
import { answerKeys } from "./describe.ts";

test("a line answers a question only if it is clearly a yes, a yes for the run, or a no", () => {
  const letters = (line: string) =>
    answerKeys(line).map((key) => (key.name === "text" ? key.text : key.name));
  expect(letters("y")).toEqual(["y"]);
  expect(letters("Yes")).toEqual(["y"]);
  expect(letters("a")).toEqual(["a"]);
  expect(letters("n")).toEqual(["n", "enter"]);
  expect(letters("no use the other file")).toEqual(["n", "use the other file", "enter"]);
  for (const line of ["", "yep", "y but", "not yet known", "allow", "what is this?"])
    expect(letters(line)).toEqual([]);
});
