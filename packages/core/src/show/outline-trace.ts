import type { OutlineRun, TraceView } from "../schema/api/inspect.ts";
import type { Trace, TraceRun } from "../schema/inspect/trace.ts";

/** A trace without what is read run by run, and without what its reader can work out: a third of the bytes. */
export function outlineTrace({ runs, ...trace }: Trace): TraceView {
  const [first] = runs;
  const originMs = first ? Date.parse(first.startedAt) - first.startMs : 0;
  return { ...trace, originMs, runs: runs.map(outlineRun) };
}

/** An absent field has the value `undefined`, which JSON leaves out. */
function outlineRun(run: TraceRun): OutlineRun {
  const { startMs, endMs, durationMs, tokens, costUsd, result } = run;
  const spanMs = endMs === null ? null : endMs - startMs;
  return {
    runId: run.runId,
    messageId: run.messageId,
    agent: run.agent,
    task: run.task,
    status: run.status,
    openedSeq: run.openedSeq,
    closedSeq: run.closedSeq ?? undefined,
    startMs,
    endMs: endMs ?? undefined,
    durationMs: durationMs === spanMs ? undefined : durationMs,
    lane: run.lane,
    iterations: run.iterations,
    maxIterations: run.maxIterations ?? undefined,
    callId: run.callId ?? undefined,
    model: run.model ?? undefined,
    attempt: run.attempt || undefined,
    partial: run.partial || undefined,
    parallel: run.parallel || undefined,
    tainted: run.tainted || undefined,
    bailoutReason: run.bailoutReason ?? undefined,
    error: run.error ?? undefined,
    errorType: run.errorType ?? undefined,
    contextMode: run.context.mode ?? undefined,
    tokens: tokens.self,
    subtreeTokens: tokens.subtree === tokens.self ? undefined : tokens.subtree,
    costUsd: costUsd.self,
    subtreeCostUsd: costUsd.subtree === costUsd.self ? undefined : costUsd.subtree,
    result: result ?? undefined,
    files: some(run.files),
    deliverables: some(run.deliverables),
    warnings: some(run.warnings),
    approvals: some(run.approvals),
    children: run.children.length === 0 ? undefined : run.children.map(outlineRun),
  };
}

function some<Items extends readonly unknown[]>(items: Items): Items | undefined {
  return items.length === 0 ? undefined : items;
}

/** The trace with everything that its outline leaves out. */
export function completeTrace({ runs, originMs, ...trace }: TraceView): Trace {
  return { ...trace, runs: runs.map((run) => completeRun(run, null, originMs)) };
}

function completeRun(outline: OutlineRun, above: Above, originMs: number): TraceRun {
  const { tokens, subtreeTokens = tokens, costUsd, subtreeCostUsd = costUsd, contextMode, ...rest } = outline;
  const { runId, startMs, endMs = null, children = [] } = outline;
  const depth = above ? above.depth + 1 : 0;
  return {
    ...PLAIN_RUN,
    durationMs: endMs === null ? null : endMs - startMs,
    ...rest,
    parentRunId: above?.runId ?? null,
    depth,
    startedAt: new Date(originMs + startMs).toISOString(),
    endedAt: endMs === null ? null : new Date(originMs + endMs).toISOString(),
    tokens: { self: tokens, subtree: subtreeTokens },
    costUsd: { self: costUsd, subtree: subtreeCostUsd },
    context: { mode: contextMode ?? null, message: "", systemPromptId: null },
    children: children.map((child) => completeRun(child, { runId, depth }, originMs)),
  };
}

type Above = Pick<TraceRun, "runId" | "depth"> | null;

/** What a run has unless something else is told of it. The lists are never changed. */
export const PLAIN_RUN = {
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
