import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { showCost, showShort } from "@retinue/core/show/measures";
import { ChevronRight, ShieldAlert } from "lucide-react";
import { Fragment, type ReactNode } from "react";
import { useFace } from "../../../data/queries.ts";
import { endInWords } from "../../chat/card/use-run.ts";
import { showSpan } from "../time-axis.ts";
import { chainAbove, type TraceIndex } from "../trace-index.ts";

const MODES: Readonly<Record<string, string>> = {
  task_only: "the task alone",
  summary: "a summary",
  full: "the whole conversation",
  selective: "chosen parts",
};

/** What the context mode of a delegation means. */
export function contextWords(mode: string | null): string | null {
  return mode === null ? null : (MODES[mode] ?? mode);
}

/** A run in one look: where it stands in the tree, how it went, what it took. */
export function Overview({
  run,
  index,
  nowMs,
  onOpen,
}: {
  run: TraceRun;
  index: TraceIndex;
  nowMs: number;
  onOpen: (runId: string) => void;
}) {
  const { tokens, costUsd, iterations, maxIterations, children, context } = run;
  const given = contextWords(context.mode);
  return (
    <div className="grid gap-2 border-b border-line px-4 py-3">
      <Chain run={run} index={index} onOpen={onOpen} />
      <p className="line-clamp-3 text-sm wrap-anywhere text-ink" title={run.task}>
        {run.task}
      </p>
      <dl className="figures flex flex-wrap gap-x-4 gap-y-1 text-xs">
        <Fact name="Time">{showSpan(run.durationMs ?? Math.max(0, nowMs - run.startMs))}</Fact>
        <Fact name="Turns">{maxIterations === null ? iterations : `${iterations} of ${maxIterations}`}</Fact>
        <Fact name="Tokens">
          {showShort(tokens.self)}
          {children.length > 0 && ` (${showShort(tokens.subtree)} with all below)`}
        </Fact>
        <Fact name="Cost">
          {showCost(costUsd.self)}
          {children.length > 0 && ` (${showCost(costUsd.subtree)} with all below)`}
        </Fact>
        {run.model && <Fact name="Model">{run.model}</Fact>}
        {given && <Fact name="Was given">{given}</Fact>}
        {run.attempt > 0 && <Fact name="Attempt">{run.attempt + 1}</Fact>}
        {run.parallel && <Fact name="Ran">beside others</Fact>}
        {(run.partial || run.status === "timeout") && <Fact name="Ended">{endInWords(run)}</Fact>}
      </dl>
      {run.tainted && (
        <p className="flex items-center gap-1.5 text-xs text-warn">
          <ShieldAlert aria-hidden className="size-3.5 shrink-0" /> Text from outside has entered this run.
        </p>
      )}
      {run.error && (
        <p className="rounded-md bg-bad-soft px-2.5 py-1.5 text-xs wrap-anywhere text-bad">{run.error}</p>
      )}
    </div>
  );
}

function Chain({
  run,
  index,
  onOpen,
}: {
  run: TraceRun;
  index: TraceIndex;
  onOpen: (runId: string) => void;
}) {
  const chain = chainAbove(index, run);
  const { displayName } = useFace(run.agent);
  if (chain.length === 0) return null;
  return (
    <nav aria-label="Delegated by" className="flex flex-wrap items-center gap-x-1 text-xs text-ink-3">
      {chain.map((above) => (
        <Fragment key={above.runId}>
          <ChainLink run={above} onOpen={onOpen} />
          <ChevronRight aria-hidden className="size-3" />
        </Fragment>
      ))}
      <span className="text-ink-2">{displayName}</span>
    </nav>
  );
}

/** A run that can be gone to. */
function ChainLink({ run, onOpen }: { run: TraceRun; onOpen: (runId: string) => void }) {
  const { displayName } = useFace(run.agent);
  return (
    <button
      type="button"
      title={run.task}
      onClick={() => onOpen(run.runId)}
      className="rounded text-accent underline-offset-2 hover:underline"
    >
      {displayName}
    </button>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex gap-1">
      <dt className="text-ink-3">{name}</dt>
      <dd className="text-ink-2">{children}</dd>
    </div>
  );
}
