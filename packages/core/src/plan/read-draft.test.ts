import { expect, test } from "vitest";
import { readDraft } from "./read-draft.ts";

const DRAFT = { summary: "s", steps: [{ id: "a", dependsOn: [], files: [] }] };
const json = JSON.stringify(DRAFT);

test.each([
  ["the whole text", json],
  ["a fenced block", `Words.\n\n\`\`\`json\n${json}\n\`\`\`\nMore words.`],
  ["a block without a language", `\`\`\`\n${json}\n\`\`\``],
  ["an indented block", `- here:\n  \`\`\`json\n  ${json}\n  \`\`\``],
  ["the last of several blocks", `\`\`\`json\n{"steps": []}\n\`\`\`\nbetter:\n\`\`\`json\n${json}\n\`\`\``],
  [
    "the one block with steps",
    `\`\`\`json\n${json}\n\`\`\`\n\`\`\`ts\n{ x }\n\`\`\`\n\`\`\`json\n{"a": 1}\n\`\`\``,
  ],
])("a plan is read from %s", (_, text) => {
  expect(readDraft(text)).toEqual(DRAFT);
});

test.each(["", "no plan", "```json\n{broken\n```", '```json\n{"a": 1}\n```'])(
  "'%s' holds no plan",
  (text) => {
    expect(readDraft(text)).toBeUndefined();
  },
);

test("other spellings are put right, and what is not known stays to be complained about", () => {
  const step = {
    id: 1,
    agent: "coder",
    depends_on: [2],
    success_criteria: "it works",
    estimate: { tool_calls: 3 },
    whim: true,
  };
  expect(readDraft(JSON.stringify({ steps: [step, { estimate: 4 }], extra: 1 }))).toEqual({
    steps: [
      {
        id: "1",
        role: "coder",
        dependsOn: ["2"],
        successCriteria: ["it works"],
        estimate: { toolCalls: 3 },
        files: [],
        whim: true,
      },
      { dependsOn: [], files: [], estimate: { toolCalls: 4 } },
    ],
  });
});

test("of two spellings of one field the right one counts", () => {
  const { steps } = readDraft('{"steps":[{"role":"a","agent":"b"}]}') as { steps: object[] };
  expect(steps).toEqual([{ role: "a", dependsOn: [], files: [] }]);
});
