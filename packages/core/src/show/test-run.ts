import { PLAIN_RUN, type TraceRun } from "../schema/inspect/trace.ts";

/** A run for tests, named after its agent. */
export function testRun(
  agent: string,
  fields: Partial<TraceRun>,
  children: readonly TraceRun[] = [],
): TraceRun {
  return {
    ...PLAIN_RUN,
    runId: `run_${agent}`,
    messageId: 1,
    parentRunId: null,
    agent,
    depth: 0,
    task: "",
    status: "completed",
    lane: 0,
    iterations: 0,
    tokens: { self: 0, subtree: 0 },
    costUsd: { self: 0, subtree: 0 },
    context: { mode: null, message: "", systemPromptId: null },
    turns: [],
    calls: [],
    phases: [],
    matched: true,
    openedSeq: 1,
    closedSeq: 2,
    startedAt: "2026-01-01T00:00:00.000Z",
    endedAt: null,
    startMs: 0,
    endMs: 100,
    durationMs: 100,
    ...fields,
    children: [...children],
  };
}
