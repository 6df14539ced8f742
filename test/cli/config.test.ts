import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./world.ts";

const fileOf = (world: World) => join(world.config, "retinue/settings.json");

test("a value is set, read and removed, and the rest of the file stays as it was", async () => {
  await using world = new World();
  const text = '{\n    "maxDepth":  2,\n    "limits": { "turns": 9 },\n    "$schema": "x"\n}\n';
  world.writeAt(fileOf(world), text);
  const set = await world.call(["config", "set", "limits.turns", "30"]);
  expect([set.code, set.stdout]).toEqual([0, `limits.turns = 30 in ${fileOf(world)}\n`]);
  expect(readFileSync(fileOf(world), "utf8")).toBe(text.replace("9", "30"));
  expect((await world.call(["config", "get", "limits.turns"])).stdout).toBe("30\n");
  await world.call(["config", "unset", "limits.turns"]);
  expect(readFileSync(fileOf(world), "utf8")).toBe(text.replace('{ "turns": 9 }', "{}"));
  expect((await world.call(["config", "get", "limits.turns"])).stdout).toBe("20\n");
});

test("a new settings file of the user is readable by the user alone", async () => {
  await using world = new World();
  const { code } = await world.call(["config", "set", "model", "offline"]);
  expect([code, readFileSync(fileOf(world), "utf8")]).toEqual([0, '{\n  "model": "offline"\n}\n']);
  expect(statSync(fileOf(world)).mode & 0o777).toBe(0o600);
  const text = await world.call(["config", "get", "model"]);
  const json = await world.call(["config", "get", "model", "--json"]);
  expect([text.stdout, json.stdout]).toEqual(["offline\n", '"offline"\n']);
});

test("what is wrong is refused with the reason, and nothing is written", async () => {
  await using world = new World();
  const cases: [string[], number, string][] = [
    [["limits.turns", "nine"], 2, "must be a whole number"],
    [["limits.turns", "0"], 42, "'limits.turns' is wrong: 0 is less than 1"],
    [["limits.truns", "5"], 42, "did you mean 'turns'?"],
    [["permissions.deny", '["write("]'], 42, "is no rule"],
    [["permissions.deny", "write"], 2, "must be an array, written as JSON"],
    [["assistant.timezone", "Mars/Base"], 42, "no time zone"],
    [["agents.scout", '{"prompt": "x"}'], 42, "agent 'scout': there is no description"],
    [["limits..turns", "5"], 2, "is no key"],
  ];
  await Promise.all(
    cases.map(async ([args, code, message]) => {
      const ended = await world.call(["config", "set", ...args]);
      expect([ended.code, ended.stdout, ended.stderr]).toEqual([code, "", expect.stringContaining(message)]);
    }),
  );
  expect(statSync(fileOf(world), { throwIfNoEntry: false })).toBeUndefined();
});

test("a project's settings take what narrows and refuse what widens", async () => {
  await using world = new World();
  await world.call(["config", "set", "limits.turns", "5"]);
  for (const [key, value] of [
    ["model", "x/y"],
    ["shell.network", "true"],
    ["permissions.allow", '["*"]'],
    ["providers.x", '{"kind": "ollama"}'],
    ["search.folders", '["../.."]'],
  ] as const) {
    const ended = await world.call(["config", "set", "--project", key, value]);
    expect([ended.code, ended.stderr]).toEqual([54, expect.stringContaining(`cannot be set in a project`)]);
  }
  const narrow = await world.call(["config", "set", "--project", "limits.turns", "3"]);
  expect([narrow.code, narrow.stderr]).toEqual([0, ""]);
  const wide = await world.call(["config", "set", "--project", "limits.turns", "50"]);
  expect([wide.code, wide.stderr]).toEqual([
    0,
    expect.stringMatching(/^note: what holds here is 5 \(.*settings\.json:3\)/),
  ]);
});

test("the list names for every value the file and line it comes from", async () => {
  await using world = new World();
  world.writeAt(
    fileOf(world),
    '{\n  "permissions": { "deny": ["shell"] },\n  "limits": { "turns": 9, "minutes": 3 }\n}',
  );
  world.write(
    ".retinue/settings.json",
    '{\n  "permissions": { "deny": ["write"] },\n  "limits": { "turns": 4 }\n}',
  );
  const { stdout } = await world.call(["config", "list", "--show-origin", "--json"], {
    env: { RETINUE_MODEL: "a/b" },
  });
  const rows = new Map(
    (JSON.parse(stdout) as { key: string; value: unknown; origins: object[] }[]).map((row) => [row.key, row]),
  );
  const user = (line: number) => ({ scope: "user", file: fileOf(world), line });
  const project = (line: number) => ({
    scope: "project",
    file: join(world.project, ".retinue/settings.json"),
    line,
  });
  expect(rows.get("limits.turns")).toMatchObject({ value: 4, origins: [project(3)] });
  expect(rows.get("limits.minutes")).toMatchObject({ value: 3, origins: [user(3)] });
  expect(rows.get("permissions.deny")).toMatchObject({
    value: ["shell", "write"],
    origins: [user(2), project(2)],
  });
  expect(rows.get("maxDepth")).toMatchObject({ value: 3, origins: [{ scope: "default" }] });
  expect(rows.get("model")).toMatchObject({
    value: "a/b",
    origins: [{ scope: "environment", variable: "RETINUE_MODEL" }],
  });
});

test("secrets come by stdin, are never shown unless asked for, and a secret in the arguments is warned of", async () => {
  await using world = new World();
  await world.call([
    "config",
    "set",
    "providers.work",
    '{"kind":"ollama","baseUrl":"http://a:b-secret@127.0.0.1:1"}',
  ]);
  const set = await world.call(["config", "set", "providers.work.apiKey", "-"], { input: "word-of-mine\n" });
  expect([set.code, set.stderr]).toEqual([0, ""]);
  for (const args of [["list"], ["list", "--json"], ["get", "providers"], ["get", "providers.work.apiKey"]]) {
    const shown = await world.call(["config", ...args]);
    expect(shown.stdout + shown.stderr).not.toMatch(/word-of-mine|b-secret/);
  }
  expect((await world.call(["config", "get", "providers.work.apiKey", "--reveal"])).stdout).toBe(
    "word-of-mine\n",
  );
  const seen = await world.call(["config", "set", "providers.work.apiKey", "other-word"]);
  expect(seen.stderr).toContain("your shell may keep this secret");
  expect(seen.stdout + seen.stderr).not.toContain("other-word");
});

test("headers of a provider and parameters of an address are secrets, too", async () => {
  await using world = new World();
  const headers = { "X-Auth": "word-one" };
  const value = { kind: "ollama", baseUrl: "http://127.0.0.1:1/?v=plain&token=word-two", headers };
  const set = await world.call(["config", "set", "providers.work", JSON.stringify(value)]);
  const list = await world.call(["config", "list"]);
  const header = await world.call(["config", "get", 'providers.work.headers["X-Auth"]']);
  for (const { stdout, stderr } of [set, list, header])
    expect(stdout + stderr).not.toMatch(/word-(?:one|two)/);
  expect(list.stdout).toContain("v=plain");
});

test("a file that is not JSON is left alone, and a link out of the project is not followed", async () => {
  await using world = new World();
  world.writeAt(fileOf(world), "{ nope");
  const broken = await world.call(["config", "set", "maxDepth", "2"]);
  expect([broken.code, broken.stderr]).toEqual([52, expect.stringContaining("not valid JSON")]);
  expect(readFileSync(fileOf(world), "utf8")).toBe("{ nope");
  const listed = await world.call(["config", "list"]);
  expect([listed.code, listed.stderr]).toEqual([52, expect.stringContaining("not valid JSON")]);
  writeFileSync(fileOf(world), "{}");
  const outside = world.writeAt(join(world.home, "other.json"), "{}\n");
  world.write(".retinue/agents/keep.md", "");
  symlinkSync(outside, join(world.project, ".retinue/settings.json"));
  const linked = await world.call(["config", "set", "--project", "maxDepth", "2"]);
  expect([linked.code, linked.stderr]).toEqual([54, expect.stringContaining("outside of")]);
  expect(readFileSync(outside, "utf8")).toBe("{}\n");
});

test("a user's own linked file is replaced where it really is", async () => {
  await using world = new World();
  const real = world.writeAt(join(world.home, "dotfiles/settings.json"), "{}\n");
  world.writeAt(join(world.config, "retinue/keep"), "");
  symlinkSync(real, fileOf(world));
  expect((await world.call(["config", "set", "maxDepth", "2"])).code).toBe(0);
  expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ maxDepth: 2 });
});

test("paths and schema are printed", async () => {
  await using world = new World();
  const paths = await world.call(["config", "path", "--json"]);
  expect(JSON.parse(paths.stdout)).toMatchObject([
    { scope: "user", file: fileOf(world), exists: false },
    { scope: "project", exists: false },
  ]);
  const schema = await world.call(["config", "schema"]);
  expect(JSON.parse(schema.stdout)).toMatchObject({ properties: { limits: { type: "object" } } });
});

test("a run says which settings it does not know, before anything else", async () => {
  await using world = new World();
  world.write(".retinue/settings.json", '{"deny": ["read(private/**)"]}');
  const { code, stderr } = await world.call(["run", "-m", "offline", "list the files"]);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^warning: \.retinue\/settings\.json:1: there is no setting 'deny'/),
  ]);
});
