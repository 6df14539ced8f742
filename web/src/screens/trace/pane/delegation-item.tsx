import { CornerDownRight } from "lucide-react";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { AgentName } from "../../../ui/face.tsx";
import { StatusBadge } from "../../../ui/status.tsx";
import { useUntil } from "../replay/use-until.ts";
import { showSpan } from "../show-span.ts";
import { useStanding } from "../use-standing.ts";

/** A delegation of the run: to whom, for what, and what came back. */
export function DelegationItem({
  child,
  parent,
  onOpen,
}: {
  child: TraceRun;
  parent: TraceRun;
  onOpen: (runId: string) => void;
}) {
  const standing = useStanding(child);
  const hasEnded = useUntil(child, Number.POSITIVE_INFINITY) === child.endMs;
  return (
    <button
      type="button"
      onClick={() => onOpen(child.runId)}
      className="mb-1 grid w-full gap-0.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
    >
      <span className="flex w-full min-w-0 items-center gap-2 text-sm">
        <CornerDownRight aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        <span className="sr-only">Delegated to </span>
        <AgentName name={child.agent} size="sm" />
        <StatusBadge standing={standing} quiet />
        <span className="figures ml-auto shrink-0 text-xs text-ink-3">
          +{showSpan(child.startMs - parent.startMs)}
          {hasEnded && child.durationMs !== null && ` · ${showSpan(child.durationMs)}`}
        </span>
      </span>
      <span className="line-clamp-2 pl-5.5 text-xs wrap-anywhere text-ink-2">{child.task}</span>
    </button>
  );
}
