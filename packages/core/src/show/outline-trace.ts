import type { OutlineRun, TraceView } from "../schema/api/inspect.ts";
import { PLAIN_RUN, type Trace, type TraceRun } from "../schema/inspect/trace.ts";

const SPARSE_FIELDS = Object.keys(PLAIN_RUN) as (keyof typeof PLAIN_RUN)[];

/** A trace without what is read run by run, and without what its reader can work out: a third of the bytes. */
export function outlineTrace({ runs, ...trace }: Trace): TraceView {
  const [first] = runs;
  const originMs = first ? Date.parse(first.startedAt) - first.startMs : 0;
  return { ...trace, originMs, runs: runs.map(outlineRun) };
}

/** An absent field has the value `undefined`, which JSON leaves out. */
function outlineRun(run: TraceRun): OutlineRun {
  const { startMs, endMs, durationMs, tokens, costUsd, context } = run;
  const spanMs = endMs === null ? null : endMs - startMs;
  return {
    runId: run.runId,
    messageId: run.messageId,
    agent: run.agent,
    task: run.task,
    status: run.status,
    openedSeq: run.openedSeq,
    startMs,
    lane: run.lane,
    iterations: run.iterations,
    ...Object.fromEntries(SPARSE_FIELDS.map((name) => [name, isPlain(run, name) ? undefined : run[name]])),
    durationMs: durationMs === spanMs ? undefined : durationMs,
    contextMode: context.mode ?? undefined,
    tokens: tokens.self,
    subtreeTokens: tokens.subtree === tokens.self ? undefined : tokens.subtree,
    costUsd: costUsd.self,
    subtreeCostUsd: costUsd.subtree === costUsd.self ? undefined : costUsd.subtree,
    children: run.children.length === 0 ? undefined : run.children.map(outlineRun),
  };
}

function isPlain(run: TraceRun, name: keyof typeof PLAIN_RUN): boolean {
  const value = run[name];
  return Array.isArray(value) ? value.length === 0 : value === PLAIN_RUN[name];
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
    turns: [],
    calls: [],
    phases: [],
    matched: true,
    children: children.map((child) => completeRun(child, { runId, depth }, originMs)),
  };
}

type Above = Pick<TraceRun, "runId" | "depth"> | null;
