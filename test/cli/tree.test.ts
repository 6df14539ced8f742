import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { type Ended, World } from "./world.ts";

const world = new World();
let ended: Ended;
let failures = 0;

/** main hands three tasks out at once: alpha delegates further, beta fails once, gamma never comes to an end. */
function script(request: ModelRequest): ModelReply {
  const { system, turn, all } = request;
  if (system.includes("You are main.")) {
    if (turn === 0) {
      const calls = ["alpha", "beta", "gamma"].map((agent) => ({
        name: "delegate",
        input: { agent, task: `the part of ${agent}` },
      }));
      return { calls };
    }
    const seen = [...all.matchAll(/<subagent_result agent="(\w+)"[^>]*>\n(\{[\s\S]*?\n\})\n/g)].map(
      ([, agent, json]) => {
        const { success, partial, retries, summary } = JSON.parse(json ?? "{}");
        return `${agent}: success=${success} partial=${partial === true} retries=${retries ?? 0} ${summary}`;
      },
    );
    return { text: seen.join("\n") };
  }
  if (system.includes("You are alpha.")) {
    if (turn === 0) return { calls: [{ name: "delegate", input: { agent: "scout", task: "look closer" } }] };
    return { text: "alpha is done with the help of scout" };
  }
  if (system.includes("You are scout.")) return { text: "scout found it" };
  if (system.includes("You are beta.")) {
    return failures++ === 0 ? { status: 400, message: "out of order" } : { text: "beta is done" };
  }
  if (request.last.includes("limit")) return { text: "gamma got half of it" };
  return { calls: [{ name: "ls", input: { path: turn === 0 ? "." : ".." } }] };
}

beforeAll(async () => {
  world.model = await startModel(script);
  world.agent("main", "subagents: [alpha, beta, gamma]");
  world.agent("alpha", "subagents: [scout]");
  world.agent("beta", "retry: { attempts: 1, on: [bad_response], backoffMs: 1 }");
  world.agent("gamma", "limits: { turns: 2 }");
  world.agent("scout", "");
  ended = await world.run(["run", "do three things", "-C", world.project]);
});
afterAll(() => world[Symbol.asyncDispose]());

test("the result lists every part truthfully", () => {
  expect(ended.code).toBe(0);
  expect(ended.stdout.trim().split("\n").sort()).toEqual([
    "alpha: success=true partial=false retries=0 alpha is done with the help of scout",
    "beta: success=true partial=false retries=1 beta is done",
    "gamma: success=true partial=true retries=0 gamma got half of it",
  ]);
});

test("progress goes to stderr, indented by depth, without escape codes", () => {
  expect(ended.stderr).toMatch(/^▶ started main \[local\/mock\] do three things$/m);
  expect(ended.stderr).toMatch(/^ {2}▶ started alpha /m);
  expect(ended.stderr).toMatch(/^ {4}✅ completed scout \d+ms · 15 tokens · \$\?$/m);
  expect(ended.stderr).toMatch(/^ {2}❌ failed beta .*out of order/m);
  expect(ended.stderr).toMatch(/^ {2}▶ started beta \(retry 1\)/m);
  expect(ended.stderr).toMatch(/^ {2}⚠️ partial gamma .*stopped by max_iterations/m);
  expect(ended.stderr.match(/waiting main/g)).toHaveLength(1);
  expect(ended.stderr).toMatch(/^ {2}· gamma calls ls \{"path":"\."\}$/m);
  expect(ended.stderr).toMatch(/^⏸ waiting main: for sub-agents$/m);
  expect(ended.stderr + ended.stdout).not.toContain("\u001b");
});

test("trace draws the tree with statuses, durations, retries and reasons", async () => {
  const { code, stdout } = await world.run(["trace", "last"]);
  expect(code).toBe(0);
  const lines = stdout.split("\n");
  expect(lines[0]).toMatch(/^ses_\w+ {2}✅ completed {2}do three things$/);
  expect(stdout).toMatch(/^✅ completed main "do three things" {2}[\d.]+m?s · 2 turns · 30 tokens · \$\?$/m);
  expect(stdout).toMatch(/^[├└]─ ∥ ✅ completed alpha "the part of alpha" {2}[\d.]+m?s · 2 turns/m);
  expect(stdout).toMatch(
    /^(?:│| ) {2}└─ ✅ completed scout "look closer" {2}[\d.]+m?s · 1 turn · 15 tokens/m,
  );
  expect(stdout).toMatch(/^[├└]─ ∥ ❌ failed beta "the part of beta" .*stopped by error/m);
  expect(stdout).toMatch(/error: .*out of order/);
  expect(stdout).toMatch(/completed beta "the part of beta" .*retry 1/);
  expect(stdout).toMatch(/⚠️ partial gamma .*stopped by max_iterations/);
  expect(stdout).toMatch(/tools: ls ×2/);
});

test("trace --calls shows every call, and a prefix of the id is enough", async () => {
  const [session] = JSON.parse((await world.run(["sessions", "--json"])).stdout);
  const { stdout } = await world.run(["trace", session.session_id.slice(0, 8), "--calls"]);
  expect(stdout).toMatch(/✅ ok ls \{"path":"\."\}/);
  expect(stdout).not.toContain("tools: ls");
  const json = JSON.parse((await world.run(["trace", "last", "--json"])).stdout);
  expect(json.tree[0].children.length).toBeGreaterThan(0);
});

test("the rows in the database alone tell who ran below whom, on what and how it ended", () => {
  using db = new DatabaseSync(join(world.data, "retinue.db"), { readOnly: true });
  const rows = db
    .prepare(
      "SELECT id, parent_message_id AS parent, request_type AS type, agent_role AS agent, * FROM messages",
    )
    .all();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const runs = rows.filter((row) => row.type === "prompt" || row.type === "delegation");
  const pathOf = (row: (typeof rows)[number]): string => {
    let above = byId.get(row.parent ?? null);
    while (above && above.type !== "prompt" && above.type !== "delegation")
      above = byId.get(above.parent ?? null);
    return above ? `${pathOf(above)} > ${row.agent}` : String(row.agent);
  };
  expect(runs.map((run) => `${pathOf(run)}: ${run.status}`).sort()).toEqual([
    "main > alpha > scout: completed",
    "main > alpha: completed",
    "main > beta: completed",
    "main > beta: failed",
    "main > gamma: completed",
    "main: completed",
  ]);
  for (const run of runs) expect(run.duration_ms).toEqual(expect.any(Number));
  const gamma = runs.find((run) => run.agent === "gamma");
  expect(gamma).toMatchObject({ bailout_reason: "max_iterations", max_iterations: 2, agent_depth: 1 });
  const turns = rows.filter((row) => row.type === "continuation" && row.agent === "main");
  expect(turns).toHaveLength(2);
  expect(String(turns[0]?.tool_calls_json)).toContain("the part of gamma");
});

test("sessions are listed and searched", async () => {
  const all = await world.run(["sessions"]);
  expect(all.stdout).toMatch(/ses_\w+ +\d{4}-\d\d-\d\d \d\d:\d\d +✅ completed .*do three things/);
  const some = await world.run(["sessions", "--search", "three", "--limit", "1"]);
  expect(some.stdout).toContain("do three things");
  const none = await world.run(["sessions", "--search", "nothing like it"]);
  expect([none.code, none.stdout.trim()]).toEqual([0, "no session with 'nothing like it'"]);
});
