import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

async function scoutWorld(): Promise<World> {
  const world = new World();
  const look = { name: "ls", input: { path: "." } };
  world.model = await startModel(({ turn }) => (turn < 6 ? { calls: [look] } : { text: "done" }));
  world.agent("scout", "tools: [read, ls, grep, write]\nlimits: { toolCalls: 3, turns: 20 }");
  return world;
}

test("spawn takes a budget of tool calls and a narrower list of tools, by any vendor's names", async () => {
  await using world = await scoutWorld();
  const args = ["spawn", "scout", "Look.", "--budget", "2", "--tools", "ls,Read", "--json"];
  const { stdout, stderr } = await world.call(args);
  expect(world.model?.requests[0]?.toolNames.sort(), stderr).toEqual(["ls", "read"]);
  expect(JSON.parse(stdout)).toMatchObject({ tool_calls_used: 2, bailout_reason: "max_tool_calls" });
});

test.each([
  [["--budget", "NaN"], 2],
  [["--budget", "-1"], 2],
  [["--budget", "1.5"], 2],
  [["--budget", ""], 2],
  [["--tools", "frobnicate"], 42],
])("spawn refuses %j before anything runs", async (flags, exit) => {
  await using world = await scoutWorld();
  const { code, stdout } = await world.call(["spawn", "scout", "Look.", ...flags]);
  expect([code, stdout]).toEqual([exit, ""]);
  expect(world.model?.requests).toEqual([]);
});
