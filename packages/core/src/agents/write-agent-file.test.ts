import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { AgentFormat } from "../schema/agent.ts";
import { parseAgentFile } from "./parse-agent-file.ts";
import { writeAgentFile } from "./write-agent-file.ts";

const FIXTURES = fileURLToPath(new URL("../../../../test/fixtures/agents", import.meta.url));
const BUILT_IN = fileURLToPath(new URL("../../../../agents", import.meta.url));
const FORMATS: readonly AgentFormat[] = ["native", "claude", "opencode", "copilot", "gemini"];

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
}

test("every agent we have, of every program, means the same once it is written in our own format", async () => {
  let count = 0;
  for (const file of [...filesIn(FIXTURES), ...filesIn(BUILT_IN)]) {
    const bytes = readFileSync(file);
    if (bytes.includes(0)) continue;
    for (const format of FORMATS) {
      const { agent } = await parseAgentFile(bytes.toString("utf8"), { file, format, scope: "project" });
      if (!agent) continue;
      const { source: _, ...meaning } = agent;
      const text = await writeAgentFile(agent);
      const again = await parseAgentFile(text, { file, format: "native", scope: "project" });
      const { source: __, ...read } = again.agent ?? { source: null };
      expect(read, `${file} as ${format}:\n${text}`).toEqual(meaning);
      count++;
    }
  }
  expect(count).toBeGreaterThan(50);
});

test("what goes without saying is left out, and unknown keys stay", async () => {
  const text =
    "---\nname: scout\ndescription: 'Finds: things'\ntools: Read, Bash(npm test *)\nodd: {deep: [1]}\n---\nLook.\n";
  const { agent } = await parseAgentFile(text, { file: "scout.md", format: "claude", scope: "project" });
  expect(agent && (await writeAgentFile(agent))).toBe(
    '---\nname: scout\ndescription: "Finds: things"\ntools: [read, shell(npm test *)]\nodd: {deep: [1]}\n---\nLook.\n',
  );
});
