import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

/** A world in which workers on task `a` never end, and all others do at once. */
async function waitingWorld(): Promise<World> {
  const world = new World();
  world.model = await startModel(({ system, turn, last, all }) => {
    if (!system.includes("You are main.")) return last.startsWith("a") ? { hang: true } : { text: "done" };
    if (turn > 0) return { text: all.includes('status="cancelled"') ? "a was cancelled" : "?" };
    return { calls: ["a", "b"].map((task) => ({ name: "delegate", input: { agent: "worker", task } })) };
  });
  world.agent("main", "subagents: [worker]");
  world.agent("worker", "");
  return world;
}

/** The run of a worker that has not ended. */
function openWorker(world: World): string {
  using db = new DatabaseSync(join(world.data, "retinue.db"), { readOnly: true });
  const find = "SELECT run_id FROM messages WHERE request_type = 'delegation' AND closed_seq IS NULL";
  return String(db.prepare(find).get()?.run_id);
}

test("a session of another process is cancelled, and that process ends and says so", async () => {
  await using world = await waitingWorld();
  const started = world.start(["run", "both"]);
  await started.stderrHas("▶ started worker [local/mock] a");
  const { code, stdout } = await world.call(["cancel", "last", "--json"]);
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { outcome: "cancelled" }]);
  const ended = await started.ended;
  expect([ended.code, ended.stdout]).toEqual([1, ""]);
  expect(ended.stderr).toContain("cancelled from outside");
  const again = await world.call(["cancel", "last"]);
  expect([again.code, again.stderr]).toEqual([
    42,
    expect.stringMatching(/^error: ses_\w+ has ended \(cancelled\)/),
  ]);
  expect((await world.call(["trace", "last"])).stdout).not.toContain("running");
});

test("one run of another process can be cancelled while its session continues", async () => {
  await using world = await waitingWorld();
  const started = world.start(["run", "both", "--output-format", "json"]);
  await started.stderrHas("✅ completed worker");
  const id = openWorker(world);
  const { code, stdout } = await world.call(["cancel", id]);
  expect([code, stdout]).toEqual([0, `cancelled ${id}\n`]);
  const ended = await started.ended;
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ subtype: "success", result: "a was cancelled" });
});

test("a session whose process was killed is cancelled at once, and never resumed", async () => {
  await using world = await waitingWorld();
  const started = world.start(["run", "both"]);
  await started.stderrHas("▶ started worker [local/mock] a");
  started.child.kill("SIGKILL");
  await started.ended;
  const { code, stdout } = await world.call(["cancel", "last"]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^cancelled ses_\w+; no process had it\n$/)]);
  const resumed = await world.call(["resume"]);
  expect([resumed.code, resumed.stderr]).toEqual([
    42,
    expect.stringMatching(/no session of .* is open; there is nothing to resume/),
  ]);
  expect((await world.call(["trace", "last"])).stdout).not.toContain("running");
});
