import { readdirSync, statSync } from "node:fs";
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
    const seen = [...all.matchAll(/<subagent_result agent="(\w+)"([^>]*)>\n(.*)\n\n(.*)\n/g)].map(
      ([, agent, attributes = "", measured = "", said]) => {
        const status = /status="(\w+)"/.exec(attributes)?.[1];
        const partial = attributes.includes('partial="true"');
        return `${agent}: ${status} partial=${partial} retries=${/(\d+) retr/.exec(measured)?.[1] ?? 0} ${said}`;
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
  ended = await world.call(["run", "do three things", "-C", world.project]);
});
afterAll(() => world[Symbol.asyncDispose]());

test("the result lists every part truthfully", () => {
  expect(ended.code).toBe(0);
  expect(ended.stdout.trim().split("\n").sort()).toEqual([
    "alpha: completed partial=false retries=0 alpha is done with the help of scout",
    "beta: completed partial=false retries=1 beta is done",
    "gamma: completed partial=true retries=0 gamma got half of it",
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

test("trace draws the tree beside its waterfall, with statuses, retries and reasons", async () => {
  const { code, stdout } = await world.call(["trace", "last"]);
  expect(code).toBe(0);
  const lines = stdout.split("\n");
  expect(lines[0]).toMatch(/^ses_\w+ {2}✅ completed {2}do three things$/);
  expect(lines[2]).toMatch(
    /^6 runs · 5 agents · \d at once · 2 tool calls · 135 tokens · \$\? · [\d.]+m?s at work$/,
  );
  expect(stdout).toMatch(/^✅ completed main "do three things" +[\d.]+m?s +30 +\$\? {2}[█─]+$/m);
  expect(stdout).toMatch(/^[├└]─ ∥ ✅ completed alpha "the part of alpha" +[\d.]+m?s +30 +\$\? +[█─▌]+$/m);
  expect(stdout).toMatch(/^(?:│| ) {2}└─ ✅ completed scout "look closer" +[\d.]+m?s +15 /m);
  expect(stdout).toMatch(/^[├└]─ ∥ ❌ failed beta "the part of beta" /m);
  expect(stdout).toMatch(/error: .*out of order/);
  expect(stdout).toMatch(/1 turn · retry 1/);
  expect(stdout).toMatch(/partial gamma /);
  expect(stdout).toMatch(/2 turns · stopped by max_iterations · tools: ls ×2/);
  expect(stdout).not.toContain("\u001b");
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(120);
});

test("trace --calls shows every call, and a prefix of the id is enough", async () => {
  const [session] = JSON.parse((await world.call(["sessions", "--json"])).stdout);
  const { stdout } = await world.call(["trace", session.session_id.slice(0, 8), "--calls"]);
  expect(stdout).toMatch(/✅ ok ls \{"path":"\."\}/);
  expect(stdout).not.toContain("tools: ls");
});

test("trace --json has for every run what it was given, did and answered", async () => {
  const { format, session, totals, runs } = JSON.parse(
    (await world.call(["trace", "last", "--json"])).stdout,
  );
  expect([format, session.state, totals.runs]).toEqual([1, "completed", 6]);
  const [main] = runs;
  expect(main).toMatchObject({
    agent: "main",
    task: "do three things",
    parentRunId: null,
    status: "completed",
  });
  const alpha = main.children.find(({ agent }: { agent: string }) => agent === "alpha");
  expect(alpha).toMatchObject({
    parentRunId: main.runId,
    model: "local/mock",
    parallel: true,
    context: { mode: "task_only", message: "the part of alpha" },
    result: { text: "alpha is done with the help of scout" },
    tokens: { self: 30, subtree: 45 },
    costUsd: { self: null, subtree: null },
  });
  expect(alpha.children[0]).toMatchObject({ agent: "scout", result: { text: "scout found it" } });
  const beta = main.children.filter(({ agent }: { agent: string }) => agent === "beta");
  expect(beta.map(({ attempt, status }: { attempt: number; status: string }) => [attempt, status])).toEqual([
    [0, "failed"],
    [1, "completed"],
  ]);
});

test("filters keep the wanted runs in their place, and --failed shows the first failure", async () => {
  const trace = (...args: string[]) => world.call(["trace", "last", ...args]);
  const agents = (text: string) =>
    [...text.matchAll(/(?:completed|failed|partial) (\w+) "/g)].map(([, name]) => name);
  expect(agents((await trace("--agent", "scout")).stdout)).toEqual(["main", "alpha", "scout"]);
  expect(agents((await trace("--status", "partial")).stdout)).toEqual(["main", "gamma"]);
  expect(agents((await trace("--depth", "0")).stdout)).toEqual(["main"]);
  const none = await trace("--agent", "nobody");
  expect([none.code, none.stdout.split("\n").at(-2)]).toEqual([0, "no run fits --agent nobody"]);
  const failed = await trace("--failed");
  expect(agents(failed.stdout)).toEqual(["main", "beta"]);
  expect(failed.stdout).toMatch(/first failure: beta, run_\w+ \(bad_response\)/);
  const [, id = ""] = /--run (run_\w+) --calls/.exec(failed.stdout) ?? [];
  expect(agents((await trace("--run", id, "--calls")).stdout)).toEqual(["beta"]);
  expect((await trace("--run", "run_none")).stderr).toMatch(/has no run 'run_none'/);
  const few = await trace("--limit", "2");
  expect(few.stdout).toMatch(/2 of 6 runs are shown/);
});

test("trace -o writes a file for its owner alone", async () => {
  const { code, stdout, stderr } = await world.call(["trace", "last", "-o", "trace.txt"]);
  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toMatch(/^wrote .*trace\.txt/);
  expect(statSync(join(world.project, "trace.txt")).mode & 0o777).toBe(0o600);
  expect(world.read("trace.txt")).toContain("do three things");
});

test("export writes a session in every form, with its files when asked for", async () => {
  const run = (...args: string[]) => world.call(["export", "last", ...args]);
  expect((await run()).stdout).toMatch(/^# do three things\n[\s\S]*### 1\.1 alpha: the part of alpha/);
  const lines = (await run("--format", "jsonl")).stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).kind)).toContain("prompt");
  const { session, messages, prompts } = JSON.parse((await run("--json")).stdout);
  expect(lines.filter((line) => JSON.parse(line).kind === "message")).toHaveLength(messages.length);
  expect(Object.values(prompts).join("\n")).toContain("You are scout.");
  world.writeAt(join(session.workspace, "work_products", "report.html"), "<p>report</p>");
  const whole = await run("-o", "out/", "--files");
  expect([whole.code, whole.stdout]).toEqual([0, ""]);
  expect(readdirSync(join(world.project, "out")).sort()).toEqual([
    "rows.jsonl",
    "session.json",
    "transcript.md",
    "workspace",
  ]);
  expect(world.read("out/workspace/work_products/report.html")).toBe("<p>report</p>");
  expect(statSync(join(world.project, "out", "session.json")).mode & 0o777).toBe(0o600);
  await run("-o", "one.md");
  expect(world.read("one.md")).toMatch(/^# do three things/);
  expect((await run("-o", "one.html")).stderr).toMatch(/not exported as a web page\nhint: .*retinue serve/);
  expect((await run("--files")).code).toBe(2);
  expect((await run("-o", "missing/one.md")).code).toBe(42);
});

test("the rows in the database alone show who ran below whom, on what, and how it ended", () => {
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

test("sessions are listed and searched in what was asked and answered", async () => {
  const sessions = (...args: string[]) => world.call(["sessions", ...args]);
  const all = await sessions();
  expect(all.stdout).toMatch(
    /^ses_\w+ +just now +✅ completed +6 +[\d.]+m?s +\$\? +project +do three things$/m,
  );
  expect(all.stdout).toMatch(/look closer: retinue trace ses_\w+/);
  expect((await sessions("--search", "three", "--limit", "1")).stdout).toContain("do three things");
  const found = await sessions("--search", "SCOUT closer");
  expect(found.stdout).toContain("do three things");
  expect((await sessions("--search", "found it")).stdout).toMatch(/^ {2}answer of scout: scout found it$/m);
  const none = await sessions("--search", "nothing like it");
  expect([none.code, none.stdout.trim()]).toEqual([0, "no session with 'nothing like it'"]);
});

test("sessions are narrowed by project, status and time", async () => {
  const ids = async (...args: string[]) =>
    JSON.parse((await world.call(["sessions", "--json", ...args])).stdout).map(
      ({ session_id }: { session_id: string }) => session_id,
    );
  expect(await ids("--project")).toHaveLength(1);
  expect(await ids("--project", world.project)).toHaveLength(1);
  expect(await ids("--project", "/elsewhere")).toEqual([]);
  expect(await ids("--status", "completed", "--since", "1h")).toHaveLength(1);
  expect(await ids("--status", "interrupted")).toEqual([]);
  expect(await ids("--since", "2999-01-01")).toEqual([]);
});
