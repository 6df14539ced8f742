import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRun } from "../../../../test/fixtures/hand-made-run.ts";
import { countedTool } from "../../../../test/fixtures/lives.ts";
import { openSeen } from "../../../../test/fixtures/seen-runs.ts";
import { defineAgent } from "../agents/define-agent.ts";
import { createRegistry } from "../agents/registry.ts";
import { callDelegate, say } from "../testing/index.ts";
import { isIdle } from "./profile.ts";

const done = say("done");

test("a program gives its child more turns than the child's agent has for itself, a model gives it no more", async () => {
  const limits = { turns: 50 };
  const scripts = { lead: [callDelegate("worker", "x", { limits }), done], worker: { eachRun: [done] } };
  await using seen = openSeen(scripts, { agents: { worker: { limits: { turns: 10 } } } });
  await seen.runtime.run({ agent: "lead", task: "go" });
  await using session = await seen.runtime.openSession();
  await session.spawn("worker", "x", { limits }).result;
  expect([0, 1].map((index) => seen.find("worker", index).limits.turns)).toEqual([10, 50]);
});

test("what the project tells its agents reaches those that work in it, and brings its text into the session", async () => {
  const entered = async (groups: string[]) => {
    const tool = { ...countedTool("note").tool, groups };
    await using seen = openSeen({ lead: [done] }, { tools: [{ ...tool, name: "read" }] });
    writeFileSync(join(seen.projectDir, "AGENTS.md"), "Use tabs.");
    await seen.runtime.run({ agent: "lead", task: "go" });
    const { system, session } = seen.find("lead");
    return [system.includes("Use tabs."), session.projectText.hasEntered];
  };
  expect(await entered(["filesystem"])).toEqual([true, true]);
  expect(await entered(["notes"])).toEqual([false, false]);
});

test("an agent is asked by nobody below it, and by itself only where it may call itself", async () => {
  const delegates = async (recursive: boolean) => {
    await using seen = openSeen(
      { lead: [callDelegate("middle", "x"), done], middle: [done], worker: [] },
      { agents: { middle: { subagents: { allow: ["*"], recursive } } }, lenient: true },
    );
    await seen.runtime.run({ agent: "lead", task: "go" });
    return seen.find("middle").children?.delegates.map(({ name }) => name);
  };
  expect(await delegates(false)).toEqual(["worker", "general-purpose"]);
  expect(await delegates(true)).toEqual(["lead", "middle", "worker", "general-purpose"]);
});

test("an agent is idle if none of its tools is set up, or if it only leads such agents", () => {
  const tools = [
    { ...countedTool("mail").tool, isSetUp: false },
    { ...countedTool("calendar").tool, isSetUp: false },
    countedTool("read").tool,
  ];
  const agent = (name: string, held: string[], allow?: string[]) =>
    defineAgent({ name, description: "x", prompt: "x", tools: held, ...(allow && { subagents: { allow } }) });
  const agents = [
    agent("secretary", ["mail", "calendar"]),
    agent("reader", ["mail", "read"]),
    agent("head", [], ["secretary"]),
    agent("lead", [], ["secretary", "reader"]),
    agent("bare", []),
  ];
  const { host } = makeRun({ tools, host: { registry: createRegistry({ agents }) } }).run;
  expect(agents.filter((one) => isIdle(host, one)).map(({ name }) => name)).toEqual(["secretary", "head"]);
});
