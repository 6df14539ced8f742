import { expect, test } from "vitest";
import { startModel } from "./model.ts";
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

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  test(`${signal} cancels everything, settles the record and exits with ${code}`, async () => {
    await using world = await hangingWorld();
    const started = world.start(["run", "wait for ever"]);
    await started.stderrHas("▶ started worker [local/mock] b");
    started.child.kill(signal);
    const ended = await started.ended;
    expect([ended.code, ended.signal]).toEqual([code, null]);
    expect(ended.stderr).toContain("stopping; once more to leave at once");
    const { stdout } = await world.run(["trace", "last"]);
    expect(stdout.match(/ cancelled worker/g)).toHaveLength(2);
    expect(stdout).toMatch(/^\S+ cancelled main/m);
    expect(stdout).not.toContain("running");
  });
}

test("a reader that goes away is no error", async () => {
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
  started.child.kill("SIGTERM");
  await started.ended;
});
