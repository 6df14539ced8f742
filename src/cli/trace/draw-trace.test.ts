import { expect, test } from "vitest";
import type { MessageNode } from "../../schema/record.ts";
import { drawTrace } from "./draw-trace.ts";

let ids = 0;

/** A row with only what matters; openings and closings are given as record numbers. */
function node(fields: Partial<MessageNode>, ...children: MessageNode[]): MessageNode {
  return {
    id: ++ids,
    session_id: "ses_1",
    parent_message_id: null,
    started_at: "2026-01-01T00:00:00.000Z",
    completed_at: "2026-01-01T00:00:01.000Z",
    duration_ms: 1_000,
    agent_role: "main",
    agent_depth: 0,
    model_id: "m",
    system_prompt_id: null,
    request_type: "continuation",
    request_content: null,
    context_mode: null,
    context_token_count: null,
    response_content: null,
    response_summary: null,
    tool_calls_json: null,
    files_modified_json: null,
    prompt_tokens: null,
    completion_tokens: null,
    total_tokens: 10,
    iteration_count: 1,
    max_iterations: null,
    max_duration_ms: null,
    bailout_reason: null,
    status: "completed",
    error_message: null,
    metadata_json: null,
    run_id: "run_1",
    call_id: null,
    opened_seq: ids,
    closed_seq: ids,
    cost_usd: null,
    replay: null,
    ...fields,
    children,
  };
}
const run = (agent: string, fields: Partial<MessageNode>, ...children: MessageNode[]) =>
  node(
    { request_type: "delegation", agent_role: agent, request_content: `task of ${agent}`, ...fields },
    ...children,
  );
const call = (tool: string, outcome: string, fields: Partial<MessageNode> = {}) =>
  node({ request_type: "tool_call", metadata_json: JSON.stringify({ tool, outcome }), ...fields });

test("nothing is drawn of nothing", () => {
  expect(drawTrace([])).toEqual([]);
});

test("a tree has one line per run, with what went wrong and counts of calls", () => {
  const tree = run(
    "main",
    { iteration_count: 2, cost_usd: 0.1234, duration_ms: 65_000 },
    node(
      {},
      call("read", "ok"),
      call("read", "cached"),
      call("write", "denied"),
      run("a", { opened_seq: 5, closed_seq: 9 }),
    ),
    node(
      {},
      run("b", {
        opened_seq: 10,
        closed_seq: 12,
        status: "timeout",
        error_message: "too\nslow",
        cost_usd: 0,
      }),
    ),
  );
  expect(drawTrace([tree])).toEqual([
    '✅ completed main "task of main"  1m05s · 2 turns · 10 tokens · $0.12',
    "│  tools: read ×2, write (1 denied)",
    '├─ ✅ completed a "task of a"  1.0s · 1 turn · 10 tokens · $?',
    '└─ ⏱️ timeout b "task of b"  1.0s · 1 turn · 10 tokens · $0',
    "      error: too slow",
  ]);
});

test("siblings that overlap in the record are marked, those that follow each other are not", () => {
  const tree = run(
    "main",
    {},
    node(
      {},
      run("a", { opened_seq: 1, closed_seq: 4 }),
      run("b", { opened_seq: 2, closed_seq: 3 }),
      run("c", { opened_seq: 5, closed_seq: 6 }),
    ),
  );
  const lines = drawTrace([tree]);
  expect(lines[1]).toMatch(/^├─ ∥ ✅ completed a/);
  expect(lines[2]).toMatch(/^├─ ∥ ✅ completed b/);
  expect(lines[3]).toMatch(/^└─ ✅ completed c/);
  expect(lines[4]).toBe("∥ at the same time as a sibling");
});

test("runs of a batch hang from its call, and calls are shown in their order when asked for", () => {
  const batch = call("delegate_many", "ok", { request_content: "{}", duration_ms: 5 });
  batch.children.push(run("a", {}));
  const tree = run(
    "main",
    {},
    node({}, call("read", "error", { error_message: "no such file", duration_ms: 2 }), batch),
  );
  expect(drawTrace([tree])[2]).toMatch(/^└─ ✅ completed a/);
  expect(drawTrace([tree], { calls: true }).slice(1)).toEqual([
    "├─ ❌ error read   2ms  no such file",
    "├─ ✅ ok delegate_many {}  5ms",
    expect.stringMatching(/^└─ ✅ completed a/),
  ]);
});

test("retries, repeated model calls, partial ends and their reasons are said", () => {
  const metadata_json = JSON.stringify({ attempt: 2, task: "the real task", result: { partial: true } });
  const tree = run(
    "a",
    { metadata_json, bailout_reason: "max_iterations" },
    node({ status: "failed" }),
    node({}),
  );
  expect(drawTrace([tree])).toEqual([
    '⚠️ partial a "the real task"  1.0s · 1 turn · 10 tokens · $? · retry 2 · 1 model call repeated · stopped by max_iterations',
  ]);
});

test("what still runs shows how long it has, and neither tokens nor cost", () => {
  const open = { completed_at: null, duration_ms: null, closed_seq: null, status: "running" as const };
  const nowMs = Date.parse("2026-01-01T00:00:02.500Z");
  expect(drawTrace([run("a", open, node(open))], { nowMs })).toEqual([
    '⏳ running a "task of a"  2.5s so far · 1 turn',
  ]);
});

test("hostile text in a task cannot break the drawing", () => {
  const [line] = drawTrace([
    run("a", { request_content: "x\u001b[2J\n\ny\u202e", metadata_json: "not json" }),
  ]);
  expect(line).toContain('"x y"');
});

test("the phases of an intent flow are drawn, with their six fields when calls are asked for", () => {
  const context = (status: string, result: object = {}) => ({
    request: "send it",
    tools: ["send"],
    params: { to: "jo" },
    status,
    result,
    notes: "careful\u001b[2J",
  });
  const phase = (name: string, status: string) =>
    node({ metadata_json: JSON.stringify({ phase: name, context: context(status) }) });
  const tree = run(
    "email",
    { metadata_json: JSON.stringify({ result: { context: context("complete", { message_id: "m1" }) } }) },
    phase("assess", "planning"),
    phase("execute", "executing"),
    phase("format", "executing"),
  );
  expect(drawTrace([tree])[1]).toBe("   phases: assess → execute → format → complete");
  const lines = drawTrace([tree], { calls: true });
  expect(lines.slice(1, 8)).toEqual([
    "   phase: assess",
    "     REQUEST: send it",
    "     TOOLS: send",
    '     PARAMS: {"to":"jo"}',
    "     STATUS: planning",
    "     RESULT: {}",
    "     Notes: careful",
  ]);
  expect(lines).toContain('     RESULT: {"message_id":"m1"}');
});
