import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readTree } from "@retinue/core/record/read-tree";
import type { MessageNode } from "@retinue/core/schema/record";
import { callDelegate, callTool, say, testRuntime } from "@retinue/core/testing";
import { defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";

const note = defineTool<{ text: string }>({
  name: "note",
  description: "x",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  replay: "safe",
  execute: async ({ text }) => `noted ${text}`,
});

/** The tree as indented lines of type, agent or tool, and status. */
function outline(nodes: readonly MessageNode[], depth = 0): string[] {
  return nodes.flatMap((node) => {
    const { tool } = JSON.parse(node.metadata_json ?? "{}");
    const name = node.request_type === "tool_call" ? tool : node.agent_role;
    return [
      `${"  ".repeat(depth)}${node.request_type} ${name} ${node.status}`,
      ...outline(node.children, depth + 1),
    ];
  });
}

test("the rows of a session rebuild the tree: runs, model calls and tool calls, parent by parent", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "look"), callTool("nothing_like_this", {}), say("done")],
      worker: [callTool("note", { text: "a" }), callTool("note", {}), say("seen")],
    },
    { tools: [note] },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  expect(outline(await readTree(t.runtime.record, session_id))).toEqual([
    "prompt lead completed",
    "  continuation lead completed",
    "    delegation worker completed",
    "      continuation worker completed",
    "        tool_call note completed",
    "      continuation worker completed",
    "        tool_call note failed",
    "      continuation worker completed",
    "  continuation lead completed",
    "    tool_call nothing_like_this failed",
    "  continuation lead completed",
  ]);
});

test("rows carry what seed 004 asks: role, depth, model, request, response, tokens, iterations, limits, timing", async () => {
  await using t = testRuntime(
    {
      lead: [callDelegate("worker", "look", { context: "task_only" }), say("done")],
      worker: [say("seen", { input: 100, output: 7 })],
    },
    {
      agents: { worker: { limits: { turns: 4, minutes: 2 } } },
      settings: { prices: { "scripted/worker": { input: 10, output: 100 } } },
    },
  );
  const { session_id } = await t.runtime.run({ agent: "lead", task: "go" });
  const rows = await t.runtime.record.readRows({ sessionId: session_id });
  const run = rows.find((row) => row.request_type === "delegation");
  expect(run).toMatchObject({
    agent_role: "worker",
    agent_depth: 1,
    model_id: "scripted/worker",
    request_content: "look",
    response_content: "seen",
    response_summary: "seen",
    context_mode: "task_only",
    max_iterations: 4,
    max_duration_ms: 120_000,
    iteration_count: 1,
    total_tokens: 107,
    status: "completed",
  });
  expect(run?.cost_usd).toBeCloseTo((100 * 10 + 7 * 100) / 1_000_000);
  expect(await t.runtime.record.readText(run?.system_prompt_id ?? "")).toContain("You are worker.");
  const call = rows.find((row) => row.request_type === "continuation" && row.agent_role === "worker");
  expect(call).toMatchObject({ prompt_tokens: 100, completion_tokens: 7, parent_message_id: run?.id });
});

test("an event is published after its row is on disk, and seqs have no gaps", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-record-"));
  const database = join(folder, "data", "retinue.db");
  {
    await using t = testRuntime(
      { lead: [callDelegate("worker", "look"), say("done")], worker: [say("seen")] },
      { database },
    );
    const missing: string[] = [];
    let other: DatabaseSync | undefined;
    t.runtime.events((event) => {
      if (event.seq === undefined) return;
      other ??= new DatabaseSync(database, { readOnly: true });
      const row = other
        .prepare("SELECT id FROM messages WHERE session_id = ? AND (opened_seq = ? OR closed_seq = ?)")
        .get(event.sessionId, event.seq, event.seq);
      if (!row) missing.push(`${event.type} ${event.seq}`);
    });
    await t.runtime.run({ agent: "lead", task: "go" });
    expect(missing).toEqual([]);
    const seqs = t.events.flatMap((event) => event.seq ?? []);
    expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index));
    expect(statSync(database).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
    other?.close();
  }
  rmSync(folder, { recursive: true });
});

test("costs and tokens of children are part of the parent's subtree, and an unknown price makes the sum unknown", async () => {
  const scripts = {
    lead: [callDelegate("worker", "x"), say("ok", { input: 10, output: 1 })],
    worker: [say("y", { input: 100, output: 10 })],
  };
  const price = { input: 1_000_000, output: 1_000_000 };
  await using priced = testRuntime(
    { ...scripts, lead: [callDelegate("worker", "x"), say("ok", { input: 10, output: 1 })] },
    { settings: { prices: { "scripted/worker": price, "scripted/lead": price } } },
  );
  const known = await priced.runtime.run({ agent: "lead", task: "go" });
  expect(known.tokens.subtree).toBe(known.tokens.self + 110);
  expect(known.cost_usd.subtree).toBeCloseTo((known.cost_usd.self ?? 0) + 110);
  await using half = testRuntime(scripts, { settings: { prices: { "scripted/lead": price } } });
  const unknown = await half.runtime.run({ agent: "lead", task: "go" });
  expect(unknown.cost_usd.self).toBeGreaterThan(0);
  expect(unknown.cost_usd.subtree).toBeNull();
});
