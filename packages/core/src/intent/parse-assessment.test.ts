import { expect, test } from "vitest";
import { parseAssessment } from "./parse-assessment.ts";

const PLAN = { tools: ["send"], params: { body: "a {b} ```c```" }, missing: [] };
const assessed = (text: string) => {
  const parsed = parseAssessment(text);
  return parsed.ok ? parsed.assessment : parsed.problem;
};

test.each([
  JSON.stringify(PLAN),
  `Here it is: ${JSON.stringify(PLAN)} Good luck.`,
  `With {braces} before:\n\`\`\`json\n${JSON.stringify({ ...PLAN, params: { body: "x" } })}\n\`\`\`\nand {after}.`,
])("one object is found bare, amid words, and in a code block", (text) => {
  expect(assessed(text)).toMatchObject({ tools: ["send"], status: "planning" });
});

test("an empty or a denying entry says that nothing is missing", () => {
  for (const missing of [[""], ["none"], ["Nothing."], ["n/a", "-"]])
    expect(assessed(JSON.stringify({ ...PLAN, missing }))).toMatchObject({ status: "planning", missing: [] });
  expect(assessed(JSON.stringify({ ...PLAN, missing: ["recipient"] }))).toMatchObject({ status: "failed" });
});

test("what is not said counts as the careful choice, and nothing beyond the plan is due", () => {
  expect(assessed(JSON.stringify(PLAN))).toMatchObject({ risk: "high", confidence: 0.5, sequence: ["send"] });
  const said = { ...PLAN, risk: "harmless", confidence: 7, sequence: ["send", "fly", "send"] };
  expect(assessed(JSON.stringify(said))).toMatchObject({
    risk: "high",
    confidence: 1,
    sequence: ["send", "send"],
  });
  expect(assessed(JSON.stringify({ ...PLAN, risk: "low", confidence: -1 }))).toMatchObject({
    ...{ risk: "low", confidence: 0 },
  });
});

test("names that objects have by themselves are plain names, and no prototype is set", () => {
  const text = '{"tools":["constructor","__proto__"],"params":{"__proto__":{"x":1},"constructor":1}}';
  expect(assessed(text)).toMatchObject({ tools: ["constructor", "__proto__"], params: { constructor: 1 } });
  expect(({} as { x?: number }).x).toBeUndefined();
});

test.each([
  ["line ends", `\`\`\`${"\n".repeat(100_000)}`],
  ["line ends before an end", `\`\`\`${"\n".repeat(100_000)}}`],
  ["code blocks", "```\n {".repeat(100_000)],
  ["braces", "{".repeat(1_000_000)],
  ["names", JSON.stringify({ tools: Array(300_000).fill("ab"), sequence: Array(300_000).fill("cd") })],
])("a reply of nothing but %s is read at once", (_, text) => {
  const found = assessed(text);
  expect(typeof found === "string" || found.sequence.length < 1_000).toBe(true);
});
