import { join } from "node:path";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

test("delete and prune say what would be removed, need --yes without a terminal, and then remove it", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ text: "done" }));
  world.agent("main", "");
  const ids: string[] = [];
  for (const task of ["one", "two", "three"]) {
    const { stdout } = await world.call(["run", task, "--json"]);
    ids.push(String(JSON.parse(stdout).session_id));
  }
  const [first = "", second = "", third = ""] = ids;
  const listed = async () => {
    const { stdout } = await world.call(["sessions", "--json"]);
    return JSON.parse(stdout).map((row: { session_id: string }) => row.session_id);
  };
  const dry = await world.call(["sessions", "delete", first, "--dry-run"]);
  expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/^would remove 1 session, [\d.]+ k?B/)]);
  expect(dry.stderr).toContain("one");
  const asked = await world.call(["sessions", "delete", first]);
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("needs your approval")]);
  expect(await listed()).toEqual([third, second, first]);
  const done = await world.call(["sessions", "delete", first, "--yes"]);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("removed 1 session;")]);
  expect(await listed()).toEqual([third, second]);
  expect((await world.call(["trace", first])).code).toBe(42);
  const young = await world.call(["sessions", "prune", "--older-than", "30d", "--yes"]);
  expect([young.code, young.stdout]).toEqual([0, expect.stringContaining("removed 0 sessions")]);
  expect(await listed()).toEqual([third, second]);
  const all = await world.call(["sessions", "prune", "--older-than", "2999-01-01", "--yes", "--json"]);
  expect(JSON.parse(all.stdout)).toMatchObject({ sessions: 2 });
  expect(await listed()).toEqual([]);
  expect((await world.call(["sessions", "delete", "ses_none", "--yes"])).code).toBe(42);
});

test("a session that can still be resumed is not removed", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ hang: true }));
  world.agent("main", "");
  world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify({ graceSeconds: 0 }));
  const started = world.start(["run", "wait"]);
  await started.stderrHas("started main");
  started.child.kill("SIGTERM");
  await started.ended;
  const refused = await world.call(["sessions", "delete", "last", "--yes"]);
  expect([refused.code, refused.stderr]).toEqual([42, expect.stringContaining("it has not ended")]);
  const pruned = await world.call(["sessions", "prune", "--older-than", "2999-01-01", "--yes"]);
  expect(pruned.stdout).toContain("removed 0 sessions");
});
