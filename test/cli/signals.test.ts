import { join } from "node:path";
import { expect, test } from "vitest";
import { step } from "../fixtures/plans.ts";
import { startModel } from "./model.ts";
import { slowWorld } from "./slow-world.ts";
import { World } from "./world.ts";

async function hangingWorld(): Promise<World> {
  const world = new World();
  world.model = await startModel(({ system }) =>
    system.includes("You are main.")
      ? { calls: ["a", "b"].map((task) => ({ name: "delegate", input: { agent: "worker", task } })) }
      : { hang: true },
  );
  world.agent("main", "subagents: [worker]");
  world.agent("worker", "");
  return world;
}

test("SIGINT cancels everything, settles the record and exits with 130", async () => {
  await using world = await hangingWorld();
  const started = world.start(["run", "wait for ever"]);
  await started.stderrHas("▶ started worker [local/mock] b");
  started.child.kill("SIGINT");
  const ended = await started.ended;
  expect([ended.code, ended.signal]).toEqual([130, null]);
  expect(ended.stderr).toContain("stopping; once more to leave at once");
  const { stdout } = await world.run(["trace", "last"]);
  expect(stdout.match(/ cancelled worker/g)).toHaveLength(2);
  expect(stdout).toMatch(/^\S+ cancelled main/m);
  expect(stdout).not.toContain("running");
});

for (const [signal, code] of [
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  test(`${signal} lets a model call end, begins none, and leaves the session to be resumed without paying twice`, async () => {
    const { world, asked, letGo } = await slowWorld();
    await using _ = world;
    const started = world.start(["run", "do it"]);
    await asked;
    started.child.kill(signal);
    await started.stderrHas("stopping; once more to leave at once");
    expect(world.model?.requests.length).toBe(1);
    letGo();
    const ended = await started.ended;
    expect([ended.code, ended.signal]).toEqual([code, null]);
    expect(ended.stderr).toMatch(/left in the middle; go on with: retinue resume ses_/);
    expect(world.model?.requests.length).toBe(1);
    const resumed = await world.run(["resume"]);
    expect([resumed.code, resumed.stdout.trim()]).toEqual([0, "all done"]);
    expect(world.model?.requests.length).toBe(3);
  });

  test(`a second ${signal} cuts calls at once, and the session can still be resumed`, async () => {
    await using world = await hangingWorld();
    world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify({ graceSeconds: 3_600 }));
    const started = world.start(["run", "wait for ever"]);
    await started.stderrHas("▶ started worker [local/mock] b");
    started.child.kill(signal);
    await started.stderrHas("stopping; once more to leave at once");
    started.child.kill(signal);
    const ended = await started.ended;
    expect([ended.code, ended.signal]).toEqual([code, null]);
    const { stdout } = await world.run(["sessions", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject([{ status: "running" }]);
  });

  test(`without a grace period ${signal} cuts calls at once and leaves the session to be resumed`, async () => {
    await using world = await hangingWorld();
    world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify({ graceSeconds: 0 }));
    const started = world.start(["run", "wait for ever"]);
    await started.stderrHas("▶ started worker [local/mock] b");
    started.child.kill(signal);
    const ended = await started.ended;
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining("left in the middle")]);
  });
}

for (const [signal, code, slow] of [
  ["SIGTERM", 143, "planner"],
  ["SIGHUP", 129, "worker"],
] as const) {
  test(`${signal} lets the call of a plan's ${slow} end, and what is left goes on with resume, nothing being done twice`, async () => {
    await using world = new World();
    const { promise: given, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const steps = [step("a"), step("b", ["a"])];
    world.model = await startModel(async ({ system }) => {
      const name = system.startsWith("You are planner.") ? "planner" : "worker";
      if (name === slow) {
        ask();
        await given;
      }
      return { text: name === "planner" ? JSON.stringify({ summary: "", steps }) : "did it" };
    });
    world.agent("main", "subagents: [planner, worker]");
    for (const name of ["planner", "worker"]) world.agent(name, "");
    const started = world.start(["plan", "--approve", "make the oven safe"]);
    await asked;
    started.child.kill(signal);
    await started.stderrHas("stopping; once more to leave at once");
    letGo();
    const ended = await started.ended;
    expect([ended.code, ended.signal, ended.stdout]).toEqual([code, null, ""]);
    expect(ended.stderr).toMatch(/left in the middle; go on with: retinue resume ses_\w+\n$/);
    const resumed = await world.run(["resume"]);
    expect(resumed.code).toBe(0);
    const listed = JSON.parse((await world.run(["plan", "list", "--json"])).stdout);
    expect(listed).toMatchObject([{ status: slow === "planner" ? "draft" : "completed" }]);
    expect(world.model?.requests).toHaveLength(slow === "planner" ? 1 : 3);
  });
}

test("a full disk is reported with a remedy, and not as a defect", async () => {
  await using world = await hangingWorld();
  world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify({ graceSeconds: 0 }));
  await world.run(["sessions"]);
  const through = ["sh", "-c", 'ulimit -f 0; exec "$0" "$@"'];
  const ended = await world.run(["run", "wait for ever"], { through });
  expect(ended.code).toBe(1);
  expect(ended.stderr).not.toContain("defect");
  expect(ended.stderr).toMatch(/hint: (The disk|Free)/);
});

test("a result that cannot be written is reported with its cause, and its run is complete in the record", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ text: "done" }));
  world.agent("main", "");
  const ended = await world.run(["run", "go"], { through: ["sh", "-c", 'exec "$0" "$@" >/dev/full'] });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain("ENOSPC");
  expect(ended.stderr).toContain("Free some disk space.");
  expect(ended.stderr).not.toMatch(/defect|at writeSync/);
  const { stdout } = await world.run(["sessions", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject([{ status: "completed" }]);
});

test("a reader that goes away is not an error", async () => {
  await using world = new World();
  world.copyFixture("project");
  const started = world.start(["agents", "check"]);
  started.child.stdout?.destroy();
  const { code, stderr } = await started.ended;
  expect([code, stderr]).toEqual([0, ""]);
});

test("trace shows a session that another process is still working on", async () => {
  await using world = await hangingWorld();
  const started = world.start(["run", "wait for ever"]);
  await started.stderrHas("▶ started worker [local/mock] b");
  const { stdout } = await world.run(["trace", "last"]);
  expect(stdout).toMatch(/^⏳ running main "wait for ever"/m);
  expect(stdout).toMatch(/∥ ⏳ running worker "a"/);
  started.child.kill("SIGINT");
  await started.ended;
});
