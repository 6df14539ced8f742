import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseAgentFile } from "../parse-agent-file.ts";
import { fixAgentFile } from "./repair-yaml.ts";

const options = { file: "/x.md", format: "claude", scope: "project" } as const;
const FIXTURES = join(import.meta.dirname, "../../../../../test/fixtures/agents");

test("only the broken value is quoted; comments, order, unknown keys and line ends stay", async () => {
  const text =
    "\uFEFF---\r\n# note\r\nzeta: 1 # kept\r\nname:   x\r\ndescription: Use: it\r\ntools: Read , Bash\r\n---\r\nBody: \ttext\r";
  const { text: fixed, changes } = await fixAgentFile(text);
  expect(fixed).toBe(text.replace("Use: it", '"Use: it"'));
  expect(changes).toEqual([
    { line: 5, key: "description", before: "description: Use: it", after: 'description: "Use: it"' },
  ]);
});

test("a description over several lines becomes one quoted line", async () => {
  const { text } = await fixAgentFile("---\ndescription: Use: it\n  when: needed\n\nmodel: fast\n---\nText.");
  expect(text).toBe('---\ndescription: "Use: it\\nwhen: needed"\n\nmodel: fast\n---\nText.');
});

test("a comment and a field named like a speaker stay what they are", async () => {
  const text = "---\ndescription: Use: it\n# who pays\ncontext: summary\n---\nText.";
  const fixed = await fixAgentFile(text);
  expect(fixed.text).toBe(text.replace("Use: it", '"Use: it"'));
  expect((await parseAgentFile(text, options)).agent).toMatchObject({
    description: "Use: it",
    context: "summary",
  });
});

test("list items and tabs are repaired in place", async () => {
  const { text } = await fixAgentFile(
    "---\ndescription: d\ntools:\n  - Read # yes\n  - *\nlimits:\n\tturns: 3\n---\nText.",
  );
  expect(text).toBe(
    '---\ndescription: d\ntools:\n  - "Read" # yes\n  - "*"\nlimits:\n  turns: 3\n---\nText.',
  );
});

test.each([
  "broken/beyond-repair.md",
  "broken/unclosed.md",
  "broken/scripted.md",
  "project/.claude/agents/planner.md",
])("%s comes back unchanged", async (name) => {
  const text = await readFile(join(FIXTURES, name), "utf8");
  expect(await fixAgentFile(text)).toEqual({ text, changes: [] });
});

test("a fixed file reads the same, without repairs, and is not changed again", async () => {
  const value = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.string({ maxLength: 40, unit: fc.constantFrom(..."ab:#'\"\\@`*&!|>%[]{}, -?~\t".split("")) }),
  );
  await fc.assert(
    fc.asyncProperty(value, value, fc.constantFrom("\n", "\r\n"), async (first, second, end) => {
      const lines = [
        "---",
        "name: x",
        `description: d${first}: ${second}`,
        `model: ${second}`,
        "---",
        "Text.",
      ];
      const text = lines.join(end);
      const before = await parseAgentFile(text, options);
      const { text: fixed, changes } = await fixAgentFile(text);
      const after = await parseAgentFile(fixed, options);
      expect(after.agent).toEqual(before.agent);
      expect(after.problems.filter((problem) => problem.code === "repaired-yaml")).toEqual([]);
      expect(await fixAgentFile(fixed)).toEqual({ text: fixed, changes: [] });
      if (changes.length === 0) expect(fixed).toBe(text);
    }),
    { numRuns: 400 },
  );
});
