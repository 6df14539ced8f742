import { makeTraceRun } from "../../../../test/fixtures/trace-run.ts";
import type { Trace, TraceRun } from "../schema/inspect/trace.ts";
import { completeTrace, outlineTrace } from "./outline-trace.ts";
import "@retinue/server/routes/sessions";
import { expect, test } from "vitest";

const ORIGIN_MS = Date.parse("2026-01-01T00:00:00.000Z");

function timed(fields: Partial<TraceRun> & { startMs: number; endMs: number | null }): Partial<TraceRun> {
  const { startMs, endMs } = fields;
  return {
    durationMs: endMs === null ? null : endMs - startMs,
    closedSeq: endMs === null ? null : 9,
    ...fields,
    startedAt: new Date(ORIGIN_MS + startMs).toISOString(),
    endedAt: endMs === null ? null : new Date(ORIGIN_MS + endMs).toISOString(),
  };
}

const plain = makeTraceRun("plain", timed({ startMs: 5, endMs: null, parentRunId: "run_lead", depth: 1 }));
const full = makeTraceRun(
  "full",
  timed({
    startMs: 10,
    endMs: 90,
    durationMs: 60,
    parentRunId: "run_lead",
    depth: 1,
    callId: "call_1",
    model: "a/b",
    task: "everything",
    attempt: 2,
    status: "failed",
    partial: true,
    bailoutReason: "max_iterations",
    error: "broken",
    errorType: "failed",
    parallel: true,
    lane: 3,
    iterations: 4,
    maxIterations: 5,
    tokens: { self: 10, subtree: 30 },
    costUsd: { self: null, subtree: 0.5 },
    context: { mode: "summary", message: "", systemPromptId: null },
    result: { summary: "s", text: "", data: { x: 1 } },
    files: ["a.ts"],
    deliverables: [{ deliverable: "a.md", ok: false, reason: "missing", files: [] }],
    warnings: ["w"],
    tainted: true,
    approvals: [
      {
        approvalId: "apr_1",
        callId: "call_2",
        tool: "shell",
        reason: "r",
        askedAt: "2026-01-01T00:00:00.000Z",
        answeredAt: null,
        allowed: null,
        by: null,
        note: null,
      },
    ],
  }),
);
const cheap = makeTraceRun(
  "cheap",
  timed({ startMs: 0, endMs: 1, costUsd: { self: 1, subtree: null }, tokens: { self: 2, subtree: 2 } }),
);
const trace: Trace = {
  format: 1,
  session: {
    id: "ses_1",
    title: "t",
    project: "/p",
    workspace: "/w",
    status: "running",
    state: "running",
    createdAt: "",
    updatedAt: "",
  },
  endMs: 90,
  totals: {
    runs: 4,
    agents: 4,
    depth: 1,
    atOnce: 2,
    turns: 0,
    calls: 0,
    statuses: {},
    tokens: 0,
    costUsd: null,
    activeMs: 0,
  },
  gaps: [],
  runs: [makeTraceRun("lead", timed({ startMs: 0, endMs: 100 }), [plain, full]), cheap],
};

test("what an outline leaves out is there again when it has been read", () => {
  expect(completeTrace(JSON.parse(JSON.stringify(outlineTrace(trace))))).toEqual(trace);
});

test("an outline says nothing twice and nothing that is empty", () => {
  const [lead] = outlineTrace(trace).runs;
  expect(JSON.parse(JSON.stringify(lead?.children?.[0]))).toEqual({
    runId: "run_plain",
    messageId: 1,
    agent: "plain",
    task: "",
    status: "completed",
    openedSeq: 1,
    startMs: 5,
    lane: 0,
    iterations: 0,
    tokens: 0,
    costUsd: 0,
  });
});
