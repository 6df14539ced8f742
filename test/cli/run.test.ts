import { expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { World } from "./world.ts";

/** A world whose model plays a script. */
async function worldWith(script: (request: ModelRequest) => ModelReply): Promise<World> {
  const world = new World();
  world.model = await startModel(script);
  return world;
}

const batch = (tasks: object[]) => ({ calls: [{ name: "delegate_many", input: { tasks } }] });

test("of A and B, then C, the last receives both results", async () => {
  await using world = await worldWith(({ system, turn, last }) => {
    if (!system.includes("You are main.")) return { text: `done: ${last.split("\n")[0]}` };
    const tasks = [
      { id: "a", agent: "worker", task: "task A" },
      { id: "b", agent: "worker", task: "task B" },
      { id: "c", agent: "worker", task: "task C", dependsOn: ["a", "b"] },
    ];
    return turn === 0 ? batch(tasks) : { text: "all three are done" };
  });
  world.agent("main", "subagents: [worker]");
  world.agent("worker", "");
  const { code, stdout } = await world.call(["A and B, then C"]);
  expect([code, stdout]).toEqual([0, "all three are done\n"]);
  const [third] =
    world.model?.requests.filter(({ all }) => all.includes("task C") && !all.includes("You are main.")) ?? [];
  expect(third?.last).toContain("done: task A");
  expect(third?.last).toContain("done: task B");
});

test("tasks that wait for each other are refused and named", async () => {
  await using world = await worldWith(({ turn, last }) => {
    const tasks = [
      { id: "first", agent: "worker", task: "A", dependsOn: ["second"] },
      { id: "second", agent: "worker", task: "B", dependsOn: ["first"] },
    ];
    return turn === 0 ? batch(tasks) : { text: `it said: ${last}` };
  });
  world.agent("main", "subagents: [worker]");
  world.agent("worker", "");
  const { stdout } = await world.call(["run", "go round"]);
  expect(stdout).toContain("tasks depend on each other in a circle: first → second → first");
  expect(world.model?.requests).toHaveLength(2);
});

test("an agent that is already at work above is refused and named", async () => {
  await using world = await worldWith(({ system, turn, last }) => {
    const other = system.includes("You are main.") ? "helper" : "main";
    return turn === 0
      ? { calls: [{ name: "delegate", input: { agent: other, task: "you do it" } }] }
      : { text: last };
  });
  world.agent("main", "subagents: [helper]");
  world.agent("helper", "subagents: [main, worker]");
  world.agent("worker", "");
  const { stdout } = await world.call(["run", "go round"]);
  expect(stdout).toContain("'main' is already at work above (main → helper → main)");
});

test("a child that claims to be done without its deliverable is reported to parent and person", async () => {
  await using world = await worldWith(({ system, turn }) => {
    if (!system.includes("You are main.")) return { text: "The report is written." };
    return turn === 0
      ? { calls: [{ name: "delegate", input: { agent: "writer", task: "write the report" } }] }
      : { text: "The writer left nothing." };
  });
  world.agent("main", "subagents: [writer]");
  world.agent("writer", "deliverables: [work_products/report.html]");
  const { code, stdout, stderr } = await world.call(["run", "-p", "get me a report"]);
  expect([code, stdout]).toEqual([1, "The writer left nothing.\n"]);
  const told = world.model?.requests.findLast(({ system }) => system.includes("You are main."));
  expect(told?.last).toContain(
    "COMPLIANCE ERROR: writer did not leave what its contract demands: `work_products/report.html`",
  );
  expect(stderr).toMatch(/^❌ COMPLIANCE ERROR: writer .*report\.html/m);
});

test("the task may come by stdin, and --print shows the result alone", async () => {
  await using world = await worldWith(({ last }) => ({ text: `heard: ${last}` }));
  world.agent("main", "");
  const { code, stdout, stderr } = await world.call(["-p"], { input: "what came by stdin" });
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "heard: what came by stdin\n", stderr: "" });
});

test("--output-format json prints the whole result", async () => {
  await using world = await worldWith(() => ({ text: "fine" }));
  world.agent("main", "");
  const { stdout } = await world.call(["run", "--json", "say something"]);
  expect(JSON.parse(stdout)).toMatchObject({
    agent: "main",
    model: "local/mock",
    success: true,
    details: "fine",
    tokens: { self: 15, subtree: 15 },
    cost_usd: { self: null, subtree: null },
  });
});

test("a person's turn limit ends the run as partial with exit code 53", async () => {
  await using world = await worldWith(({ turn, last }) =>
    last.includes("limit")
      ? { text: "half" }
      : { calls: [{ name: "ls", input: { path: turn % 2 ? "." : "./" } }] },
  );
  world.agent("main", "");
  const { code, stdout } = await world.call(["run", "go on for ever", "--max-turns", "1"]);
  expect([code, stdout]).toEqual([53, "half\n"]);
});

test("a model's text cannot steer the terminal", async () => {
  await using world = await worldWith(() => ({
    text: "red \u001b[31malert\u001b[0m \u001b]0;title\u0007end",
  }));
  world.agent("main", "");
  const { stdout } = await world.call(["-p", "say it"], { input: "" });
  expect(stdout).not.toContain("\u001b");
});

test("an ask without a person is an immediate, named denial with exit code 54", async () => {
  await using world = await worldWith(({ turn, last }) =>
    turn === 0 ? { calls: [{ name: "write", input: { path: "a.txt", content: "x" } }] } : { text: last },
  );
  world.agent("main", "askTools: [write]");
  const { code, stdout, stderr } = await world.call(["run", "write it down"]);
  expect(code).toBe(54);
  expect(stderr).toMatch(/⏸ main asks to use write/);
  expect(stderr).toContain(
    "🚫 denied, nobody is there to ask: allow it at a terminal, or with --allowed-tools",
  );
  expect(stdout).toContain("'write' needs approval");
  const allowed = await world.call(["run", "write it down", "--allowedTools", "Write(a.txt), Read"]);
  expect(allowed.code).toBe(0);
  expect(world.read("a.txt")).toBe("x");
});

test("a tool that is disallowed for the session is not offered", async () => {
  await using world = await worldWith(({ toolNames }) => ({ text: toolNames.join(" ") }));
  world.agent("main", "");
  const { stdout } = await world.call(["run", "what have you got", "--disallowed-tools", "Write"]);
  expect(stdout.trim().split(" ")).toEqual(expect.arrayContaining(["read", "ls", "grep", "shell"]));
  expect(stdout).not.toMatch(/\bwrite\b/);
  const typo = await world.call(["run", "what have you got", "--disallowed-tools", "wriet"]);
  expect([typo.code, typo.stderr]).toEqual([42, expect.stringContaining("did you mean 'write'?")]);
});

test("agents may be given as JSON", async () => {
  await using world = await worldWith(({ system }) => ({ text: system }));
  const agents = JSON.stringify({
    poet: { description: "Writes verse.", prompt: "You rhyme.", tools: ["Read"] },
  });
  const { stdout } = await world.call(["run", "--agents", agents, "--agent", "poet", "a poem please"]);
  expect(stdout).toContain("You rhyme.");
  const bad = await world.call(["run", "--agents", "{", "--agent", "poet", "a poem please"]);
  expect([bad.code, bad.stderr]).toEqual([42, expect.stringContaining("--agents cannot be used")]);
});

test("--max-output-tokens bounds the replies of agents that do not say, and must be a whole number", async () => {
  await using world = await worldWith(({ system, turn }) =>
    system.includes("You are main.") && turn === 0
      ? { calls: [{ name: "delegate", input: { agent: "worker", task: "x" } }] }
      : { text: "done" },
  );
  world.agent("main", "subagents: [worker]");
  world.agent("worker", "maxOutputTokens: 700");
  expect((await world.call(["run", "go", "--max-output-tokens", "3000"])).code).toBe(0);
  expect(world.model?.requests.map(({ maxTokens }) => maxTokens)).toEqual([3_000, 700, 3_000]);
  for (const wrong of ["0", "-1", "1.5", "NaN", "many", "1e308"])
    expect((await world.call(["run", "go", "--max-output-tokens", wrong])).code).toBe(2);
});
