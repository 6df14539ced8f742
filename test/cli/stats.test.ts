import { join } from "node:path";
import type { Stats } from "@retinue/core/schema/stats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { World } from "./world.ts";

const world = new World();
const TASKS = 6;
let refusals = 0;

/** main hands out six tasks: the first attempt at one is refused by the model, another never comes to an end. */
function script({ system, turn, last, all }: ModelRequest): ModelReply {
  if (system.includes("You are main.")) {
    if (turn > 0) return { text: "all done" };
    const calls = Array.from({ length: TASKS }, (_, index) => ({
      name: "delegate",
      input: { agent: "worker", task: `part ${index}` },
    }));
    return { calls };
  }
  if (all.includes("part 0") && refusals++ === 0) return { status: 400, message: "out of order" };
  if (!all.includes("part 1")) return { text: "done" };
  if (last.includes("limit")) return { text: "half of it" };
  return { calls: [{ name: "ls", input: { path: turn === 0 ? "." : ".." } }] };
}

function stats(...args: string[]) {
  return world.call(["stats", ...args]);
}

async function figures(...args: string[]): Promise<Stats> {
  const { code, stdout } = await stats("--json", ...args);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

beforeAll(async () => {
  expect((await stats()).stdout).toBe("no runs yet\n");
  expect((await figures()).total.runs).toBe(0);
  world.model = await startModel(script);
  world.agent("main", "tools: [ls]\nsubagents: [worker]");
  world.agent("worker", "limits: { turns: 2 }\nretry: { attempts: 1, on: [bad_response], backoffMs: 1 }");
  const prices = { "local/mock": { input: 1_000, output: 2_000 } };
  const settings = world.writeAt(join(world.config, "retinue", "settings.json"), JSON.stringify({ prices }));
  expect((await world.call(["run", "do six things"])).code).toBe(0);
  world.writeAt(settings, "{}");
  expect(
    (await world.call(["run", "--agent", "worker", "one thing"], { env: { RETINUE_MODEL: "free" } })).code,
  ).toBe(0);
});
afterAll(() => world[Symbol.asyncDispose]());

test("a table shows how runs of each role and model did, and what they cost", async () => {
  const { code, stdout, stderr } = await stats();
  expect([code, stderr]).toEqual([0, ""]);
  const [head, worker, ...others] = stdout.trimEnd().split("\n");
  expect(head).toMatch(
    /^ROLE +MODEL +RUNS +OK +PARTIAL +FAILED +SUCCESS +P50 +P95 +TOKENS +COST +COST\/OK +NOTES$/,
  );
  expect(worker).toMatch(
    /^worker +local\/mock +7 +5 +1 +1 +71 % \(36–92, n=7\) +[\d.]+m?s +[\d.]+m?s +120 +\$0\.16 +\$0\.03 +1 retry · stopped by error, max_iterations$/,
  );
  expect(others[0]).toMatch(
    /^main +local\/mock +1 +1 +0 +0 +not enough data \(n=1\) +– +– +30 +\$0\.04 +\$0\.04 +with sub-agents 150 tokens, \$0\.20$/,
  );
  expect(others[1]).toMatch(
    /^worker +local\/free +1 +1 +0 +0 +not enough data \(n=1\) +– +– +15 +\$\? +\$\?$/,
  );
  expect(others[2]).toMatch(/^TOTAL +9 +7 +1 +1 +78 % \(45–94, n=9\) .* 165 +\$\? +\$\? +1 retry/);
});

test("models without a price are named below, with how to add one", async () => {
  const { stdout } = await stats();
  expect(stdout).toMatch(
    /\n\n\$\? is a cost that is not known, because there is no price for: local\/free\n/,
  );
  const file = join(world.config, "retinue", "settings.json");
  expect(stdout).toContain(`to ${file}, such as {"prices": {"local/free": {"input"`);
  expect((await stats("--model", "local/mock")).stdout).not.toContain("hint:");
});

test("lines are by role or by model when asked for", async () => {
  const roles = await stats("--by", "role");
  expect(roles.stdout).toMatch(/^ROLE +RUNS .*\nworker +8 .*\nmain +1 .*\nTOTAL +9 /);
  const models = await stats("--by", "model");
  expect(models.stdout).toMatch(/^MODEL +RUNS .*\nlocal\/mock +8 .*\nlocal\/free +1 .*\nTOTAL +9 /);
});

test("every filter counts only what fits it", async () => {
  const runsOf = async (...args: string[]) => (await figures(...args)).total.runs;
  expect(await runsOf("--agent", "main")).toBe(1);
  expect(await runsOf("--model", "local/free")).toBe(1);
  expect(await runsOf("--session", "last")).toBe(1);
  expect(await runsOf("--since", "7d")).toBe(9);
  expect(await runsOf("--since", "2999-01-01")).toBe(0);
  expect(await runsOf("-C", world.project)).toBe(9);
  expect(await runsOf("-C", world.home)).toBe(0);
  const [, first] = JSON.parse((await world.call(["sessions", "--json"])).stdout);
  expect(await runsOf("--session", first.session_id)).toBe(8);
});

test("JSON has every figure", async () => {
  const { groups, total } = await figures("--agent", "worker", "--model", "local/mock");
  expect(groups).toEqual([{ role: "worker", model: "local/mock", ...total }]);
  expect(total).toMatchObject({
    successes: 5,
    partials: 1,
    failures: { failed: 1 },
    success: { rate: 5 / 7, n: 7 },
    durationMs: { p50: expect.any(Number), p95: expect.any(Number) },
    unpricedModels: [],
    retries: 1,
    bailouts: { error: 1, max_iterations: 1 },
  });
});

test("a filter that nothing fits says so and names what is recorded", async () => {
  const { code, stdout } = await stats("--agent", "wroker", "--model", "mock");
  expect([code, stdout]).toEqual([
    0,
    "no runs of agent 'wroker', on model 'mock'\nrecorded agents: worker, main\nrecorded models: local/mock, local/free\n",
  ]);
});

test("mistakes are usage or input errors that say what is possible", async () => {
  const since = await stats("--since", "soon");
  expect([since.code, since.stderr]).toEqual([2, expect.stringContaining("7d")]);
  const by = await stats("--by", "colour");
  expect([by.code, by.stderr]).toEqual([2, expect.stringContaining("role, model, both")]);
  const session = await stats("--session", "ses_none");
  expect([session.code, session.stderr]).toEqual([42, expect.stringContaining("no session 'ses_none'")]);
  await using empty = new World();
  const none = await empty.call(["stats", "--session", "last"]);
  expect([none.code, none.stderr]).toEqual([42, expect.stringContaining("there are none yet")]);
});
