import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startModel } from "./model.ts";
import { type Started, World } from "./world.ts";

const world = new World();
let started: Started;

/** main delegates to a worker whose model never answers. */
beforeAll(async () => {
  world.model = await startModel(({ system }) =>
    system.includes("You are main.")
      ? { calls: [{ name: "delegate", input: { agent: "worker", task: "never ends" } }] }
      : { hang: true },
  );
  world.agent("main", "subagents: [worker]");
  world.agent("worker", "");
  started = world.start(["run", "wait for it"]);
  await started.stderrHas("waiting main");
  await vi.waitFor(() => expect(world.model?.requests).toHaveLength(2), 30_000);
});
afterAll(async () => {
  started.child.kill("SIGKILL");
  await started.ended;
  await world[Symbol.asyncDispose]();
});

test("a session can be looked at while it runs", async () => {
  const { code, stdout } = await world.call(["trace", "last"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ses_\w+ {2}⏳ running {2}wait for it$/m);
  expect(stdout).toMatch(/^⏳ running main "wait for it" .*[█─]$/m);
  expect(stdout).toMatch(/^└─ ⏳ running worker "never ends" /m);
  const [session] = JSON.parse((await world.call(["sessions", "--json", "--status", "running"])).stdout);
  expect(session).toMatchObject({ state: "running", runs: 2 });
  expect((await world.call(["export", "last"])).stdout).toContain("### 1.1 worker: never ends");
});

test("a session whose process is gone is interrupted, and says how it goes on", async () => {
  started.child.kill("SIGKILL");
  await started.ended;
  const { stdout } = await world.call(["trace", "last"]);
  expect(stdout).toMatch(/⏸ interrupted {2}wait for it/);
  expect(stdout).toMatch(/└─ ⏸ interrupted worker "never ends"/);
  expect(stdout).toMatch(/^go on with: retinue resume ses_\w+$/m);
  const listed = await world.call(["sessions", "--status", "interrupted"]);
  expect(listed.stdout).toMatch(/⏸ interrupted/);
  expect(listed.stdout).toMatch(/retinue resume ses_\w+/);
  expect((await world.call(["sessions", "--status", "running"])).stdout.trim()).toBe(
    "no session that is running",
  );
});
