import type { StepView } from "@retinue/core/schema/api/session";
import type { TraceApproval, TraceRun } from "@retinue/core/schema/inspect/trace";
import { showCost, showShort } from "@retinue/core/show/measures";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Bot, ChevronDown, ChevronRight, CornerDownRight, Hand, Wrench } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { join } from "../../../ui/class-names.ts";
import { TextLink } from "../../../ui/controls.tsx";
import { AgentName } from "../../../ui/face.tsx";
import { Badge, StatusBadge } from "../../../ui/status.tsx";
import { OUTCOMES, StepTexts } from "../../../ui/step-texts.tsx";
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
    estimateSize: () => 52,
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

/** A delegation of the run: to whom, for what, and what came back. */
function DelegationItem({
  child,
  parent,
  onOpen,
}: {
  child: TraceRun;
  parent: TraceRun;
  onOpen: (runId: string) => void;
}) {
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

/** One turn or call: a line that opens to what went in and came out. */
function StepItem({
  step,
  offsetMs,
  approval,
}: {
  step: StepView;
  /** From the start of the run. */
  offsetMs: number;
  approval: TraceApproval | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const isTurn = step.kind === "turn";
  const Icon = isTurn ? Bot : Wrench;
  const Chevron = isOpen ? ChevronDown : ChevronRight;
  const preview = (isTurn ? step.text : step.input)?.replace(/\s+/g, " ").trim();
  return (
    <div className="mb-1 min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="grid w-full gap-0.5 rounded-md px-2 py-1.5 text-left hover:bg-hover"
      >
        <span className="flex w-full min-w-0 items-center gap-2 text-sm">
          <Icon aria-hidden className={join("size-3.5 shrink-0", isTurn ? "text-ink-3" : "text-accent")} />
          <span className={join("truncate font-medium", !isTurn && "font-mono text-xs")}>
            {nameStep(step)}
          </span>
          <Outcome step={step} />
          <span className="figures ml-auto shrink-0 text-xs text-ink-3">
            {showFigures(step)}+{showSpan(offsetMs)}
            {step.durationMs !== null && ` · ${showSpan(step.durationMs)}`}
          </span>
          <Chevron aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        </span>
        {!isOpen && preview && <span className="truncate pl-5.5 text-xs text-ink-3">{preview}</span>}
      </button>
      {isOpen && <StepTexts step={step} approval={approval} />}
    </div>
  );
}

function nameStep({ kind, turn, purpose, tool }: StepView): string {
  if (kind === "call") return tool ?? "call";
  return purpose && purpose !== "turn" ? purpose : `Turn ${turn ?? ""}`;
}

function showFigures({ tokens, costUsd }: StepView): string {
  if (!tokens || tokens.input + tokens.output === 0) return "";
  const cost = costUsd ? `, ${showCost(costUsd)}` : "";
  return `${showShort(tokens.input + tokens.output)} tokens${cost} · `;
}

function Outcome({ step: { kind, outcome = "ok", status, approvedBy } }: { step: StepView }) {
  const turn = status === "failed" ? "error" : status === "running" ? "running" : "ok";
  const ended = kind === "turn" ? turn : outcome;
  if (ended !== "ok" && ended !== "cached") return <Badge look={OUTCOMES[ended]} quiet />;
  const note = [ended === "cached" && OUTCOMES.cached.word, approvedBy && `allowed by ${approvedBy}`]
    .filter(Boolean)
    .join(", ");
  return note ? <span className="truncate text-2xs text-ink-3">{note}</span> : null;
}
