import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Lives, silence } from "../../../../test/fixtures/lives.ts";
import { openSeen } from "../../../../test/fixtures/seen-runs.ts";
import { defineAgent } from "../agents/define-agent.ts";
import { systemClock } from "../budget/clock.ts";
import { decide } from "../rights/decide.ts";
import { DEFAULT_SETTINGS } from "../settings/default-settings.ts";
import { callDelegate, callDelegateMany, callTool, hang, say, testRuntime } from "../testing/index.ts";
import { defineTool } from "../tools/tool.ts";
import { baseLayers } from "./open-session.ts";

test("no secret stands in a session's title, which is one line", async () => {
  const secret = "sk-test-0123456789abcdefghij";
  await using t = testRuntime({ lead: [say("done")] }, { env: { SERVICE_API_KEY: secret } });
  const { session_id } = await t.runtime.run({
    agent: "lead",
    task: `Use\n${secret}\nhere. ${"x".repeat(200)}`,
  });
  const { title } = await t.runtime.record.findSession(session_id);
  expect(title).toMatch(/^Use .* here\. x+/);
  expect(title).not.toContain(secret);
  expect(title.length).toBeLessThanOrEqual(120);
});

test.each([
  [{ maxAgents: 2 }, 1],
  [{ maxAgents: 2, limits: { spawns: 9 } }, 1],
  [{ maxAgents: 9, limits: { spawns: 3 } }, 2],
])(
  "with the settings %j a session has so many runs and no more: its root and %i children",
  async (settings, children) => {
    const tasks = ["a", "b", "c"].map((id) => ({ id, agent: "worker", task: id }));
    await using t = testRuntime(
      { lead: [callDelegateMany(tasks), say("done")], worker: { eachRun: [say("done")] } },
      { settings },
    );
    await t.runtime.run({ agent: "lead", task: "go" });
    expect(t.models.worker?.requests).toHaveLength(children);
  },
);

test("a session that goes on days later still began when it began, and a read-only one stays read-only", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-open-session-"));
  const places = { projectDir: root, dataDir: join(root, "data"), database: join(root, "data", "r.db") };
  const stuck = silence();
  const first = testRuntime(
    {
      lead: [callDelegate("one", "x"), stuck.step],
      one: [say("done")],
      two: [],
    },
    { ...places, lenient: true, permissionMode: "plan" },
  );
  const { sessionId } = await first.runtime.start({ agent: "lead", task: "go" });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  await first.runtime.leave();
  const clock = { ...systemClock, wallMs: () => Date.now() + 3 * 86_400_000 };
  const second = testRuntime(
    { lead: [callDelegate("two", "x"), say("done")], one: [], two: [say("done")] },
    { ...places, lenient: true, internals: { clock } },
  );
  await (await second.runtime.resume(sessionId)).result;
  const dayIn = (t: typeof first, agent: string) =>
    /Date: ([^(]+)/.exec(JSON.stringify(t.models[agent]?.requests[0]?.prompt))?.[1];
  expect(dayIn(second, "two")).toBe(dayIn(first, "one"));
  expect(
    JSON.parse((await second.runtime.record.findSession(sessionId)).metadata_json ?? "{}"),
  ).toMatchObject({
    readOnly: true,
  });
  await second.close();
  rmSync(root, { recursive: true, force: true });
});

test("a session works in the real folder of its project, and its own is for nobody else to look into", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-open-session-")));
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(root, "link"));
  await using t = testRuntime(
    { lead: [say("done")] },
    { projectDir: join(root, "link"), dataDir: join(root, "data") },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const { project, workspace } = await t.runtime.record.findSession(session_id);
  expect(project).toBe(join(root, "real"));
  expect(statSync(workspace).mode & 0o777).toBe(0o700);
  rmSync(root, { recursive: true, force: true });
});

test("all runs of a session share what it knows: the state of git, hosts of the person, and where findings are kept", async () => {
  const secret = "sk-test-0123456789abcdefghij";
  const find = defineTool<object>({
    name: "find",
    description: "x",
    input: { type: "object" },
    execute: async (_, { observed }) => {
      observed("found.txt", `found ${secret}`);
      return "found";
    },
  });
  let looks = 0;
  const readGitState = async () => ({ branch: `branch ${++looks}`, state: "clean" });
  await using seen = openSeen(
    { lead: [callTool("find", {}), callDelegate("worker", "x"), say("done")], worker: [say("done")] },
    {
      tools: [{ ...find, groups: ["filesystem"] }],
      env: { SERVICE_API_KEY: secret },
      settings: { web: { ...DEFAULT_SETTINGS.web, allowHosts: ["Known.example"] } },
      internals: { readGitState },
    },
  );
  const { session_id } = await seen.runtime.run({ agent: "lead", task: "go" });
  const { session } = seen.find("lead");
  expect(seen.find("worker").session).toBe(session);
  expect(looks).toBe(1);
  expect(session.addresses.carries("https://known.example/page")).toBe(true);
  expect(session.addresses.carries("https://other.example/page")).toBe(false);
  const { workspace } = await seen.runtime.record.findSession(session_id);
  expect(readFileSync(join(workspace, "found.txt"), "utf8")).not.toContain(secret);
});

test("above every agent stand the protected places, the person's own rules and what was switched off for the session", () => {
  const source = { scope: "project", format: "native", promptFile: "/project/prompts/lead.md" } as const;
  const agent = defineAgent({ name: "lead", description: "x", prompt: "x" });
  const places = { dataDir: "/home/me/data", configDir: "/home/me/config", homeDir: "/home/me" };
  const settings = {
    ...DEFAULT_SETTINGS,
    permissions: { allow: ["read", "write"], ask: [], deny: ["shell"] },
    agents: [{ ...agent, source: { ...agent.source, ...source } }],
  };
  const verdictIn = (mode: "default" | "plan") => (tool: string, path?: string) =>
    decide(baseLayers({ ...places, disallowedTools: ["web_fetch"], mode, settings }), {
      ...{ tool, groups: tool === "write" || tool === "read" ? ["filesystem"] : [] },
      targets: path ? [{ kind: "path", root: "outside", path, relative: path, mode: "write" }] : [],
    }).verdict;
  const [usual, reading] = [verdictIn("default"), verdictIn("plan")];
  expect([usual("shell"), usual("web_fetch"), usual("write")]).toEqual(["deny", "deny", "allow"]);
  expect(reading("write", "/project/other.md")).toBe("deny");
  for (const path of ["/home/me/data/retinue.db", "/project/prompts/lead.md"])
    expect([usual("write", path), usual("write", "/project/other.md")]).toEqual(["deny", "allow"]);
});

test.each([
  ["~", true],
  ["~/work", true],
  ["work/link-to-project", true],
  ["work/project/below", false],
  ["missing", false],
])(
  "with %j among the trusted projects it is %j that the person's own project is one",
  async (named, isTrusted) => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), "retinue-open-session-")));
    const project = join(home, "work", "project");
    mkdirSync(join(project, "below"), { recursive: true });
    symlinkSync(project, join(home, "work", "link-to-project"));
    await using seen = openSeen(
      { lead: [say("done")] },
      {
        projectDir: project,
        dataDir: join(home, "data"),
        env: { HOME: home },
        settings: { trustedProjects: [named] },
      },
    );
    await seen.runtime.run({ agent: "lead", task: "go" });
    const { projectText } = seen.find("lead").session;
    projectText.enter();
    expect(projectText.hasEntered).toBe(!isTrusted);
    rmSync(home, { recursive: true, force: true });
  },
);

test("several tasks at once that are cancelled leave a cancelled session, not a failed one", async () => {
  await using t = testRuntime({ one: [hang()], two: [hang()] }, { lenient: true });
  const results = t.runtime.fanOut([
    ["one", "x"],
    ["two", "y"],
  ]);
  while (t.models.one?.requests.length !== 1 || t.models.two?.requests.length !== 1)
    await new Promise((resolve) => setImmediate(resolve));
  const sessionId = t.events[0]?.sessionId ?? "";
  t.runtime.cancel(sessionId);
  expect((await results).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
  await t.runtime.record.committed();
  expect((await t.runtime.record.findSession(sessionId)).status).toBe("cancelled");
});

test("a session has the budget, the depth and the rights that it was opened with, also when it goes on elsewhere", async () => {
  using lives = new Lives();
  const stuck = silence();
  const first = {
    settings: {
      ...{ limits: { tokens: 500_000, costUsd: 2 }, maxDepth: 3, maxAgents: 7 },
      permissions: { allow: [], ask: [], deny: ["shell"] },
      prices: { "scripted/lead": { input: 1, output: 1 } },
    },
    disallowedTools: ["web_fetch"],
    triggers: false,
    keeper: "a server",
  };
  const sessionId = await lives.abandon(lives.open({ lead: [stuck.step] }, first), () => stuck.reached);
  const second = { settings: { maxDepth: 9, maxAgents: 50 }, keeper: "another" };
  await using seen = openSeen({ lead: { eachRun: [say("done")] } }, second, (scripts, more) =>
    lives.open(scripts, more),
  );
  await (await seen.runtime.resume(sessionId)).result;
  await seen.runtime.run({ agent: "lead", task: "go" });
  const { session, chain } = seen.find("lead");
  expect(session).toMatchObject({
    ...{ maxDepth: 3, triggers: false, readOnly: false },
    account: { limits: { tokens: 500_000, costUsd: 2, spawns: 7 } },
  });
  const denied = chain.flatMap(({ deny }) => deny.map(({ text }) => text));
  expect(denied).toEqual(expect.arrayContaining(["shell", "web_fetch"]));
  const { metadata_json } = await seen.runtime.record.findSession(sessionId);
  expect(JSON.parse(metadata_json ?? "{}")).toMatchObject({
    keeper: "another",
    maxDepth: 3,
    triggers: false,
  });
  expect(seen.find("lead", 1).session).toMatchObject({
    ...{ maxDepth: 9, triggers: true },
    account: { limits: { spawns: 50 } },
  });
});
