import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

async function talkingWorld(): Promise<World> {
  const world = new World();
  world.model = await startModel(() => ({ text: "fine" }));
  world.agent("main", "");
  return world;
}

test("without arguments the program prints its help, and every command has help", async () => {
  await using world = new World();
  const bare = await world.call([]);
  expect([bare.code, bare.stderr]).toEqual([0, ""]);
  for (const command of ["run", "agents", "sessions", "trace"])
    expect(bare.stdout).toContain(`\n  ${command}`);
  const help = await world.call(["agents", "explain", "--help"]);
  expect([help.code, help.stdout]).toEqual([0, expect.stringContaining("--parent <agent>")]);
  const version = await world.call(["--version"]);
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("unknown commands and flags are usage errors with a suggestion", async () => {
  await using world = new World();
  const command = await world.call(["agnets"]);
  expect(command.code).toBe(2);
  expect(command.stderr).toContain("error: unknown command 'agnets'\n(Did you mean agents?)");
  const flag = await world.call(["run", "--modle", "x", "a task"]);
  expect(flag.code).toBe(2);
  expect(flag.stderr).toContain("error: unknown option '--modle'\n(Did you mean --model?)");
  const number = await world.call(["run", "--max-turns", "none", "a task"]);
  expect([number.code, number.stderr]).toEqual([2, expect.stringContaining("a whole number")]);
  const mode = await world.call(["run", "--permission-mode", "yolo", "a task"]);
  expect([mode.code, mode.stderr]).toEqual([2, expect.stringContaining("bypassPermissions")]);
});

test("a model that is named but not configured is a configuration error that says what to set", async () => {
  await using world = new World();
  world.agent("main", "");
  const env = { RETINUE_DISCOVER: "0" };
  for (const args of [
    ["-m", "smart"],
    ["-m", "work/big"],
  ]) {
    const { code, stdout, stderr } = await world.call(["run", "a task", ...args], { env });
    expect([code, stdout]).toEqual([52, ""]);
    expect(stderr).toMatch(/^error: no model '(smart|work\/big)': .*\nhint: set one of ANTHROPIC_API_KEY, /);
  }
});

test("a model whose key is missing is an authentication error", async () => {
  await using world = new World();
  world.agent("main", "model: anthropic/claude-x");
  const { code, stderr } = await world.call(["run", "a task"]);
  expect([code, stderr]).toEqual([41, expect.stringContaining("ANTHROPIC_API_KEY")]);
});

test("a key that the provider refuses is an authentication error", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ status: 401, message: "bad key" }));
  world.agent("main", "");
  const { code, stderr } = await world.call(["run", "a task"]);
  expect([code, stderr]).toEqual([41, expect.stringContaining("bad key")]);
});

test("an unknown agent, an empty task and a missing folder are input errors", async () => {
  await using world = await talkingWorld();
  const agent = await world.call(["run", "a task", "--agent", "mian"]);
  expect([agent.code, agent.stderr]).toEqual([
    42,
    expect.stringMatching(/^error: no agent 'mian'; did you mean 'main'\?/),
  ]);
  const empty = await world.call(["run", "  "]);
  expect([empty.code, empty.stderr]).toEqual([42, expect.stringContaining("there is no task")]);
  const folder = await world.call(["run", "a task", "-C", "nowhere"]);
  expect([folder.code, folder.stderr]).toEqual([42, expect.stringContaining("nowhere is not a folder")]);
  const session = await world.call(["trace", "ses_nope"]);
  expect([session.code, session.stderr]).toEqual([42, expect.stringContaining("no session 'ses_nope'")]);
});

test("a data folder that cannot be used is named with a remedy", async () => {
  await using world = await talkingWorld();
  const file = world.write("a-file", "");
  const { code, stderr } = await world.call(["run", "a task"], { env: { RETINUE_HOME: join(file, "data") } });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: cannot open the database .*a-file\/data\/retinue\.db/);
  expect(stderr).toMatch(/^hint: .*RETINUE_HOME/m);
});

test("a damaged database is set aside with a message, and the task runs", async () => {
  await using world = await talkingWorld();
  mkdirSync(world.data);
  writeFileSync(
    join(world.data, "retinue.db"),
    "this is not a database, although it is long enough to be one".repeat(50),
  );
  const { code, stdout, stderr } = await world.call(["run", "a task", "-p"]);
  expect([code, stdout]).toEqual([0, "fine\n"]);
  expect(stderr).toMatch(/^warning: The database .*retinue\.db is damaged .*kept as .*corrupt-/m);
  expect(readdirSync(world.data).some((name) => name.includes(".corrupt-"))).toBe(true);
});

test("a database of a newer version is refused with a remedy and left as it is", async () => {
  await using world = await talkingWorld();
  mkdirSync(world.data);
  const path = join(world.data, "retinue.db");
  new DatabaseSync(path).exec("PRAGMA user_version = 999");
  for (const args of [["run", "a task"], ["sessions"]]) {
    const { code, stderr } = await world.call(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: the database .* has version 999/);
    expect(stderr).toMatch(/^hint: Update Retinue/m);
  }
  using db = new DatabaseSync(path, { readOnly: true });
  expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 999 });
});

test("broken settings stop a run with file, line and column", async () => {
  await using world = await talkingWorld();
  const file = world.writeAt(join(world.config, "retinue/settings.json"), '{\n  "maxDepth": 2,\n}\n');
  const { code, stderr } = await world.call(["run", "a task"]);
  expect(code).toBe(52);
  expect(stderr).toContain(`error: ${file}:3: the settings are not valid JSON: line 3, column 1:`);
  expect(stderr).toContain("hint: correct line 3, column 1");
  const check = await world.call(["agents", "check"]);
  expect([check.code, check.stdout]).toEqual([
    1,
    expect.stringContaining("settings.json:3 error bad-settings-file"),
  ]);
});

test("a wrong value and an unreadable rule in the settings stop a run, an unknown key does not", async () => {
  await using world = await talkingWorld();
  const settings = join(world.config, "retinue/settings.json");
  world.writeAt(settings, JSON.stringify({ maxDepht: 2 }, null, 2));
  const unknown = await world.call(["run", "a task", "-p"]);
  expect([unknown.code, unknown.stdout]).toEqual([0, "fine\n"]);
  const check = await world.call(["agents", "check"]);
  expect(check.stdout).toContain(
    "settings.json:2 warning unknown-setting there is no setting 'maxDepht'; did you mean 'maxDepth'?",
  );
  world.writeAt(settings, JSON.stringify({ permissions: { deny: ["write("] } }, null, 2));
  const rule = await world.call(["run", "a task"]);
  expect([rule.code, rule.stderr]).toEqual([52, expect.stringContaining('"write("')]);
  world.writeAt(settings, JSON.stringify({ maxDepth: "two" }, null, 2));
  const value = await world.call(["run", "a task"]);
  expect([value.code, value.stderr]).toEqual([52, expect.stringContaining("'maxDepth' must be integer")]);
});
