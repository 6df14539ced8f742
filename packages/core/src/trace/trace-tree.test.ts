import { expect, test } from "vitest";
import { createRows, type RowOf } from "../../../../test/fixtures/made-rows.ts";
import type { SessionState, Trace } from "../schema/inspect/trace.ts";
import type { Approval } from "../schema/record.ts";
import { walkRuns } from "../show/walk-runs.ts";
import { buildTrace } from "./trace-tree.ts";

const STARTED = "2026-01-01T00:00:00.000Z";
const SESSION = {
  session_id: "ses_1",
  title: "do it",
  project: "/p",
  workspace: "/w",
  created_at: STARTED,
  updated_at: STARTED,
  status: "completed" as const,
  metadata_json: null,
};

function made(
  fill: (rows: RowOf) => void,
  { state = "completed", approvals = [] }: { state?: SessionState; approvals?: Approval[] } = {},
): Trace {
  const rows = createRows();
  fill(rows);
  return buildTrace({
    session: SESSION,
    state,
    rows: rows.list,
    approvals,
    nowMs: Date.parse(STARTED) + 9_000,
  });
}

const shape = ({ runs }: Trace) =>
  [...walkRuns(runs)].map(({ agent, parentRunId, depth }) => `${parentRunId ?? "-"} ${agent} ${depth}`);

test("runs hang below the run whose turn or call made them, in the order they began", () => {
  const trace = made((rows) => {
    const main = rows.turn(rows.run("main", [0, 100]), [0, 10]);
    const batch = rows.call(main, "delegate_many", "ok", [10, 90]);
    const a = rows.turn(rows.run("a", [20, 50], { above: batch }), [20, 30]);
    rows.run("deep", [30, 40], { above: a });
    rows.run("b", [21, 80], { above: batch });
    rows.run("second", [200, 300]);
  });
  expect(shape(trace)).toEqual(["- main 0", "run_1 a 1", "run_2 deep 2", "run_1 b 1", "- second 0"]);
  expect(trace.runs[0]?.calls.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual(["delegate_many ok"]);
  expect(trace.totals).toMatchObject({ runs: 5, agents: 5, depth: 2, turns: 2, calls: 1, atOnce: 4 });
});

test("a row whose parent is missing is a root, and rows of an unknown run are left out", () => {
  const trace = made((rows) => {
    const lost = rows.turn(rows.run("main", [0, 1]), [0, 1]);
    rows.list.length = 0;
    rows.run("orphan", [5, 6], { above: { ...lost, id: 77 } });
    rows.turn({ ...lost, id: 78, run_id: "run_none" }, [6, 7]);
  });
  expect(shape(trace)).toEqual(["- orphan 1"]);
});

test("metadata that is no JSON, or not what it should be, costs only what it would have told", () => {
  const trace = made((rows) => {
    rows.run("a", [0, 1], { metadata: "{{{" });
    rows.run("b", [1, 2], {
      metadata: { attempt: "x", task: 5, result: { partial: 1, warnings: [1, "w"], deliverables: [{}] } },
    });
    rows.run("c", [2, 3], { metadata: "null" });
  });
  expect(trace.runs.map(({ task, attempt, partial }) => [task, attempt, partial])).toEqual([
    ["task of a", 0, false],
    ["task of b", 0, false],
    ["task of c", 0, false],
  ]);
  expect(trace.runs[1]).toMatchObject({ warnings: ["w"], deliverables: [] });
});

test("tokens and costs add up the tree, and one unknown cost makes the sum unknown", () => {
  const trace = made((rows) => {
    const turn = rows.turn(rows.run("main", [0, 9], { costUsd: 1 }), [0, 1]);
    rows.run("a", [1, 2], { above: turn, costUsd: 2 });
    const other = rows.turn(rows.run("main", [20, 29], { costUsd: 1 }), [20, 21]);
    rows.run("b", [21, 22], { above: other, costUsd: null });
  });
  expect(trace.runs.map(({ tokens, costUsd }) => [tokens.subtree, costUsd.subtree])).toEqual([
    [20, 3],
    [20, null],
  ]);
  expect(trace.totals).toMatchObject({ tokens: 40, costUsd: null });
});

test("a running session goes up to now; a broken one ends with its last sign and its calls are interrupted", () => {
  const open = (rows: RowOf) => {
    const turn = rows.turn(rows.run("main", [0]), [0, 500]);
    rows.call(turn, "shell", "", [500], { metadata_json: '{"tool":"shell"}' });
  };
  const running = made(open, { state: "running" });
  const broken = made(open, { state: "interrupted" });
  expect([running.endMs, broken.endMs]).toEqual([9_000, 500]);
  expect(running.runs[0]?.calls[0]?.outcome).toBe("running");
  expect(broken.runs[0]?.calls[0]?.outcome).toBe("interrupted");
  expect(running.runs[0]).toMatchObject({ endMs: null, durationMs: null, endedAt: null, result: null });
});

test("what a person was asked stands with the run that asked", () => {
  const asked: Approval = {
    approvalId: "apr_1",
    sessionId: "ses_1",
    runId: "run_1",
    callId: "c",
    tool: "shell",
    inputHash: "h",
    request: { reason: "it is asked" },
    requestedAtMs: Date.parse(STARTED),
    answer: { allowed: false, by: "ada", note: "no", atMs: 5 },
  };
  const trace = made((rows) => void rows.run("main", [0, 1]), { approvals: [asked] });
  expect(trace.runs[0]?.approvals).toEqual([
    {
      approvalId: "apr_1",
      callId: "c",
      tool: "shell",
      reason: "it is asked",
      askedAt: STARTED,
      answeredAt: "1970-01-01T00:00:00.005Z",
      allowed: false,
      by: "ada",
      note: "no",
    },
  ]);
});

test("the shape of a run stays what programs were told", () => {
  const trace = made((rows) => {
    const run = rows.run("main", [0, 10]);
    rows.call(rows.turn(run, [0, 5]), "read", "ok", [5, 6]);
  });
  const [run] = trace.runs;
  expect(Object.keys(trace).sort()).toEqual(["endMs", "format", "gaps", "runs", "session", "totals"]);
  expect(Object.keys(run ?? {}).sort()).toMatchInlineSnapshot(`
    [
      "agent",
      "approvals",
      "attempt",
      "bailoutReason",
      "callId",
      "calls",
      "children",
      "closedSeq",
      "context",
      "costUsd",
      "deliverables",
      "depth",
      "durationMs",
      "endMs",
      "endedAt",
      "error",
      "errorType",
      "files",
      "iterations",
      "lane",
      "matched",
      "maxIterations",
      "messageId",
      "model",
      "openedSeq",
      "parallel",
      "parentRunId",
      "partial",
      "phases",
      "result",
      "runId",
      "startMs",
      "startedAt",
      "status",
      "tainted",
      "task",
      "tokens",
      "turns",
      "warnings",
    ]
  `);
  expect(Object.keys(run?.turns[0] ?? {}).sort()).toMatchInlineSnapshot(`
    [
      "closedSeq",
      "costUsd",
      "durationMs",
      "endMs",
      "endedAt",
      "error",
      "messageId",
      "model",
      "openedSeq",
      "purpose",
      "startMs",
      "startedAt",
      "status",
      "text",
      "tokens",
      "turn",
    ]
  `);
  expect(Object.keys(run?.calls[0] ?? {}).sort()).toMatchInlineSnapshot(`
    [
      "approvedBy",
      "callId",
      "closedSeq",
      "durationMs",
      "endMs",
      "endedAt",
      "error",
      "input",
      "messageId",
      "openedSeq",
      "outcome",
      "output",
      "startMs",
      "startedAt",
      "tool",
    ]
  `);
});
