import fc from "fast-check";
import { expect, test } from "vitest";
import { HOSTILE_KEYS, HOSTILE_NAMES, HOSTILE_VALUES } from "../../../../test/fixtures/hostile-agents.ts";
import { grantsLayer, toolsLayer } from "../rights/layers.ts";
import type { AgentFormat } from "../schema/agent.ts";
import { parseAgentValue } from "./define-agent.ts";
import { toForm } from "./edit/check-edit.ts";
import { parseAgentFile } from "./parse-agent-file.ts";
import { createRegistry } from "./registry.ts";
import { writeAgentFile } from "./write-agent-file.ts";

const RUNS = { numRuns: process.env.RETINUE_DEEP ? 20_000 : 400 };
const formats = fc.constantFrom<AgentFormat>("native", "claude", "opencode", "copilot", "gemini");
const value = fc.oneof(fc.constantFrom(...HOSTILE_VALUES), fc.constantFrom(...HOSTILE_NAMES));
const line = fc.tuple(fc.constantFrom(...HOSTILE_KEYS), value).map(([key, text]) => `${key}: ${text}`);
const lines = fc.array(line, { maxLength: 6 });

test("no frontmatter throws, and what is read can be listed, shown, judged, written and read again", async () => {
  let usable = 0;
  const property = fc.asyncProperty(
    formats,
    fc.constantFrom(...HOSTILE_NAMES),
    lines,
    async (format, name, more) => {
      const text = `---\nname: ${name}x\ndescription: d\n${more.join("\n")}\n---\nText.\n`;
      const read = await parseAgentFile(text, { file: "/p/x.md", format, scope: "project" });
      const registry = createRegistry({
        agents: read.agent === undefined ? [] : [read.agent],
        disabledAgents: HOSTILE_NAMES,
      });
      if (read.agent === undefined) expect(read.problems.map(({ file }) => file)).toContain("/p/x.md");
      for (const each of HOSTILE_NAMES) expect(registry.unknownAgentMessage(each)).toContain(each);
      for (const agent of [...registry.list(), ...registry.disabled]) {
        usable++;
        expect(JSON.parse(JSON.stringify({ ...agent, form: toForm(agent) }))).toHaveProperty("name");
        toolsLayer(agent);
        grantsLayer(agent);
        const written = await writeAgentFile(agent);
        const again = await parseAgentFile(written, { file: "/p/x.md", format: "native", scope: "project" });
        expect(again.agent?.name).toBe(agent.name);
      }
    },
  );
  await fc.assert(property, RUNS);
  expect(usable).toBeGreaterThan(RUNS.numRuns / 20);
});

test("bytes, dates and numbers that are not exact are kept as they are written", async () => {
  const text =
    "---\nname: x\ndescription: d\nblob: !!binary aGVsbG8=\nday: !!timestamp 2020-01-01\nbig: 12345678901234567890\n---\nT";
  const { agent } = await parseAgentFile(text, { file: "/x.md", format: "native", scope: "user" });
  expect(agent?.extra).toEqual({ blob: "aGVsbG8=", day: "2020-01-01", big: "12345678901234567890" });
});

test("an agent in code may hold anything beside its fields without harm", () => {
  const value: Record<string, unknown> = {
    ...{ name: "x", description: "d", prompt: "p", aliases: ["constructor"] },
    ...{
      hook: () => 1,
      bytes: new Uint8Array([1]),
      day: new Date(0),
      big: 10n,
      sign: Symbol("s"),
      map: new Map(),
    },
  };
  value.self = value;
  const { agent } = parseAgentValue(value);
  const registry = createRegistry({ agents: agent === undefined ? [] : [agent] });
  expect(registry.get("constructor")?.name).toBe("x");
  expect(registry.get("toString")).toBeUndefined();
  expect(registry.get("__proto__")).toBeUndefined();
});
