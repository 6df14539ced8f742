import type { OutlineRun, TraceView } from "../../../src/schema/api/inspect.ts";
import type { Trace, TraceRun } from "../../../src/schema/inspect/trace.ts";
import { api, partOf } from "./client.ts";

type Above = Pick<TraceRun, "runId" | "depth"> | null;

/** What a run has unless the server says otherwise. Nobody changes what is in the lists. */
const PLAIN = {
  closedSeq: null,
  endMs: null,
  callId: null,
  model: null,
  attempt: 0,
  partial: false,
  bailoutReason: null,
  error: null,
  errorType: null,
  parallel: false,
  maxIterations: null,
  result: null,
  files: [],
  deliverables: [],
  warnings: [],
  tainted: false,
  approvals: [],
  turns: [],
  calls: [],
  phases: [],
  matched: true,
} satisfies Partial<TraceRun>;

/** Reads the tree of a session's runs. Their turns, calls and messages are read run by run. */
export async function readTrace(sessionId: string): Promise<Trace> {
  return wholeTrace(await api.get<TraceView>(`/api/sessions/${partOf(sessionId)}/trace`));
}

/** The trace with everything that its outline leaves out. */
export function wholeTrace({ runs, originMs, ...trace }: TraceView): Trace {
  return { ...trace, runs: runs.map((run) => wholeRun(run, null, originMs)) };
}

function wholeRun(outline: OutlineRun, above: Above, originMs: number): TraceRun {
  const { tokens, subtreeTokens = tokens, costUsd, subtreeCostUsd = costUsd, contextMode, ...rest } = outline;
  const { runId, startMs, endMs = null, children = [] } = outline;
  const depth = above ? above.depth + 1 : 0;
  return {
    ...PLAIN,
    durationMs: endMs === null ? null : endMs - startMs,
    ...rest,
    parentRunId: above?.runId ?? null,
    depth,
    startedAt: new Date(originMs + startMs).toISOString(),
    endedAt: endMs === null ? null : new Date(originMs + endMs).toISOString(),
    tokens: { self: tokens, subtree: subtreeTokens },
    costUsd: { self: costUsd, subtree: subtreeCostUsd },
    context: { mode: contextMode ?? null, message: "", systemPromptId: null },
    children: children.map((child) => wholeRun(child, { runId, depth }, originMs)),
  };
}
