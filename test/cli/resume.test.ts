import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

test("a killed run is resumed by the next process, replayed identically without a request, and forked", async () => {
  await using world = new World();
  world.agent("lead", "subagents: [scout]");
  world.agent("scout", "tools: [read]");
  let stuck = true;
  world.model = await startModel((request) => {
    if (request.system.includes("You are scout.")) return stuck ? { hang: true } : { text: "config.ts" };
    if (request.turn === 0)
      return { calls: [{ name: "delegate", input: { agent: "scout", task: "find it" } }] };
    return { text: `It is ${/config\.ts/.exec(request.last)?.[0]}` };
  });
  const first = world.start(["run", "--agent", "lead", "Where is the config?"]);
  await first.stderrHas("scout");
  while (!world.model.requests.some((request) => request.system.includes("You are scout."))) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  first.child.kill("SIGKILL");
  await first.ended;
  stuck = false;

  const asked = world.model.requests.length;
  const cut = await world.call(["replay", "last"]);
  expect(cut).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^identical: ses_\w+, 2 runs, 1 model calls/),
  });
  expect(world.model.requests.length).toBe(asked);

  const resumed = await world.call(["resume"]);
  expect(resumed).toMatchObject({ code: 0, stdout: "It is config.ts\n" });
  expect(
    world.model.requests.filter((request) => request.turn === 0 && request.system.includes("You are lead.")),
  ).toHaveLength(1);
  expect(await world.call(["resume"])).toMatchObject({
    code: 42,
    stderr: expect.stringContaining("nothing to resume"),
  });

  const before = world.model.requests.length;
  const replayed = await world.call(["replay", "last"]);
  expect(replayed.stdout).toMatch(/^identical: ses_\w+, 2 runs, 3 model calls/);
  expect(replayed.code).toBe(0);
  world.agent("scout", "tools: [read]", "You are a scout of another kind.");
  const changed = await world.call(["replay", "last"]);
  expect(changed.code).toBe(1);
  expect(changed.stdout).toContain("first at lead > scout, turn 1: the system prompt");
  expect(world.model.requests.length).toBe(before);

  const id = /ses_\w+/.exec(replayed.stdout)?.[0];
  const forked = await world.call(["run", "--agent", "lead", "--fork", `${id}:999`, "Are you sure?"]);
  expect(forked.code).toBe(0);
  expect(world.model.requests.at(-1)?.all).toContain("Where is the config?");
});
