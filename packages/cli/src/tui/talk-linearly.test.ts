import { expect, test } from "vitest";
import { answerKeys, createLineReader } from "./talk-linearly.ts";

const asked = (nowMs: number) => ({ isAsked: true, nowMs });
const idle = (nowMs: number) => ({ isAsked: false, nowMs });

test("an answer to a question that has gone is neither sent on nor taken for the next question", () => {
  const reader = createLineReader();
  reader.asked(0);
  expect(reader.read("y", idle(10))).toMatchObject({ keys: [], fault: expect.stringContaining("has gone") });
  expect(reader.read("y", idle(20)).keys).toHaveLength(2);
  reader.asked(1_000);
  reader.asked(2_000);
  expect(reader.read("y", asked(2_900))).toMatchObject({
    keys: [],
    fault: expect.stringContaining("another"),
  });
  expect(reader.read("y", asked(3_000))).toEqual({ keys: [{ name: "text", text: "y" }] });
});

test("a question that comes after an answer can be answered at once", () => {
  const reader = createLineReader();
  reader.asked(0);
  expect(reader.read("n", asked(1)).keys).toHaveLength(2);
  reader.asked(2);
  expect(reader.read("y", asked(3)).keys).toHaveLength(1);
});

test("a line that is no answer leaves the question open, and a sentence after the question has gone is a message", () => {
  const reader = createLineReader();
  reader.asked(0);
  expect(reader.read("what?", asked(1)).fault).toContain("no answer");
  expect(reader.read("", asked(2))).toEqual({ keys: [] });
  expect(reader.read("no, use the other file", idle(3))).toMatchObject({
    keys: [{ name: "text", text: "no, use the other file" }, { name: "enter" }],
  });
});

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
