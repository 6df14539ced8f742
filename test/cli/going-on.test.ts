import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

/** A world whose model says what it was told by persons so far. */
async function rememberingWorld(): Promise<World> {
  const world = new World();
  world.model = await startModel(({ messages, system }) => {
    const heard = messages.filter((message) => message.role === "user").map((message) => message.content);
    const who = /You are (\w+)\./.exec(system)?.[1];
    return { text: `${who} heard ${heard.map((one) => String(one)).join(" | ")}` };
  });
  world.agent("main", "");
  world.agent("other", "");
  return world;
}

const sessionsOf = async (world: World): Promise<{ session_id: string; project: string }[]> =>
  JSON.parse((await world.call(["sessions", "--json"])).stdout);

test("-c goes on with the newest conversation of this project, and with the agent it was with", async () => {
  await using world = await rememberingWorld();
  await world.call(["spawn", "other", "one", "-p"]);
  const elsewhere = join(world.root, "elsewhere");
  mkdirSync(elsewhere);
  await world.call(["run", "not here", "-p", "-C", elsewhere], { env: {} });
  const next = await world.call(["-c", "-p", "two"]);
  expect([next.code, next.stdout, next.stderr]).toEqual([0, "other heard one | two\n", ""]);
  const third = await world.call(["run", "--continue", "--agent", "main", "-p"], { input: "three" });
  expect(third.stdout).toBe("main heard one | two | three\n");
  const all = await sessionsOf(world);
  expect(all.filter((session) => session.project === world.project)).toHaveLength(1);
});

test("-r goes on with a session by its id or the beginning of it, from any folder", async () => {
  await using world = await rememberingWorld();
  await world.call(["run", "first", "-p"]);
  const [{ session_id: id } = { session_id: "" }] = await sessionsOf(world);
  await world.call(["run", "another", "-p"]);
  const named = await world.call(["-r", id.slice(0, -3), "second", "-p"], { cwd: world.root });
  expect([named.code, named.stdout]).toEqual([0, "main heard first | second\n"]);
  const words = await world.call(["-r", "a third time", "-p"]);
  expect(words.stdout).toBe("main heard first | second | a third time\n");
  const nothing = await world.call(["run", "-r", id]);
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("there is no task")]);
});

test("-r without a task finishes a session that was killed, and with one says what to do first", async () => {
  await using world = new World();
  let isQuiet = true;
  world.model = await startModel(() => (isQuiet ? { hang: true } : { text: "finished" }));
  world.agent("main", "");
  const started = world.start(["run", "the task"]);
  await started.stderrHas("▶ started main");
  started.child.kill("SIGKILL");
  await started.ended;
  const [{ session_id: id } = { session_id: "" }] = await sessionsOf(world);
  const early = await world.call(["run", "-c", "more"]);
  expect([early.code, early.stderr]).toEqual([42, expect.stringContaining(`retinue resume ${id}`)]);
  isQuiet = false;
  const finished = await world.call(["run", "-r", id, "-p"]);
  expect([finished.code, finished.stdout]).toEqual([0, "finished\n"]);
  const more = await world.call(["run", "-c", "-p", "more"]);
  expect([more.code, more.stdout]).toEqual([0, "finished\n"]);
});

test("spawn runs one agent, and an unknown one is named", async () => {
  await using world = await rememberingWorld();
  const { code, stdout } = await world.call(["spawn", "other", "-p"], { input: "by stdin" });
  expect([code, stdout]).toEqual([0, "other heard by stdin\n"]);
  const unknown = await world.call(["spawn", "ohter", "x"]);
  expect([unknown.code, unknown.stderr]).toEqual([42, expect.stringContaining("did you mean 'other'?")]);
});

test("a session at work in another process is named with that process, and resume skips it", async () => {
  await using world = new World();
  world.model = await startModel(({ last }) => (last.includes("wait") ? { hang: true } : { text: "done" }));
  world.agent("main", "tools: []");
  const live = world.start(["run", "wait"]);
  await live.stderrHas("started main");
  const more = await world.call(["run", "-c", "more"]);
  expect([more.code, more.stderr]).toEqual([42, expect.stringMatching(/is being worked on by process \d+/)]);
  const killed = world.start(["run", "wait too"]);
  await killed.stderrHas("started main");
  killed.child.kill("SIGKILL");
  await killed.ended;
  const later = world.start(["run", "wait"]);
  await later.stderrHas("started main");
  const resumed = world.start(["resume"]);
  await resumed.stderrHas("resuming");
  await resumed.stderrHas("wait too");
  for (const { child } of [live, later, resumed]) child.kill("SIGKILL");
  await Promise.all([live.ended, later.ended, resumed.ended]);
});
