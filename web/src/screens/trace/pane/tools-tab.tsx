import { useVirtualizer } from "@tanstack/react-virtual";
import { Hand } from "lucide-react";
import { useMemo, useRef } from "react";
import { Link } from "wouter";
import type { StepView } from "../../../../../src/schema/api/session.ts";
import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { useIsReplayed } from "../replay/replay-scope.tsx";
import { useStepsThen } from "../replay/use-until.ts";
import { DelegationItem } from "./delegation-item.tsx";
import type { TabProps } from "./run-tabs.tsx";
import { Nothing } from "./section.tsx";
import { StepItem } from "./step-item.tsx";

type Entry = { kind: "step"; step: StepView; seq: number } | { kind: "run"; child: TraceRun; seq: number };

/** What the run did, in order: its turns, its calls, and the runs it delegated to. */
export function ToolsTab({ run, onOpen }: TabProps) {
  const steps = useStepsThen(useSignal(useSession().steps(run.runId)), run);
  const isReplayed = useIsReplayed();
  const entries = useMemo(() => entriesOf(steps, run), [steps, run]);
  const list = useRef<HTMLOListElement>(null);
  const originMs = Date.parse(run.startedAt);
  const virtual = useVirtualizer({
    count: entries.length,
    // The panel around the tab is what scrolls.
    getScrollElement: () => list.current?.closest<HTMLElement>('[role="tabpanel"]') ?? null,
    estimateSize: () => 52,
    getItemKey: (index) => keyOf(entries[index]),
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
                  <StepItem
                    step={entry.step}
                    offsetMs={entry.step.startedAtMs - originMs}
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
        <strong className="font-mono font-medium text-warn">{tool}</strong> waits for your word: {reason}
      </span>
      {canAnswer && (
        <Link
          href={`/approvals/${approvalId}`}
          className="shrink-0 font-medium text-accent underline underline-offset-2"
        >
          Answer
        </Link>
      )}
    </p>
  ));
}

function entriesOf(steps: readonly StepView[], { children }: TraceRun): Entry[] {
  const all: Entry[] = [
    ...steps.map((step): Entry => ({ kind: "step", step, seq: step.openedSeq })),
    ...children.map((child): Entry => ({ kind: "run", child, seq: child.openedSeq })),
  ];
  return all.sort((one, other) => one.seq - other.seq);
}

function keyOf(entry: Entry | undefined): string | number {
  if (!entry) return "none";
  return entry.kind === "run" ? entry.child.runId : entry.step.messageId;
}
