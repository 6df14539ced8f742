import type { ExecutionPlan, PlanResult } from "@retinue/core/schema/plan";
import { expect, test } from "vitest";
import { step } from "../fixtures/plans.ts";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { World } from "./world.ts";

const DIAMOND = [
  step("look"),
  step("left", ["look"]),
  step("right", ["look"]),
  step("join", ["left", "right"]),
];

/** A project with a leader, a planner that answers with these steps, and a worker. */
async function planned(steps: object[], work: (request: ModelRequest) => ModelReply): Promise<World> {
  const world = new World();
  world.agent("main", "subagents: [planner, worker]");
  world.agent("planner", "tools: [read]");
  world.agent("worker", "tools: [read]");
  world.model = await startModel((request) =>
    request.system.startsWith("You are planner.")
      ? { text: JSON.stringify({ summary: "Look, then do.", steps }) }
      : work(request),
  );
  return world;
}

const answer = (request: ModelRequest): ModelReply => ({
  text: `did ${/^task of (\S+)/m.exec(request.all.slice(request.system.length))?.[1]}`,
});

test("a goal becomes a plan that is printed, stored, approved, carried out and shown", async () => {
  await using world = await planned(DIAMOND, answer);
  const made = await world.call(["plan", "make the oven safe"]);
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("retinue plan run pln_")]);
  const lines = made.stdout.split("\n");
  expect(lines[0]).toMatch(/^pln_\w+ {2}draft {2}version 1 {2}4 steps, about 8 tool calls$/);
  expect(lines.slice(1, 9)).toEqual([
    "goal: make the oven safe",
    "Look, then do.",
    "",
    "#  STEP   ROLE    NEEDS  CALLS  TITLE",
    "1  look   worker  -      2      Do look",
    "2  left   worker  1      2      Do left",
    "3  right  worker  1      2      Do right",
    "4  join   worker  2, 3   2      Do join",
  ]);
  expect(made.stdout).toContain("   - join is done");
  expect(world.model?.requests).toHaveLength(1);
  const id = lines[0]?.split(" ")[0] ?? "";

  const early = await world.call(["plan", "run", id]);
  expect([early.code, early.stderr]).toEqual([54, expect.stringContaining(`retinue plan approve ${id}`)]);
  expect((await world.call(["plan", "approve", id])).stdout).toBe(`${id} is approved\n`);
  const { code, stdout } = await world.call(["plan", "run", "last"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Plan ${id}: completed. 4 of 4 steps done.`);
  expect(stdout).toContain("- join (worker): completed. Do join: did join");
  expect(stdout).toContain("Tool calls: planning 0, execution 0, review 0, total 0");

  const shown: ExecutionPlan = JSON.parse((await world.call(["plan", "show", id, "--json"])).stdout);
  expect(shown).toMatchObject({ id, status: "completed", results: [{}, {}, {}, { status: "completed" }] });
  expect((await world.call(["plan", "list"])).stdout).toMatch(
    new RegExp(`${id} .* completed +4 +\\S+ +make the oven safe`),
  );
  const again = await world.call(["plan", "run", id]);
  expect([again.code, again.stderr]).toEqual([42, expect.stringContaining("is completed")]);
});

test("with --approve it is carried out at once, and --json prints the outcome with calls by phase", async () => {
  await using world = await planned([step("only")], answer);
  const { code, stdout, stderr } = await world.call([
    "plan",
    "--json",
    "--approve",
    "-p",
    "make the oven safe",
  ]);
  expect([code, stderr]).toEqual([0, ""]);
  const result: PlanResult = JSON.parse(stdout);
  expect(result).toMatchObject({
    success: true,
    steps: [{ step_id: "only", status: "completed", result: { details: "did only" } }],
    tool_calls: { planning: 0, execution: 0, review: 0, total: 0 },
  });
});

test("a failed plan exits with 1, can be edited by file or editor, and goes on from what is done", async () => {
  await using world = await planned([step("a"), step("b", ["a"])], (request) =>
    request.all.includes("task of b") ? { text: " " } : answer(request),
  );
  const failed = await world.call(["plan", "--approve", "--no-replan", "make the oven safe"]);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("retinue plan edit pln_")]);
  expect(failed.stdout).toContain("1 of 2 steps done; failed: b");
  const plan: ExecutionPlan = JSON.parse((await world.call(["plan", "show", "last", "--json"])).stdout);

  const wrong = world.write("wrong.json", JSON.stringify({ steps: [step("a", ["a"], { role: "wizard" })] }));
  const refused = await world.call(["plan", "edit", plan.id, "--file", wrong]);
  expect(refused.code).toBe(42);
  expect(refused.stderr).toContain("a → a");
  expect(refused.stderr).toContain("'wizard', which is no agent that can be delegated to; available: worker");

  const none = await world.call(["plan", "edit", plan.id]);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("$EDITOR")]);
  const edited = await world.call(["plan", "edit", plan.id], {
    env: { EDITOR: "sed -i 's/task of b/task of c/'" },
  });
  expect(edited.code).toBe(0);
  expect(edited.stdout).toMatch(/draft {2}version 2/);
  const before = world.model?.requests.length ?? 0;
  const went = await world.call(["plan", "run", plan.id, "--approve"]);
  expect(went.stdout).toContain("- a (worker): completed, done before.");
  expect(went.stdout).toContain("- b (worker): completed. Do b: did c");
  expect(went.code).toBe(0);
  expect((world.model?.requests.length ?? 0) - before).toBe(1);
});

test("a killed execution goes on with resume", async () => {
  let stuck = true;
  await using world = await planned(DIAMOND, (request) =>
    stuck && request.all.includes("task of right") ? { hang: true } : answer(request),
  );
  const first = world.start(["plan", "--approve", "make the oven safe"]);
  while (!world.model?.requests.some((request) => request.last.startsWith("task of right")))
    await new Promise((resolve) => setImmediate(resolve));
  first.child.kill("SIGKILL");
  await first.ended;
  const { stderr } = await world.call(["plan", "run", "last"]);
  expect(stderr).toMatch(/hint: if its process is gone, go on with: retinue resume ses_\w+/);
  stuck = false;
  const resumed = await world.call(["resume"]);
  expect(resumed.code).toBe(0);
  expect(resumed.stdout).toContain("completed. 4 of 4 steps done.");
  expect((await world.call(["plan", "show", "last"])).stdout).toMatch(/^pln_\w+ {2}completed/);
  const looked = world.model?.requests.filter((request) => request.last.startsWith("task of look"));
  expect(looked).toHaveLength(1);
});

test("no plan from the planner, a single word and an unknown id are different errors", async () => {
  await using world = await planned([step("a", [], { role: "nobody" })], answer);
  const bad = await world.call(["plan", "-p", "make the oven safe"]);
  expect([bad.code, bad.stdout]).toEqual([1, ""]);
  expect(bad.stderr).toContain("error: the plan is not valid: step 'a' is for 'nobody'");
  expect((await world.call(["plan", "lst"])).stderr).toContain("'lst' is neither a command");
  expect(await world.call(["plan", "show", "pln_x"])).toMatchObject({
    code: 42,
    stderr: expect.stringContaining("no plan 'pln_x'; there are none yet"),
  });
  expect((await world.call(["plan", "list"])).stdout).toContain("no plans yet");
});
