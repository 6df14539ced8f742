import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasSandbox } from "../fixtures/has-sandbox.ts";
import { World } from "./world.ts";

const env = { RETINUE_DISCOVER: "0", RETINUE_KEYRING: "off", LANG: "C.UTF-8" };
const demos = () => readdirSync(tmpdir()).filter((name) => name.startsWith("retinue-demo-"));

test("a newcomer gets from nothing to a traced run without a key and without reading anything", async () => {
  await using world = new World();
  world.write(
    "src/oven.ts",
    "/** Keeps the oven below its highest temperature. */\nexport const HIGHEST = 250;\n",
  );
  const doctor = await world.run(["doctor"], { env });
  expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringContaining("no problems")]);
  const init = await world.run(["init"], { env });
  expect([init.code, init.stderr]).toEqual([0, ""]);
  expect(init.stdout).toContain("made 3 files");
  const check = await world.run(["agents", "check"], { env });
  expect([check.code, check.stdout]).toEqual([0, expect.stringContaining("no problems")]);
  const run = await world.run(["Find where the oven keeps its highest temperature and summarise it"], {
    env,
  });
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("src/oven.ts")]);
  const trace = await world.run(["trace", "last"], { env });
  expect([trace.code, trace.stdout]).toEqual([0, expect.stringContaining("researcher")]);
  const again = await world.run(["doctor"], { env });
  expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/database: version \d+, .*sound/)]);
});

test("init keeps what is there, names agents of other programs, and may be called again", async () => {
  await using world = new World();
  world.write(".retinue/settings.json", '{ "maxDepth": 1 }');
  world.write(".claude/agents/scout.md", "---\nname: scout\ndescription: Looks\n---\nLook.\n");
  world.writeAt(
    join(world.home, ".gemini/agents/poet.md"),
    "---\nname: poet\ndescription: Rhymes\n---\nRhyme.\n",
  );
  const dry = await world.call(["init", "--dry-run", "--example"]);
  expect(dry.stdout).toContain("nothing was made (--dry-run)");
  expect(existsSync(join(world.project, ".retinue/agents"))).toBe(false);
  const first = await world.call(["init", "--json"]);
  expect(JSON.parse(first.stdout)).toMatchObject({
    files: [{ state: "kept" }, { state: "made" }],
    found: [
      { from: "Claude Code", scope: "project", folder: ".claude/agents", names: ["scout"] },
      { from: "Gemini CLI", scope: "user", names: ["poet"] },
    ],
  });
  const second = await world.call(["init"]);
  expect([second.code, second.stdout]).toEqual([0, expect.stringContaining("nothing to make: all is there")]);
  expect(world.read(".retinue/settings.json")).toBe('{ "maxDepth": 1 }');
});

test("init writes nowhere else, whatever links say", async () => {
  await using world = new World();
  mkdirSync(join(world.home, "elsewhere"));
  symlinkSync(join(world.home, "elsewhere"), join(world.project, ".retinue"));
  const { code, stderr } = await world.call(["init"]);
  expect([code, stderr]).toEqual([54, expect.stringContaining("outside of")]);
  expect(readdirSync(join(world.home, "elsewhere"))).toEqual([]);
});

test("init says what is in the way where its folder should be", async () => {
  await using world = new World();
  world.write(".retinue", "a file");
  const { code, stderr } = await world.call(["init"]);
  expect([code, stderr]).toEqual([42, expect.stringContaining("cannot be written")]);
  expect(stderr).not.toContain("defect");
});

test("what init writes is valid for its own schema and keeps secrets from being read", async () => {
  await using world = new World();
  world.write(".env", "TOKEN=very-secret\n");
  await world.call(["init", "--no-example"]);
  expect(JSON.parse(world.read(".retinue/settings.json"))).toMatchObject({
    $schema: "./settings.schema.json",
  });
  expect(JSON.parse(world.read(".retinue/settings.schema.json"))).toEqual(
    JSON.parse(readFileSync(new URL("../../docs/settings.schema.json", import.meta.url), "utf8")),
  );
  const { stdout, stderr } = await world.call(["run", "-m", "offline", "-p", "read .env"]);
  expect(stdout + stderr).not.toContain("very-secret");
  expect(stderr).toContain("read(**/.env) denies");
});

test("the demo shows a nested tree on the offline model and leaves only its session behind", async () => {
  await using world = new World();
  const before = demos();
  const { code, stdout, stderr } = await world.run(["demo"], {
    env: { ...env, ANTHROPIC_API_KEY: "sk-not-used" },
  });
  expect(code).toBe(0);
  expect(stdout).toContain("src/discount.js:2");
  expect(stdout).toContain("src/cart.js:8 an error is caught and dropped");
  if (hasSandbox) expect(stdout).toContain("2 run, 1 passed, 1 failed");
  expect(stderr).toMatch(/^ {4}▶ started reviewer \[offline\/rules\]/m);
  expect(stderr).toMatch(/next:\n {2}retinue trace ses_\w+ +the tree, with times\n {2}retinue init/);
  expect(stderr).not.toMatch(/\[anthropic/);
  const [id = ""] = /ses_\w+/.exec(stderr) ?? [];
  const trace = await world.run(["trace", id], { env });
  expect(trace.stdout).toMatch(/main[\s\S]*quality-lead[\s\S]*reviewer/);
  expect(demos().filter((name) => !before.includes(name))).toEqual([]);
  expect(readdirSync(world.project)).toEqual([]);
});

test("the demo speaks stream-json, and own agents of the same names do not change it", async () => {
  await using world = new World();
  world.writeAt(
    join(world.home, ".claude/agents/reviewer.md"),
    "---\nname: reviewer\ndescription: Mine\ntools: []\n---\nx\n",
  );
  const { code, stdout } = await world.run(["demo", "--output-format", "stream-json"], { env });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; is_error?: boolean });
  expect([code, lines.at(-1)]).toMatchObject([0, { type: "result", is_error: false }]);
});
