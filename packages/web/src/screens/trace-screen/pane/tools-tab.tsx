import type { StepView } from "@retinue/core/schema/api/session";
import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { useVirtualizer } from "@tanstack/react-virtual";
import { CornerDownRight, Hand } from "lucide-react";
import { useMemo, useRef } from "react";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { TextLink } from "../../../ui/controls.tsx";
import { AgentName } from "../../../ui/face.tsx";
import { StatusBadge } from "../../../ui/status.tsx";
import { StepCost, StepLine } from "../../../ui/step-line.tsx";
import { useIsPast, useStandingThen, useStepsThen, useUntil } from "../playhead/playhead-scope.tsx";
import { showSpan } from "../time-axis.ts";
import { Nothing, type TabProps } from "./section.tsx";

type Entry = { kind: "step"; step: StepView; seq: number } | { kind: "run"; child: TraceRun; seq: number };

/** What the run did, in order: its turns, its calls, and the runs it delegated to. */
export function ToolsTab({ run, onOpen }: TabProps) {
  const steps = useStepsThen(useSignal(useSession().steps(run.runId)), run);
  const isReplayed = useIsPast();
  const entries = useMemo(() => sortEntries(steps, run), [steps, run]);
  const list = useRef<HTMLOListElement>(null);
  const originMs = Date.parse(run.startedAt);
  const virtual = useVirtualizer({
    count: entries.length,
    // The panel around the tab is what scrolls.
    getScrollElement: () => list.current?.closest<HTMLElement>('[role="tabpanel"]') ?? null,
    estimateSize: () => 28,
    getItemKey: (index) => nameEntry(entries[index]),
    overscan: 8,
  });
  const asks = run.approvals.filter(({ allowed }) => allowed === null);
  if (entries.length === 0 && asks.length === 0)
    return (
      <Nothing>
        {run.iterations > 0
          ? "Loading its turns and calls…"
          : isReplayed
            ? "It had made no call by this moment."
            : "It has made no call yet."}
      </Nothing>
    );
  return (
    <>
      <OpenAsks asks={asks} canAnswer={!isReplayed} />
      <ol
        ref={list}
        aria-label="Turns and calls"
        className="relative -mx-2"
        style={{ height: virtual.getTotalSize() }}
      >
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const entry = entries[index];
          return (
            entry && (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-setsize={entries.length}
                aria-posinset={index + 1}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${start}px)` }}
              >
                {entry.kind === "run" ? (
                  <DelegationItem child={entry.child} parent={run} onOpen={onOpen} />
                ) : (
                  <StepLine
                    step={entry.step}
                    aside={
                      <>
                        <StepCost step={entry.step} className="mr-2 max-sm:hidden" />+
                        {showSpan(entry.step.startedAtMs - originMs)}
                        {entry.step.durationMs !== null && ` · ${showSpan(entry.step.durationMs)}`}
                      </>
                    }
                    approval={run.approvals.find(({ callId }) => callId === entry.step.callId)}
                  />
                )}
              </li>
            )
          );
        })}
      </ol>
    </>
  );
}

/** Calls that wait for a person are on record only once they are answered. */
function OpenAsks({ asks, canAnswer }: { asks: TraceRun["approvals"]; canAnswer: boolean }) {
  return asks.map(({ approvalId, tool, reason }) => (
    <p
      key={approvalId}
      className="flex items-center gap-2 rounded-md bg-warn-soft px-2.5 py-1.5 text-xs text-ink-2"
    >
      <Hand aria-hidden className="size-3.5 shrink-0 text-warn" />
      <span className="min-w-0 flex-1 wrap-anywhere">
        <strong className="font-mono font-medium text-warn">{tool}</strong> needs your approval: {reason}
      </span>
      {canAnswer && (
        <TextLink href={`/approvals/${approvalId}`} className="shrink-0 font-medium">
          Answer
        </TextLink>
      )}
    </p>
  ));
}

function sortEntries(steps: readonly StepView[], { children }: TraceRun): Entry[] {
  const all: Entry[] = [
    ...steps.map((step): Entry => ({ kind: "step", step, seq: step.openedSeq })),
    ...children.map((child): Entry => ({ kind: "run", child, seq: child.openedSeq })),
  ];
  return all.sort((one, other) => one.seq - other.seq);
}

function nameEntry(entry: Entry | undefined): string | number {
  if (!entry) return "none";
  return entry.kind === "run" ? entry.child.runId : entry.step.messageId;
}

type DelegationItemProps = { child: TraceRun; parent: TraceRun; onOpen: (runId: string) => void };

/** A delegation of the run: to whom, for what, and what came back. */
function DelegationItem({ child, parent, onOpen }: DelegationItemProps) {
  const standing = useStandingThen(child);
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
