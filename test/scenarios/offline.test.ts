import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type BuiltInOptions, createBuiltInRuntime } from "@retinue/builtin/create-runtime";
import { loadProject } from "@retinue/builtin/load-project";
import { codeTools } from "@retinue/code/code-tools";
import { defineAgent } from "@retinue/core/agents/define-agent";
import type { RetinueEvent } from "@retinue/core/schema/event";
import { scriptedModel } from "@retinue/core/testing/scripted-model";
import { callDelegate, say } from "@retinue/core/testing/step";
import type { Procedure } from "@retinue/offline/conversation";
import { expect, test } from "vitest";

const FILES = {
  "src/oven/heat-limit.ts":
    "/** Keeps the oven below its highest temperature. Heating stops as soon as the limit is reached. */\nexport class HeatLimit {\n  mayHeat(degrees: number): boolean {\n    return degrees < this.highest;\n  }\n}\n",
  "src/oven/timer.ts": "/** Rings a bell when the bread is done. */\nexport function ring(): void {}\n",
  "README.md": "# Bakery\n\nThe bakery bakes bread in ovens with timers.\n",
  ".gitignore": "secrets/\n",
};

/** A runtime with the built-in agents and no model, on a small project of its own. */
async function bakery(more: Partial<BuiltInOptions> = {}) {
  const root = mkdtempSync(join(tmpdir(), "retinue-offline-"));
  const projectDir = join(root, "project");
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(projectDir, path)), { recursive: true });
    writeFileSync(join(projectDir, path), text);
  }
  const env = { HOME: root, RETINUE_HOME: join(root, "data"), RETINUE_DISCOVER: "0" };
  const { registry } = await loadProject({ projectDir, env });
  const runtime = createBuiltInRuntime({
    agents: registry,
    tools: codeTools,
    projectDir,
    dataDir: join(root, "data"),
    database: ":memory:",
    env,
    ...more,
  });
  const events: RetinueEvent[] = [];
  runtime.events((event) => events.push(event));
  const started = () =>
    events.flatMap((event) => (event.type === "run.started" ? [`${event.agent} ${event.model}`] : []));
  const notices = () => events.flatMap((event) => (event.type === "notice.raised" ? [event.message] : []));
  const close = async () => {
    await runtime.close();
    rmSync(root, { recursive: true, force: true });
  };
  return { runtime, events, started, notices, projectDir, [Symbol.asyncDispose]: close };
}

test("with no model a question is answered from real files through a researcher run, at no cost", async () => {
  await using t = await bakery();
  const result = await t.runtime.run({
    agent: "main",
    task: "Find where the oven limits its heat and summarise it",
  });
  expect(t.started()).toEqual(["main offline/rules", "researcher offline/rules"]);
  expect(result).toMatchObject({
    status: "completed",
    model: "offline/rules",
    cost_usd: { self: 0, subtree: 0 },
  });
  expect(result.summary).toContain(
    "`HeatLimit` (src/oven/heat-limit.ts:2): Keeps the oven below its highest temperature.",
  );
  expect(result.details).toContain("4 | return degrees < this.highest;");
  expect(result.details).toContain("(Answered by Retinue's offline model: rules, no weights.)");
  expect(result.details.split("offline model").length).toBe(2);
});

test("a person is told once that no model is configured, and not at all if it was asked for", async () => {
  await using t = await bakery();
  await t.runtime.run({ agent: "main", task: "list the files" });
  await t.runtime.run({ agent: "main", task: "Where is the bell?" });
  expect(t.notices()).toEqual([
    expect.stringMatching(/^no model is configured: using the offline model .*ANTHROPIC_API_KEY/),
  ]);
  await using asked = await bakery();
  await asked.runtime.run({ agent: "main", task: "list the files", model: "offline" });
  expect(asked.notices()).toEqual([]);
});

test("independent parts run at once, and what builds on them afterwards with their results", async () => {
  await using t = await bakery();
  const task =
    "Find where the oven limits its heat. Find where the bell rings. Then explain the results in src/oven/timer.ts.";
  const result = await t.runtime.run({ agent: "main", task });
  expect(t.started().filter((each) => each.startsWith("researcher"))).toHaveLength(3);
  const marks = t.events.flatMap((event) => {
    if (event.type === "run.started" && event.depth === 1) return ["start"];
    return event.type === "run.ended" && event.agent === "researcher" ? ["end"] : [];
  });
  expect(marks).toEqual(["start", "start", "end", "end", "start", "end"]);
  expect(result.details).toContain("3 of 3 parts are done.");
});

test("it stays within rights: what a rule denies is not seen, and said", async () => {
  await using t = await bakery({ disallowedTools: ["read(src/oven/heat-limit.ts)"] });
  const result = await t.runtime.run({ agent: "researcher", task: "Where is HeatLimit?" });
  expect(result.details).not.toContain("degrees");
  expect(result.details).toContain("Nothing in the project's files matches “HeatLimit”");
});

test.each(["Write a poem about bread", "Implement a second oven in src/oven"])(
  "'%s' fails honestly",
  async (task) => {
    await using t = await bakery();
    const result = await t.runtime.run({ agent: "main", task });
    expect(result).toMatchObject({
      status: "failed",
      success: false,
      error: { type: "config", recoverable: false },
    });
    expect(result.error?.message).toMatch(/rules, not weights: it cannot write .*To add a model/);
    expect(result.files_modified).toEqual([]);
  },
);

test("of a request that is half possible, the half is done and the rest named", async () => {
  await using t = await bakery();
  const result = await t.runtime.run({
    agent: "main",
    task: "Find where the bell rings and implement a second bell",
  });
  expect(result.status).toBe("completed");
  expect(result.details).toMatch(/1 of 2 parts are done\.\n\nNot done: “implement a second bell”/);
  expect(result.details).toContain("src/oven/timer.ts:2");
});

test("an agent without a procedure is refused in front of its parent; others may bring one", async () => {
  const baker = defineAgent({
    name: "baker",
    description: "Bakes bread.",
    prompt: "You bake.",
    tools: ["ls"],
  });
  const procedure: Procedure = { agents: ["baker"], next: () => ({ say: "The bread is done." }) };
  await using without = await bakery({ agents: [baker] });
  const refused = await without.runtime.run({ agent: "baker", task: "Bake" });
  expect(refused.error?.message).toContain(
    "cannot play the agent 'baker'. It can play main, report-creation-expert, assistant, email,",
  );
  await using brought = await bakery({ agents: [baker], procedures: [procedure] });
  expect((await brought.runtime.run({ agent: "baker", task: "Bake" })).details).toContain(
    "The bread is done.",
  );
});

test("a model that was asked for by name and is missing is an error, never the offline model", async () => {
  await using t = await bakery();
  await expect(t.runtime.run({ agent: "main", task: "list the files", model: "nowhere/x" })).rejects.toThrow(
    "no model 'nowhere/x'",
  );
});

test("a child of a model that inherits gets that model, and one that names offline gets the rules", async () => {
  const agents = [
    defineAgent({
      name: "lead",
      description: "Leads.",
      prompt: "You lead.",
      subagents: { allow: ["researcher"] },
    }),
    defineAgent({
      name: "researcher",
      description: "Looks.",
      prompt: "You look.",
      model: "offline",
      tools: ["read", "grep"],
    }),
  ];
  const model = scriptedModel("lead", [callDelegate("researcher", "Where is HeatLimit?"), say("found")]);
  await using t = await bakery({ agents, model });
  await t.runtime.run({ agent: "lead", task: "look" });
  expect(t.started()).toEqual(["lead scripted/lead", "researcher offline/rules"]);
});
