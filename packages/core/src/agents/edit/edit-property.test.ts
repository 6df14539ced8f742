import fc from "fast-check";
import { expect, test } from "vitest";
import type { AgentFormat } from "../../schema/agent.ts";
import { parseAgentFile } from "../parse-agent-file.ts";
import { toForm, toReadValue } from "./check-edit.ts";
import { editAgentFile } from "./edit-agent-file.ts";

const STYLES: [format: AgentFormat, yaml: string][] = [
  ["native", "name: a\ndescription: plain # c\nx: 1\n"],
  ["claude", "name: a\ndescription: 'single'\nx: 1\n"],
  ["copilot", 'name: a\ndescription: "double"\nx: 1\n'],
  ["native", "name: a\ndescription: |\n    literal\n    # text\n\nx: 1\n"],
  ["claude", "name: a\ndescription: >-\n  folded\n  text\nx: 1\n"],
  ["native", "{name: a, description: flow, x: 1}\n"],
];

const words = fc.oneof(
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }),
  fc.string({ unit: "binary", minLength: 1, maxLength: 20 }),
  fc
    .array(
      fc.constantFrom(
        "a",
        " ",
        ": ",
        " #",
        "\n",
        "'",
        '"',
        "\\",
        "- ",
        "---",
        "[",
        "}",
        "*",
        "&",
        "!",
        "|",
        "\t",
        "é",
      ),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    .map((parts) => parts.join("")),
);

test("whatever a description or prompt says is read back, and its neighbours stay, in every style of YAML", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...STYLES),
      words,
      words,
      async ([format, yaml], description, prompt) => {
        fc.pre(toReadValue("description", description) !== "");
        const text = `---\n${yaml}---\nBody.\n`;
        const edited = await editAgentFile(text, { description, prompt }, { format });
        const { agent } = await parseAgentFile(edited, { file: "a.md", format, scope: "project" });
        expect(agent && toForm(agent)).toMatchObject({
          name: "a",
          description: toReadValue("description", description),
          prompt: toReadValue("prompt", prompt),
        });
        expect(agent?.extra).toEqual({ x: 1 });
      },
    ),
    { numRuns: 300 },
  );
});
