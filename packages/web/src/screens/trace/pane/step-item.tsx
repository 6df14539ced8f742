import type { MessageDetail, StepView } from "@retinue/core/schema/api/session";
import type { TraceApproval } from "@retinue/core/schema/inspect/trace";
import { showCost, showShort } from "@retinue/core/show/measures";
import { useQuery } from "@tanstack/react-query";
import { Bot, ChevronDown, ChevronRight, CircleX, Hand, LoaderCircle, Unplug, Wrench } from "lucide-react";
import { useState } from "react";
import { api } from "../../../data/client.ts";
import { join } from "../../../ui/class-names.ts";
import { Button } from "../../../ui/controls.tsx";
import { Failed } from "../../../ui/states.tsx";
import { Markdown } from "../../../ui/text/markdown.tsx";
import { showSpan } from "../time-axis.ts";
import { pretty } from "./result-tab.tsx";
import { TextBlock } from "./section.tsx";

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

/** What went into a turn or call and came out; cut texts are loaded whole when they are asked for. */
function StepTexts({ step, approval }: { step: StepView; approval: TraceApproval | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const { data, isError, error, isFetching } = useQuery({
    queryKey: ["message", step.messageId, step.closedSeq],
    queryFn: () => api.get<MessageDetail>(`/api/messages/${step.messageId}`),
    enabled: isWhole,
  });
  const input = textIn(data?.row.request_content) ?? step.input;
  const output = textIn(data?.row.response_content) ?? step.output;
  const said = textIn(data?.row.response_content) ?? step.text;
  return (
    <div className="grid gap-2 pt-1 pr-2 pb-2 pl-7.5">
      {approval && <ApprovalNote approval={approval} />}
      {step.error && <TextBlock label="Error" text={step.error} />}
      {step.kind === "turn" && said && <Said text={said} />}
      {step.kind === "turn" && !said && !step.error && (
        <p className="text-xs text-ink-3">It said nothing and went on to its calls.</p>
      )}
      {step.kind === "call" && input !== undefined && <Labelled name="Input" text={asJson(input)} />}
      {step.kind === "call" && output && <Labelled name="Output" text={output} />}
      {isError && <Failed failure={error} />}
      {step.isCut && !data && (
        <div>
          <Button small disabled={isFetching} onClick={() => setWhole(true)}>
            {isFetching ? "Loading…" : "Show the whole text"}
          </Button>
        </div>
      )}
    </div>
  );
}

/** What the model said: JSON as such, everything else as Markdown. */
function Said({ text }: { text: string }) {
  if (/^\s*[{[]/.test(text) && asJson(text) !== text) return <TextBlock label="Said" text={asJson(text)} />;
  return <Markdown text={text} className="text-sm" />;
}

function Labelled({ name, text }: { name: string; text: string }) {
  return (
    <div className="grid gap-1">
      <p className="text-2xs font-medium text-ink-3">{name}</p>
      <TextBlock label={name} text={text} />
    </div>
  );
}

function ApprovalNote({ approval: { allowed, by, note, reason } }: { approval: TraceApproval }) {
  const answer =
    allowed === null ? "waits for an answer" : `${allowed ? "allowed" : "denied"}${by ? ` by ${by}` : ""}`;
  return (
    <p className="rounded-md bg-warn-soft px-2.5 py-1.5 text-xs wrap-anywhere text-ink-2">
      <strong className="font-medium text-warn">Asked a person:</strong> {reason || "no reason given"}. It{" "}
      {allowed === null ? "" : "was "}
      {answer}
      {note ? `: ${note}` : ""}.
    </p>
  );
}

/** JSON is shown over several lines, everything else as it is. */
function asJson(text: string): string {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
