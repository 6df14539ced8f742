import { Bot, ChevronDown, ChevronRight, CircleX, Hand, LoaderCircle, Unplug, Wrench } from "lucide-react";
import { useState } from "react";
import type { StepView } from "../../../../../src/schema/api/session.ts";
import type { TraceApproval } from "../../../../../src/schema/inspect/trace.ts";
import { join } from "../../../ui/join.ts";
import { showCost, showTokens } from "../../../ui/measures.ts";
import { showSpan } from "../show-span.ts";
import { StepTexts } from "./step-texts.tsx";

const OUTCOMES: Readonly<Record<string, { word: string; tone: string; icon: typeof Bot }>> = {
  error: { word: "failed", tone: "text-bad", icon: CircleX },
  denied: { word: "denied", tone: "text-bad", icon: Hand },
  running: { word: "under way", tone: "text-run", icon: LoaderCircle },
  interrupted: { word: "interrupted", tone: "text-warn", icon: Unplug },
};

/** One turn or call: a line that opens to what went in and came out. */
export function StepItem({
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
            {titleOf(step)}
          </span>
          <Outcome step={step} />
          <span className="figures ml-auto shrink-0 text-xs text-ink-3">
            {figuresOf(step)}+{showSpan(offsetMs)}
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

function titleOf({ kind, turn, purpose, tool }: StepView): string {
  if (kind === "call") return tool ?? "call";
  return purpose && purpose !== "turn" ? purpose : `Turn ${turn ?? ""}`;
}

function figuresOf({ tokens, costUsd }: StepView): string {
  if (!tokens || tokens.input + tokens.output === 0) return "";
  const cost = costUsd ? `, ${showCost(costUsd)}` : "";
  return `${showTokens(tokens.input + tokens.output)} tokens${cost} · `;
}

function Outcome({ step: { kind, outcome, status, approvedBy } }: { step: StepView }) {
  const key = kind === "turn" ? (status === "failed" ? "error" : status) : outcome;
  const known = OUTCOMES[key ?? ""];
  if (known) {
    const { word, tone, icon: Icon } = known;
    return (
      <span className={join("inline-flex shrink-0 items-center gap-1 text-2xs font-medium", tone)}>
        <Icon aria-hidden className="size-3" /> {word}
      </span>
    );
  }
  const note = [outcome === "cached" && "from an earlier call", approvedBy && `allowed by ${approvedBy}`]
    .filter(Boolean)
    .join(", ");
  return note ? <span className="truncate text-2xs text-ink-3">{note}</span> : null;
}
