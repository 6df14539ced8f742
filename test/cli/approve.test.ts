import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

/** A session that waits: so many sub-agents each ask to write a file. */
async function parkedWorld(count = 1): Promise<{ world: World; ids: string[]; sessionId: string }> {
  const world = new World();
  const tasks = Array.from({ length: count }, (_, index) => String(index));
  world.model = await startModel(({ system, turn, last }) => {
    if (system.includes("You are main."))
      return turn === 0
        ? { calls: tasks.map((task) => ({ name: "delegate", input: { agent: "writer", task } })) }
        : { text: "all done" };
    if (turn > 0) return { text: `heard: ${last}` };
    const input = { path: `${last.split("\n")[0]}.txt`, content: "evil \u001b[31mred\u202e" };
    return { calls: [{ name: "write", input }] };
  });
  world.agent("main", "subagents: [writer]\ntools: [write]");
  world.agent("writer", "tools: [write]\naskTools: [write]");
  const parked = await world.call(["run", "write it down", "--on-ask", "park"]);
  expect([parked.code, parked.stdout]).toEqual([54, ""]);
  expect(parked.stderr).toContain("main > writer asks to use write");
  expect(parked.stderr).not.toContain("🚫");
  const ids = [...new Set(parked.stderr.match(/apr_\w+/g) ?? [])];
  expect(ids).toHaveLength(count);
  return { world, ids, sessionId: /ses_\w+/.exec(parked.stderr)?.[0] ?? "" };
}

test("waiting calls are listed with who asks, and a yes lets the session run to its end", async () => {
  const { world, ids, sessionId } = await parkedWorld();
  await using _ = world;
  const [id = ""] = ids;
  const list = await world.call(["approve"]);
  expect([list.code, list.stdout]).toEqual([
    0,
    expect.stringContaining(`${sessionId}  main > writer  write`),
  ]);
  const json = JSON.parse((await world.call(["approve", "--json"])).stdout);
  expect(json).toEqual([expect.objectContaining({ approval_id: id, chain: ["main", "writer"] })]);
  const yes = await world.call(["approve", id.slice(0, 8), "--yes"]);
  expect([yes.code, yes.stdout]).toEqual([0, "all done\n"]);
  expect(yes.stderr).toMatch(/\+\+\+ b\/0\.txt/);
  for (const sign of ["\u001b", "\u202e"]) expect(yes.stderr).not.toContain(sign);
  expect(existsSync(join(world.project, "0.txt"))).toBe(true);
  expect((await world.call(["approve"])).stdout).toBe("nothing waits for approval\n");
  const again = await world.call(["approve", id, "--deny"]);
  expect([again.code, again.stderr]).toEqual([42, expect.stringMatching(/^error: apr_\w+ was allowed by /)]);
});

test("a denial with a note reaches the agent", async () => {
  const { world, ids } = await parkedWorld();
  await using _ = world;
  const no = await world.call(["approve", ids[0] ?? "", "--deny", "--note", "not on a Friday", "-p"]);
  expect([no.code, no.stdout]).toEqual([0, "all done\n"]);
  expect(existsSync(join(world.project, "0.txt"))).toBe(false);
  expect(world.model?.requests.map(({ all }) => all).join()).toContain("not on a Friday");
});

test("a key that was typed into a note is not in the record", async () => {
  const { world, ids } = await parkedWorld();
  await using _ = world;
  const key = "sk-canary-0123456789abcdef0123456789";
  const more = { env: { OPENAI_API_KEY: key } };
  const args = ["approve", ids[0] ?? "", "--deny", "--later", "--note", `try ${key} instead`];
  expect((await world.call(args, more)).code).toBe(0);
  const kept = readdirSync(world.data, { recursive: true, encoding: "utf8" })
    .map((name) => join(world.data, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"));
  expect(kept.some((text) => text.includes("instead"))).toBe(true);
  expect(kept.some((text) => text.includes(key))).toBe(false);
});

test("without a terminal an answer needs --yes or --deny, and without one nothing changes", async () => {
  const { world, ids } = await parkedWorld();
  await using _ = world;
  const silent = await world.call(["approve", ids[0] ?? ""]);
  expect([silent.code, silent.stdout]).toEqual([2, ""]);
  expect(silent.stderr).toContain("add --yes or --deny");
  const both = await world.call(["approve", ids[0] ?? "", "--yes", "--deny"]);
  expect(both.code).toBe(2);
  expect((await world.call(["approve"])).stdout).toContain(ids[0]);
});

test("with several questions, answering one lets the session go on and wait for the other", async () => {
  const { world, ids, sessionId } = await parkedWorld(2);
  await using _ = world;
  const { stdout } = await world.call(["approve", "--json"]);
  const asked = JSON.parse(stdout) as { approval_id: string; tool_input: { path: string } }[];
  const idOf = (path: string) => asked.find((one) => one.tool_input.path === path)?.approval_id ?? "";
  const [first, second] = [idOf("0.txt"), idOf("1.txt")];
  expect(ids.toSorted()).toEqual([first, second].toSorted());
  const later = await world.call(["approve", first, "--yes", "--later"]);
  expect([later.code, later.stderr]).toEqual([0, expect.stringContaining(`retinue resume ${sessionId}`)]);
  expect(existsSync(join(world.project, "0.txt"))).toBe(false);
  const half = await world.call(["resume", sessionId, "--on-ask", "park"]);
  expect([half.code, half.stderr]).toEqual([54, expect.stringContaining(`retinue approve ${second}`)]);
  const whole = await world.call(["approve", second, "--yes", "--json"]);
  expect([whole.code, JSON.parse(whole.stdout)]).toMatchObject([
    0,
    { subtype: "success", result: "all done" },
  ]);
  expect(existsSync(join(world.project, "1.txt"))).toBe(true);
});

test("a session that waits can be cancelled, and then nothing is left to approve", async () => {
  const { world, ids, sessionId } = await parkedWorld();
  await using _ = world;
  const cancelled = await world.call(["cancel", sessionId]);
  expect([cancelled.code, cancelled.stdout]).toEqual([0, `cancelled ${sessionId}; no process had it\n`]);
  expect((await world.call(["approve"])).stdout).toBe("nothing waits for approval\n");
  const late = await world.call(["approve", ids[0] ?? "", "--yes"]);
  expect(late.code).toBe(42);
  expect(existsSync(join(world.project, "0.txt"))).toBe(false);
});

test("two answers at the same time both count, and one process goes on to the end", async () => {
  const { world, ids } = await parkedWorld(2);
  await using _ = world;
  const both = await Promise.all(ids.map((id) => world.run(["approve", id, "--yes"])));
  const codes = both.map(({ code }) => code);
  // A process that stops before the other's answer is there says that the session is parked; the other continues.
  expect(codes).toContain(0);
  expect(codes.every((code) => code === 0 || code === 54)).toBe(true);
  expect(both.map(({ stdout }) => stdout).join("")).toBe("all done\n");
  for (const name of ["0.txt", "1.txt"]) expect(existsSync(join(world.project, name))).toBe(true);
});

test("an answer for a session that another process has is taken up by that process", async () => {
  await using world = new World();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  world.model = await startModel(async ({ turn, all }) => {
    if (turn > 0) return { text: "all done" };
    if (all.includes("slowly")) {
      await answered;
      return { text: "slow and done" };
    }
    if (all.includes("put it there"))
      return { calls: [{ name: "write", input: { path: "0.txt", content: "x" } }] };
    return {
      calls: [
        { name: "delegate", input: { agent: "writer", task: "put it there" } },
        { name: "delegate", input: { agent: "helper", task: "slowly" } },
      ],
    };
  });
  world.agent("main", "subagents: [helper, writer]\ngrants: [write]");
  world.agent("writer", "tools: [write]\naskTools: [write]");
  world.agent("helper", "tools: []");
  const run = world.start(["run", "write it down", "--on-ask", "park"]);
  await run.stderrHas("asks to use write");
  const [asked] = JSON.parse((await world.call(["approve", "--json"])).stdout) as { approval_id: string }[];
  const yes = await world.call(["approve", asked?.approval_id ?? "", "--yes"]);
  expect([yes.code, yes.stdout]).toEqual([0, ""]);
  expect(yes.stderr).toContain("goes on with the answer");
  answer();
  const ended = await run.ended;
  expect([ended.code, ended.stdout]).toEqual([0, "all done\n"]);
  expect(existsSync(join(world.project, "0.txt"))).toBe(true);
});
