import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { startServer } from "../fixtures/model-server.ts";
import { type CallOptions, World } from "./world.ts";

const env = { RETINUE_DISCOVER: "0", RETINUE_KEYRING: "off", LANG: "C.UTF-8" };

type Finding = { check: string; verdict: string; summary: string; remedy?: string; details?: string[] };

async function examine(world: World, more: CallOptions = {}, ...args: string[]) {
  const { code, stdout, stderr } = await world.run(["doctor", "--json", ...args], {
    ...more,
    env: { ...env, ...more.env },
  });
  const report = JSON.parse(stdout) as { ok: boolean; problems: number; checks: Finding[] };
  const of = (check: string) => report.checks.filter((each) => each.check === check);
  return { code, stdout, stderr, report, of };
}

test("a fresh machine has no problems, and the offline model answers", async () => {
  await using world = new World();
  const { code, stdout, stderr } = await world.run(["doctor"], { env });
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^✅ ok {7}Node \d+\./);
  expect(stdout).toContain("tasks go to the offline model");
  expect(stdout).toMatch(/→ export ANTHROPIC_API_KEY=/);
  expect(stdout).toMatch(/\nno problems, \d warnings?; try: retinue demo\n$/);
  expect(stdout).not.toContain("\u001b");
});

test("every check is in the JSON, and doctor creates nothing", async () => {
  await using world = new World();
  const { report, of } = await examine(world);
  const names = [
    "node",
    "sandbox",
    "git",
    "ripgrep",
    "keys",
    "providers",
    "ollama",
    "model",
    "database",
    "folders",
  ];
  for (const name of [...names, "settings", "agents", "accounts", "keyring", "terminal"])
    expect(of(name)).not.toEqual([]);
  expect(report.ok).toBe(true);
  expect(of("database")[0]?.summary).toContain("no database yet");
  expect([existsSync(world.data), readdirSync(world.config)]).toEqual([false, []]);
});

test("keys are shown by name and never by value, and a provider that accepts one is fine", async () => {
  await using world = new World();
  const server = await startServer((seen, response) => {
    response.writeHead(seen.headers["x-api-key"] === "sk-very-secret" ? 200 : 401, {
      "content-type": "application/json",
    });
    response.end(JSON.stringify({ data: [{ id: "claude-x" }] }));
  });
  try {
    const given = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-very-secret" };
    const good = await examine(world, { env: given });
    expect([good.code, good.of("keys")[0]?.summary]).toEqual([0, "keys: ANTHROPIC_API_KEY"]);
    expect(good.of("providers")[0]?.summary).toMatch(/^anthropic answers at 127\.0\.0\.1:\d+ \(1 model, /);
    expect(good.of("model")[0]?.summary).toMatch(/^tasks go to anthropic\//);
    expect(good.stdout + good.stderr).not.toContain("very-secret");
    const bad = await examine(world, { env: { ...given, ANTHROPIC_API_KEY: "sk-wrong-one" } });
    expect([bad.code, bad.of("providers")[0]]).toMatchObject([
      1,
      {
        verdict: "problem",
        summary: expect.stringContaining("refuses the key"),
        remedy: "export ANTHROPIC_API_KEY=…",
      },
    ]);
    expect(bad.stdout).not.toContain("wrong-one");
  } finally {
    await server.close();
  }
});

test("a server that never answers and one that does not exist are reported, and nothing hangs", async () => {
  await using world = new World();
  const hole = await startServer(() => {});
  try {
    const silent = await examine(world, { env: { RETINUE_BASE_URL: `${hole.url}/v1`, RETINUE_MODEL: "m" } });
    expect([silent.code, silent.of("providers")[0]?.summary]).toEqual([
      1,
      expect.stringContaining("no answer within 3 s"),
    ]);
    const offline = await examine(
      world,
      { env: { RETINUE_BASE_URL: `${hole.url}/v1`, RETINUE_MODEL: "m" } },
      "--offline",
    );
    expect([offline.code, offline.of("providers")[0]?.verdict]).toEqual([0, "skipped"]);
  } finally {
    await hole.close();
  }
  const gone = await examine(world, { env: { RETINUE_BASE_URL: `${hole.url}/v1`, RETINUE_MODEL: "m" } });
  expect(gone.of("providers")[0]?.summary).toContain("nothing listens there");
});

test("broken settings, skipped, repaired and shadowed agents are named with their files", async () => {
  await using world = new World();
  world.write(".retinue/settings.json", '{ "maxDepth": "two" }');
  world.write(".retinue/agents/scout.md", "---\nname: scout\ndescription: Looks: around\n---\nLook.\n");
  world.write(".claude/agents/scout.md", "---\nname: scout\ndescription: Looks\n---\nLook.\n");
  world.write(
    ".claude/agents/broken.md",
    "---\nname: broken\ndescription: x\ndisallowedTools: [nonsense]\n---\nx\n",
  );
  const { code, of } = await examine(world);
  expect(code).toBe(1);
  expect(of("settings")[0]).toMatchObject({
    verdict: "problem",
    details: [expect.stringContaining(".retinue/settings.json:1")],
  });
  expect(of("agents")[0]).toMatchObject({
    verdict: "problem",
    remedy: "retinue agents check",
    summary: expect.stringMatching(/; 1 repaired, 1 skipped, 1 shadowed/),
    details: [
      "skipped .claude/agents/broken.md",
      "repaired .retinue/agents/scout.md",
      "shadowed .claude/agents/scout.md by .retinue/agents/scout.md",
    ],
  });
});

test("a damaged database, a newer one and folders open to others are problems with a remedy", async () => {
  await using world = new World();
  mkdirSync(world.data);
  chmodSync(world.data, 0o777);
  const file = join(world.data, "retinue.db");
  new DatabaseSync(file).exec("PRAGMA user_version = 999");
  const newer = await examine(world);
  expect(newer.code).toBe(1);
  expect(newer.of("database")[0]?.summary).toContain("version 999");
  expect(newer.of("folders")[0]).toMatchObject({ verdict: "problem", remedy: `chmod 700 '${world.data}'` });
  writeFileSync(file, "this is no database at all".repeat(500));
  const damaged = await examine(world);
  expect(damaged.of("database")[0]?.summary).toMatch(/is damaged: .* sets it aside/);
});
