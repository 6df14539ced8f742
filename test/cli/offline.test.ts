import { expect, test } from "vitest";
import { World } from "./world.ts";

function bakery(): World {
  const world = new World();
  world.write(
    "src/oven.ts",
    "/** Keeps the oven below its highest temperature. */\nexport class HeatLimit {\n  readonly highest = 250;\n}\n",
  );
  world.write("README.md", "# Bakery\n");
  return world;
}

/** No key, and no Ollama either. */
const env = { RETINUE_DISCOVER: "0" };

test("without a key a question is answered from real files, and both streams name the offline model", async () => {
  await using world = bakery();
  const { code, stdout, stderr } = await world.call(
    ["Find where the oven limits its heat and summarise it"],
    {
      env,
    },
  );
  expect(code).toBe(0);
  expect(stdout).toMatch(/^`HeatLimit` \(src\/oven\.ts:2\): Keeps the oven below its highest temperature\./);
  expect(stdout).toMatch(/\(Answered by Retinue's offline model: rules, no weights\.\)\n$/);
  expect(
    stderr.match(/no model is configured: using the offline model \(rules, no weights\); to add one, set/g),
  ).toHaveLength(1);
  expect(stderr).toContain("▶ started researcher [offline/rules]");
});

test("the result names the model and a cost of nothing", async () => {
  await using world = bakery();
  const { stdout } = await world.call(["run", "--json", "list the files"], { env });
  expect(JSON.parse(stdout)).toMatchObject({
    model: "offline/rules",
    success: true,
    cost_usd: { self: 0, subtree: 0 },
  });
});

test("what needs a model is refused with exit code 52 and how to add one", async () => {
  await using world = bakery();
  const { code, stderr } = await world.call(["run", "-p", "Implement a second oven"], { env });
  expect(code).toBe(52);
  expect(stderr).toMatch(
    /^error: the offline model has rules, not weights: it cannot write .*ANTHROPIC_API_KEY/m,
  );
});

test("the offline model can be chosen, and then there is no warning", async () => {
  await using world = bakery();
  const { code, stdout, stderr } = await world.call(["run", "-p", "-m", "offline", "read README.md"], {
    env,
  });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("# Bakery");
});

test("an agent's own model that is missing is still an error by name", async () => {
  await using world = bakery();
  world.agent("main", "model: nowhere/x");
  const { code, stderr } = await world.call(["run", "list the files"], { env });
  expect([code, stderr]).toEqual([52, expect.stringContaining("no model 'nowhere/x'")]);
});
