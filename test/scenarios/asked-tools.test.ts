import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeTools } from "@retinue/code/code-tools";
import { callTool, say, testRuntime } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { resultsSeen } from "../attacks/attack.ts";
import { hasSandbox } from "../fixtures/has-sandbox.ts";

/** Everything that is asked for is allowed; gives what the model was answered. */
async function answers(askTools: string[], tool: string, input: object): Promise<string> {
  await using t = testRuntime(
    { lead: [callTool(tool, input), say("done")] },
    {
      tools: codeTools,
      agents: { lead: { askTools } },
      approve: async () => ({ allowed: true, by: "Ada" }),
    },
  );
  writeFileSync(join(t.projectDir, "a.txt"), "needle a\n");
  writeFileSync(join(t.projectDir, "b.txt"), "needle b\n");
  await t.runtime.run({ agent: "lead", task: "go" });
  return resultsSeen(t, "lead")
    .map(({ text }) => text)
    .join("\n");
}

test.each(["grep", "filesystem", "*"])("a search that a person allowed, asked by %s, finds", async (rule) => {
  expect(await answers([rule], "grep", { pattern: "needle" })).toBe("a.txt:1:needle a\nb.txt:1:needle b");
});

test("what would be asked for by its own rule is not found by a search that was allowed", async () => {
  const text = await answers(["grep", "read(a.txt)"], "grep", { pattern: "needle" });
  expect(text).toContain("needle b");
  expect(text).not.toContain("needle a");
  const unread = await answers(["grep", "read"], "grep", { pattern: "needle" });
  expect(unread).not.toContain("needle a");
});

test.skipIf(!hasSandbox)("a command that a person allowed sees the files (needs bubblewrap)", async () => {
  expect(await answers(["shell"], "shell", { command: "cat a.txt" })).toContain("needle a");
});
